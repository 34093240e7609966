"""Build for real: the same numbers on every run, and memory that nobody wrote told apart."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

# The last two imports are private; checked with torch 2.13. The tests of this module build with
# them, so a move shows there.

_aten = torch.ops.aten
_UNWRITTEN = frozenset(
    (_aten.empty.memory_format, _aten.empty_strided.default, _aten.empty_like.default,
     _aten.empty_permuted.default, _aten.new_empty.default, _aten.new_empty_strided.default)
)  # fmt: skip
"""Factories that leave in a tensor whatever memory held."""


@contextmanager
def seeded() -> Iterator[None]:
    """Within it, every usual source of random numbers starts afresh; after it, as before."""
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        np.random.set_state(states[2])


class Marked(TorchDispatchMode):
    """Within it, a new tensor that nobody wrote holds NaN, or zero where its dtype has no NaN.

    Code that expects its weights from a file makes parameters by ``torch.empty``.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Keep torch from wrapping the method below, which would import its whole compiler."""
        return False

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the call, and mark what it left unwritten."""
        made = func(*args, **(kwargs or {}))
        if not isinstance(func, OpOverload) or func not in _UNWRITTEN or made.is_meta:
            return made
        if made.dtype.is_floating_point or made.dtype.is_complex:
            return made.fill_(float("nan"))
        return made if made.is_quantized else made.zero_()
