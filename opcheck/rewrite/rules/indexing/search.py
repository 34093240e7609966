"""``searchsorted``, ``bucketize`` and ``isin`` by comparisons."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, INTEGERS, NUMBERS, Draw

_LARGEST = 1 << 24
_NO_NAN = "boundaries with NaN, which are counted here and come between others in PyTorch's search"


def _as_tensor(value: Any, like: Tensor) -> Tensor:
    return value if isinstance(value, Tensor) else like.new_full([], value)


def _rows(values: Tensor, sequence: Tensor) -> Tensor:
    """Lay values out so that each row of them is sought in one row of the sequence."""
    return values.reshape(1, -1) if sequence.dim() == 1 else values


def _counted(sequence: Tensor, values: Tensor, right: bool) -> Tensor:
    """Count the boundaries before each value."""
    rows = _rows(values, sequence).detach().unsqueeze(-1)
    ends = sequence.detach().unsqueeze(-2)
    before = ~(ends > rows) if right else ~(ends >= rows)
    return before.sum(-1).reshape(values.shape)


def _halved(sequence: Tensor, values: Tensor, right: bool) -> Tensor:
    """Halve the span in which each value belongs until nothing is left of it."""
    rows = _rows(values, sequence).detach()
    ends = (sequence.unsqueeze(0) if sequence.dim() == 1 else sequence).detach()
    size = ends.size(-1)
    low = torch.zeros_like(rows, dtype=torch.int64)
    high = low + size
    for _ in range(size.bit_length()):
        middle = (low + high) // 2
        end = ends.gather(-1, middle.clamp(max=size - 1))
        after = ~(end > rows) if right else ~(end >= rows)
        is_open = low < high
        low, high = (
            torch.where(is_open & after, middle + 1, low),
            torch.where(is_open & ~after, middle, high),
        )
    return low.reshape(values.shape)


def _sought(
    count: Any,
    sequence: Tensor,
    self: Any,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
) -> Tensor:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"side can only be left or right but got {side}")
    ordered = sequence if sorter is None else sequence.gather(-1, sorter)
    found: Tensor = count(ordered, _as_tensor(self, sequence), right or side == "right")
    return found


def searchsorted(
    sorted_sequence: Tensor,
    self: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Count the boundaries before each value."""
    found = _sought(_counted, sorted_sequence, self, right, side, sorter)
    return found.int() if out_int32 else found


def bucketize(
    self: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Count the boundaries before each value."""
    return searchsorted(boundaries, self, out_int32=out_int32, right=right)


def searchsorted_by_halving(
    sorted_sequence: Tensor,
    self: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Halve the span in which each value belongs until nothing is left of it."""
    found = _sought(_halved, sorted_sequence, self, right, side, sorter)
    return found.int() if out_int32 else found


def bucketize_by_halving(
    self: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Halve the span in which each value belongs until nothing is left of it."""
    return searchsorted_by_halving(boundaries, self, out_int32=out_int32, right=right)


class _Search(Rule):
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/Bucketization.cpp",
    )

    def valid(self, call: Call) -> Call:
        """Sort the boundaries."""
        names = [argument.name for argument in call.func._schema.arguments]
        place = names.index("boundaries" if "boundaries" in names else "sorted_sequence")
        args = list(call.args)
        args[place] = args[place].sort(-1).values
        return Call(call.func, tuple(args), call.kwargs)

    def example(self, op: str, draw: Draw) -> Arguments:
        """One row of boundaries for all values, or one for each row of them."""
        dtype = (draw.choose((*FLOATS, *INTEGERS)),)
        shape = draw.shape(1, 3)
        size = draw.integer(0, 9)
        one = op.endswith("Scalar") or "bucketize" in op or draw.flag()
        ends = draw.tensor([size] if one else [*shape[:-1], size], dtype, edges=False)
        sought = draw.tensor(draw.shape() if one else shape, dtype)
        ends = ends.sort(-1).values
        right = draw.flag()
        given: dict[str, Any] = {"out_int32": draw.flag(), "right": right}
        value = draw.integer(0, 3) if op.endswith("Scalar") else sought
        if "bucketize" in op:
            return (value, ends), given
        if draw.flag():
            given["side"] = draw.choose(("right", "left")) if not right else "right"
        if draw.flag():
            given["sorter"] = ends.flip(-1).argsort(-1)
            ends = ends.flip(-1)
        return (ends, value), given


class SearchsortedByCounting(_Search):
    """Where a value belongs among sorted boundaries is how many come before it.

    A table of boundaries times values is compared, in three kernels. Boundaries must be sorted
    and hold no NaN: PyTorch halves, and what it finds then depends on which ones it meets.
    """

    name = "searchsorted-by-counting"
    replaces = ("aten::searchsorted.Tensor", "aten::searchsorted.Scalar")
    summary = "Count the boundaries that come before each value"
    gives_up = _NO_NAN
    spellings = ("torch.searchsorted",)
    replace = staticmethod(searchsorted)

    def refuses(self, call: Call) -> str:
        """Decline a table that is too large."""
        return _too_large(call.given("sorted_sequence"), call.given("self"))


class BucketizeByCounting(_Search):
    """The bucket of a value is how many boundaries come before it.

    A table of boundaries times values is compared, in three kernels. Boundaries must be sorted
    and hold no NaN: PyTorch halves, and what it finds then depends on which ones it meets.
    """

    name = "bucketize-by-counting"
    replaces = ("aten::bucketize.Tensor", "aten::bucketize.Scalar")
    summary = "Count the boundaries that come before each value"
    gives_up = _NO_NAN
    spellings = ("torch.bucketize",)
    replace = staticmethod(bucketize)

    def refuses(self, call: Call) -> str:
        """Decline a table that is too large."""
        return _too_large(call.given("boundaries"), call.given("self"))


class SearchsortedByHalving(_Search):
    """A binary search of all values at once, halving each one's span with ``gather``.

    It takes some ten kernels for each doubling of the boundaries, and no table.
    """

    name = "searchsorted-by-halving"
    replaces = ("aten::searchsorted.Tensor", "aten::searchsorted.Scalar")
    summary = "Search all values at once, halving their spans with gather"
    spellings = ("torch.searchsorted",)
    replace = staticmethod(searchsorted_by_halving)

    def refuses(self, call: Call) -> str:
        """Decline what has no boundaries."""
        return "" if call.given("sorted_sequence").size(-1) else "there are no boundaries"


class BucketizeByHalving(_Search):
    """A binary search of all values at once, halving each one's span with ``gather``.

    It takes some ten kernels for each doubling of the boundaries, and no table.
    """

    name = "bucketize-by-halving"
    replaces = ("aten::bucketize.Tensor", "aten::bucketize.Scalar")
    summary = "Search all values at once, halving their spans with gather"
    spellings = ("torch.bucketize",)
    replace = staticmethod(bucketize_by_halving)

    def refuses(self, call: Call) -> str:
        """Decline what has no boundaries."""
        return "" if call.given("boundaries").numel() else "there are no boundaries"


def _too_large(boundaries: Tensor, values: Any) -> str:
    count = boundaries.size(-1) * (values.numel() if isinstance(values, Tensor) else 1)
    return (
        Sentence(
            "it would compare {count} times, more than {count_most}",
            count=f"{count:,}",
            count_most=f"{_LARGEST:,}",
        )
        if count > _LARGEST
        else ""
    )


def isin(
    elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Compare every element with every candidate."""
    found = (elements.unsqueeze(-1) == test_elements.reshape(-1)).any(-1)
    return ~found if invert else found


def isin_of(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """``isin`` of two tensors; where one is a number, torch compares with it itself."""
    if isinstance(elements, Tensor) and isinstance(test_elements, Tensor):
        return isin(elements, test_elements, invert=invert)
    return torch.isin(elements, test_elements, assume_unique=assume_unique, invert=invert)


class IsinByComparing(Rule):
    """Every element is compared with every candidate, and is in where any comparison holds.

    The comparisons take ``elements.numel() * test_elements.numel()`` bytes; candidates are few
    where models ask this (end-of-sequence tokens). NaN is in nothing, as in ``torch.isin``.
    """

    name = "isin-by-comparing"
    replaces = ("aten::isin.Tensor_Tensor",)
    summary = "Compare with every candidate and take any"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.isin": isin_of}
    references = (
        "https://github.com/huggingface/transformers/pull/33099",
        "https://github.com/Ascend/pytorch/issues/40",
    )
    replace = staticmethod(isin)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Both of one dtype or of two."""
        given: dict[str, Any] = {"assume_unique": False, "invert": draw.flag()}
        return (draw.tensor(dtypes=NUMBERS), draw.tensor(dtypes=NUMBERS)), given
