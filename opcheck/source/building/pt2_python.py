"""Functions on Python numbers that an exported graph may call: those of ``pt2_targets.PYTHON``."""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from opcheck.source.pt2_targets import PYTHON

_MOST_BITS = 64


def _power(base: Any, exponent: Any) -> Any:
    """``base ** exponent``, refused where Python would work at it for long."""
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and exponent * base.bit_length() > _MOST_BITS:
        raise ValueError(f"the graph computes {base} to the power of {exponent}")
    return operator.pow(base, exponent)


def _shifted(number: Any, by: Any) -> Any:
    if isinstance(by, int) and by > _MOST_BITS:
        raise ValueError(f"the graph shifts a number by {by} bits")
    return operator.lshift(number, by)


_OWN: Mapping[str, Callable[..., Any]] = {
    "_operator.pow": _power,
    "_operator.lshift": _shifted,
    "torch.ops.aten.sym_size.int": Tensor.size,
    "torch.ops.aten.sym_stride.int": Tensor.stride,
    "torch.ops.aten.sym_numel.default": Tensor.numel,
    "torch.ops.aten.sym_storage_offset.default": Tensor.storage_offset,
    "torch.ops.aten.sym_is_contiguous.default": Tensor.is_contiguous,
}
_MODULES: Mapping[str, Any] = {"_operator": operator, "math": math, "torch": torch}


def _functions() -> dict[str, Callable[..., Any]]:
    """Every name of the list that this torch has."""
    found = dict(_OWN)
    for text in PYTHON - _OWN.keys():
        module, _, name = text.partition(".")
        function = getattr(_MODULES[module], name, None)  # names of our own list
        if function is not None:
            found[text] = function
    return found


FUNCTIONS: Mapping[str, Callable[..., Any]] = _functions()
