"""What a call gave on the device, held against what it gives on the host."""

import re
from collections.abc import Sequence
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor
from torch.utils._pytree import tree_leaves

from opcheck.model.probe import Observed, Outcome

_UNINITIALISED = re.compile(r"(new_)?empty|resize|_resize|set_|_reshape_alias|_efficientzerotensor")
"""Overloads whose values are whatever the memory held, by the beginning of their names."""
_FIRST_ALONE = frozenset(
    {"topk", "sort", "kthvalue", "mode", "median", "nanmedian", "max", "min", "cummax", "cummin"}
    | {"max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d"}
    | {"adaptive_max_pool3d", "fractional_max_pool2d", "fractional_max_pool3d", "_ctc_loss"}
)
"""Overloads whose second result says where, and of equal values any may be meant, or is in part not
written."""
_ANY_OF_SEVERAL = frozenset(
    {"_linalg_svd", "_linalg_eigh", "linalg_eig", "linalg_qr", "geqrf", "_linalg_det"}
    | {"_linalg_slogdet", "linalg_lu_factor_ex", "linalg_lu", "_linalg_solve_ex", "argsort"}
    | {"linalg_ldl_factor_ex", "_unique2", "argmax", "argmin"}
)
"""Overloads that have several right answers: signs, pivots, places of equal values."""


def first_line(error: Exception) -> str:
    """The type of an error and the first line of its text."""
    return f"{type(error).__name__}: {str(error).strip()}".partition("\n")[0]


def comparable(func: Any) -> bool:
    """Whether it gives the same values wherever it runs."""
    base = func._schema.name.partition("::")[2]
    random = torch.Tag.nondeterministic_seeded in func.tags
    return not (random or base in _ANY_OF_SEVERAL or _UNINITIALISED.match(base))


def expected(func: Any, copies: Any) -> Any:
    """What the host gives; None where it gives nothing."""
    try:
        return None if copies is None else func(*copies[0], **copies[1])
    except Exception:  # the device's own error is what is told
        return None


def compared(call: Observed, func: Any, copies: Any, found: Any, given: Any) -> Observed:
    """Hold the results, and what was written to, against the host's."""
    try:
        host = func(*copies[0], **copies[1])
    except Exception as error:  # the host has no such kernel, or refuses the call
        return replace(call, text=f"the host gives nothing to compare with: {first_line(error)}")
    ours, theirs = tensors(found), tensors(host)
    if call.op.partition("::")[2].partition(".")[0] in _FIRST_ALONE:
        ours, theirs = ours[:1], theirs[:1]
    if func._schema.is_mutable:
        ours, theirs = [*ours, *tensors(given)], [*theirs, *tensors(copies)]
    try:
        torch.testing.assert_close(
            [tensor.detach().cpu() for tensor in ours], [tensor.detach() for tensor in theirs],
            equal_nan=True, check_dtype=False, check_layout=False, check_stride=False,
        )  # fmt: skip
    except AssertionError as error:
        return replace(call, outcome=Outcome.WRONG, text=_off(error))
    except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
        return replace(call, text=f"its result cannot be read: {first_line(error)}")
    return replace(call, text=_dtypes(ours, theirs))


def _off(error: AssertionError) -> str:
    """What ``torch.testing`` says, on one line."""
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())


def _dtypes(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> str:
    """Where results are of another dtype than the host's, their values being close."""
    pairs = {
        f"gives {a.dtype} where the host gives {b.dtype}".replace("torch.", ""): None
        for a, b in zip(ours, theirs, strict=True)
        if a.dtype != b.dtype
    }
    return ", ".join(pairs)


def tensors(value: Any) -> list[Tensor]:
    """Every tensor in nested values, in order."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
