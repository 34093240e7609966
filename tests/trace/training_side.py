"""One side of the comparison in training: ``python -m tests.trace.training_side traced|real``.

Reads ``{"sets": {name: {"kernels": [...], "overrides": [...], "gradients": {...}}}, "models":
[...]}`` and writes, for each model and set, ``[asked, missing]`` with names after their phase; the
real side also the parameters whose gradient is missing, or not the CPU's. The real side takes
exactly one set, since its kernels stay registered.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from opcheck.model.trace import Kernel, Phase
from opcheck.trace.running.training_step import TrainingStep
from tests.trace.small_models import ready

Sets = Mapping[str, Mapping[str, Any]]


def traced(names: Sequence[str], sets: Sets) -> dict[str, dict[str, Any]]:
    """What the tracer says."""
    from opcheck.trace.predict import predicting
    from opcheck.trace.running.training import Registrations

    found: dict[str, dict[str, Any]] = {name: {} for name in names}
    for label, given in sets.items():
        registrations = Registrations(
            frozenset(given["kernels"]), frozenset(given["overrides"]), _gradients(given)
        )
        with predicting("npu", registrations) as predictor:
            for name in names:
                predicted = predictor.training(*without_dropout(name))
                assert predicted.gaps == (), predicted.gaps
                found[name][label] = [_counts(predicted.kernels, m) for m in (False, True)]
    return found


def _counts(kernels: Sequence[Kernel], missing: bool) -> dict[str, int]:
    return {f"{k.phase} {k.op}": k.count for k in kernels if k.missing is missing}


def real(names: Sequence[str], sets: Sets) -> dict[str, dict[str, Any]]:
    """What the dispatcher does."""
    from tests.trace.real_device import RealDevice, to_device

    models = {name: without_dropout(name) for name in names}
    ((label, given),) = sets.items()
    device = RealDevice(frozenset(given["kernels"]))
    counts = {}
    for name, (model, args, kwargs) in models.items():
        on_cpu = deepcopy(model)
        TrainingStep().run(on_cpu, args, kwargs, _ignored)
        device.train(model, to_device((args, kwargs)), given["overrides"], _gradients(given))
        wrong = _wrong_gradients(model, on_cpu)
        counts[name] = {label: [dict(device.asked), dict(device.missing), wrong]}
    return counts


def _gradients(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {op: tuple(runs) for op, runs in given["gradients"].items()}


def _wrong_gradients(model: nn.Module, on_cpu: nn.Module) -> list[str]:
    """Names of parameters whose gradient is there on one side alone, or differs."""
    from tests.trace.real_device import on_host

    wrong = []
    for (name, ours), theirs in zip(model.named_parameters(), on_cpu.parameters(), strict=True):
        if (ours.grad is None) != (theirs.grad is None):
            wrong.append(name)
        elif ours.grad is not None and theirs.grad is not None:
            same = torch.allclose(on_host(ours.grad), theirs.grad, rtol=1e-3, atol=1e-5)
            wrong += [] if same else [name]
    return wrong


def without_dropout(label: str) -> Any:
    """A model whose values in training are the same on every device."""
    model, args, kwargs = ready(label)
    for module in model.modules():
        for name in ("p", "dropout", "attention_dropout"):
            if isinstance(vars(module).get(name), float):
                setattr(module, name, 0.0)
    return model, args, kwargs


def _ignored(_: Phase) -> None:
    """Nobody counts on the CPU."""


def main() -> None:
    asked = json.load(sys.stdin)
    side = real if sys.argv[1] == "real" else traced
    json.dump(side(asked["models"], asked["sets"]), sys.stdout)


if __name__ == "__main__":
    main()
