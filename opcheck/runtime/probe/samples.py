"""PyTorch's own samples of every operator, the same in every process.

``torch.testing._internal.common_methods_invocations.op_db`` (checked on 2.13.0) holds them.
"""

import random
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

import numpy as np
import torch
from msgspec import Struct

from opcheck.model.probe import Sample, Unit
from opcheck.model.trace import Phase


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
