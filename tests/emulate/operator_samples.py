"""PyTorch's own samples of every operator, the same in every process: calls to compare runs by.

``torch.testing._internal.common_methods_invocations.op_db`` (checked on 2.13.0) holds them.
"""

import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch

FIRST = 3
"""Samples of each operator, dtype and direction."""


@dataclass(frozen=True, slots=True)
class Case:
    """One call of one operator, forward or with its gradients."""

    operator: str
    """The database's name for it: ``nn_functional_conv2d``."""
    dtype: str
    index: int
    backward: bool
    function: Callable[..., Any]
    inputs: tuple[Any, tuple[Any, ...], dict[str, Any]]
    """First argument, the others and the named ones, on the host."""

    def __str__(self) -> str:
        direction = "backward" if self.backward else "forward"
        return f"{self.operator} {self.dtype} {self.index} {direction}"

    def call(self, first: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the operator."""
        return self.function(first, *args, **kwargs)


def operator_names() -> list[str]:
    """What the database calls its operators, in its order; variants of one share a name."""
    from torch.testing._internal.common_methods_invocations import op_db

    return list(dict.fromkeys(info.formatted_name for info in op_db))


def cases(
    dtypes: Collection[str] | None = None,
    first: int = FIRST,
    operators: Collection[str] | None = None,
    directions: Collection[bool] = (False, True),
) -> Iterator[Case]:
    """Every case of the database, made as it is asked for; None stands for all there are.

    Of ``directions``, True is backward.
    """
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        if operators is not None and info.formatted_name not in operators:
            continue
        for dtype in sorted(info.supported_dtypes("cpu"), key=str):
            if dtypes is None or _name(dtype) in dtypes:
                for backward in directions:
                    yield from _of(info, dtype, first, backward)


def _of(info: Any, dtype: torch.dtype, first: int, backward: bool) -> Iterator[Case]:
    if backward and not _has_gradient(info, dtype):
        return
    _seed()
    # not by way of ``sample_inputs``, which looks for a running unittest on the whole stack
    samples = list(islice(info.sample_inputs_func(info, "cpu", dtype, backward), first))
    for index, sample in enumerate(samples):
        inputs = (sample.input, sample.args, sample.kwargs)
        yield Case(info.formatted_name, _name(dtype), index, backward, info, inputs)


def _has_gradient(info: Any, dtype: torch.dtype) -> bool:
    return bool(info.supports_autograd and dtype in info.supported_backward_dtypes("cpu"))


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _seed() -> None:
    """The database draws from all three. ``torch.manual_seed`` would queue work for CUDA."""
    torch.default_generator.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
