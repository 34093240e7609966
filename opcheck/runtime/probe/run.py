"""One process's part of a probe - PyTorch's own samples of operators, run one after the other.

PyTorch's own samples of every operator, the same in every process.
``torch.testing._internal.common_methods_invocations.op_db`` (checked on 2.13.0) holds them.
"""

import random
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

import numpy as np
import torch
from msgspec import Struct
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.model.probe import Finished, ProbeJob, Sample, Tried, Unit
from opcheck.model.trace import Phase
from opcheck.runtime.probe.compare import Held, Tell, Tries, first_line


class Call(Struct, frozen=True):
    """One sample, ready to be called."""

    sample: Sample
    function: Any
    inputs: tuple[Any, tuple[Any, ...], dict[str, Any]]
    """First argument, the others and the named ones, on the host."""

    @property
    def backward(self) -> bool:
        """Whether gradients are wanted."""
        return self.sample.phase is Phase.BACKWARD


def units(operators: Sequence[str], dtypes: Sequence[str]) -> Iterator[Unit]:
    """What there is to run, of operators that a pattern fits; all where none is given."""
    for info in _database():
        names = (info.formatted_name, info.name, info.aten_name or "")
        if operators and not any(fnmatchcase(n, p) for n in names for p in operators):
            continue
        for dtype in sorted(info.supported_dtypes("cpu"), key=str):
            if not dtypes or _name(dtype) in dtypes:
                yield Unit(info.formatted_name, _name(dtype))


def calls(unit: Unit, first: int, *, backward: bool) -> Iterator[Call]:
    """The first samples of a unit, as far as it asks for them."""
    going = not unit.after
    for call in _every(unit, first, backward=backward):
        name = call.sample.name
        if going and unit.only in ("", name):
            yield call
        going = going or name == unit.after


def _every(unit: Unit, first: int, *, backward: bool) -> Iterator[Call]:
    info = next(info for info in _database() if info.formatted_name == unit.operator)
    dtype = getattr(torch, unit.dtype)
    differentiable = info.supports_autograd and dtype in info.supported_backward_dtypes("cpu")
    for phase in (Phase.FORWARD, Phase.BACKWARD):
        if phase is Phase.BACKWARD and not (backward and differentiable):
            continue
        seed()
        # not by way of ``sample_inputs``, which looks for a running unittest on the whole stack
        made = info.sample_inputs_func(info, "cpu", dtype, phase is Phase.BACKWARD)
        for index, given in enumerate(islice(made, first)):
            sample = Sample(unit.operator, unit.dtype, index, phase)
            yield Call(sample, info, (given.input, given.args, given.kwargs))


def seed() -> None:
    """The database draws from all three, and so do calls."""
    torch.default_generator.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


def _database() -> Sequence[Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return op_db


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


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
