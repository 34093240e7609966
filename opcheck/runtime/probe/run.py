"""One process's part of a probe: units run one after the other, each call told as it begins."""

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.model.probe import Finished, ProbeJob, Sample, Tried
from opcheck.runtime.probe.compare import first_line
from opcheck.runtime.probe.held import Held, Tell, Tries
from opcheck.runtime.probe.samples import Call, calls, seed


def tried(device: torch.device, name: str = "") -> Tried:
    """What there is to try; ``name`` where the device cannot be asked."""
    module: Any = getattr(torch, device.type, None)
    if not name and device.type != "cpu" and hasattr(module, "get_device_name"):
        name = str(module.get_device_name(0))
    return Tried(str(device), name, str(torch.__version__))


def finished(
    job: ProbeJob, on: Tries, begins: Callable[[Sample], None], announce: Tell
) -> Iterator[Finished]:
    """Each sample of the job's units, once it was run; ``begins`` hears of it before."""
    hosted: dict[str, tuple[str, ...]] = {}
    for unit in job.units or ():
        for call in calls(unit, job.samples, backward=job.backward):
            begins(call.sample)
            yield _finished(call, Held(on, hosted, announce), on.device)


def _finished(call: Call, held: Held, device: torch.device) -> Finished:
    refusal = "" if device.type == "cpu" else _refusal(call)
    if refusal:
        return Finished(call.sample, (), refusal)
    note = ""
    held.phase = call.sample.phase
    try:
        with held.raising(), held:
            _run(call, tree_map(lambda value: _moved(value, device), call.inputs))
    except Exception as error:  # what a call raised was noted; this may be Python code between
        note = first_line(error)
    return Finished(call.sample, tuple(held.seen), "" if held.seen else note)


def _refusal(call: Call) -> str:
    """What the host says to the sample; "" where it takes it."""
    try:
        _run(call, tree_map(lambda value: _moved(value, torch.device("cpu")), call.inputs))
    except Exception as error:  # samples for other devices, or there to fail
        return first_line(error)
    return ""


def _run(call: Call, inputs: Any) -> None:
    first, args, kwargs = inputs
    seed()
    with torch.set_grad_enabled(call.backward):
        results = call.function(first, *args, **kwargs)
        if call.backward:
            _differentiate(results, inputs)


def _differentiate(results: Any, inputs: Any) -> None:
    # torch has no ones in the other layouts
    dense = [leaf for leaf in _leaves(results) if leaf.layout is torch.strided]
    outputs = [leaf for leaf in dense if leaf.requires_grad]
    wanted = [leaf for leaf in _leaves(inputs) if leaf.requires_grad]
    if outputs and wanted:
        ones = [torch.ones_like(output) for output in outputs]
        torch.autograd.grad(outputs, wanted, ones, allow_unused=True)


def _leaves(value: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


def _moved(value: Any, device: torch.device) -> Any:
    """A leaf of its own on the device: the sample itself is used again."""
    if isinstance(value, Tensor):
        own = value.detach().clone() if device.type == "cpu" else value.detach().to(device)
        return own.requires_grad_(value.requires_grad)
    if isinstance(value, torch.device):
        return device
    return device.type if isinstance(value, str) and value == "cpu" else value


class Warnings:
    """Hears the warnings of a vendor's fallback, and tells which overloads they were of."""

    def __init__(self, fallback: str) -> None:
        """``fallback``: the warning with ``{op}`` in place of the overload; "" for none."""
        before, mark, after = fallback.partition("{op}")
        pattern = f"{re.escape(before)}(?P<op>\\S+?){re.escape(after[:20])}"
        self._pattern = re.compile(pattern) if mark else None
        self._heard: list[str] = []
        warnings.simplefilter("always")
        warnings.showwarning = self._hear

    def __call__(self) -> tuple[str, ...]:
        """The overloads heard of since it was asked last."""
        found = tuple(dict.fromkeys(self._heard))
        self._heard.clear()
        return found

    def _hear(self, message: Warning | str, *_: Any, **__: Any) -> None:
        found = self._pattern.search(str(message)) if self._pattern is not None else None
        if found is not None:
            name = found["op"]
            self._heard.append(name if "::" in name else f"aten::{name}")
