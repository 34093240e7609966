"""The run on the device compared with that on the CPU, tensor by tensor, in their order."""

from array import array
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isfinite

from msgspec.structs import replace

from opcheck.model.comparison import (
    Comparison,
    Kept,
    Kind,
    Moment,
    Outputs,
    Parting,
    Recast,
    Why,
)

_Key = tuple[Moment, str]
_Pair = tuple[Kept | None, Kept | None]

ALLOWED: Mapping[str, tuple[float, float]] = {
    "float16": (1e-5, 1e-3),
    "bfloat16": (1e-5, 1.6e-2),
    "float32": (1e-5, 1.3e-6),
    "float64": (1e-7, 1e-7),
    "complex32": (1e-5, 1e-3),
    "complex64": (1e-5, 1.3e-6),
    "complex128": (1e-7, 1e-7),
}
"""Dtype -> absolute and relative tolerance of ``torch.testing.assert_close``; 0 of all others."""
_EXACT = (0.0, 0.0)


def compare(
    cpu: Outputs, device: Outputs, *, cpu_error: str = "", whole: bool = True
) -> Comparison:
    """Say where the device's run parts from the CPU's.

    Args:
        cpu: what the run on the CPU gave.
        device: what the run on the device gave.
        cpu_error: what ended the run on the CPU early, if anything did.
        whole: whether the run on the device came to its end.
    """
    left_out = max(cpu.left_out, device.left_out)
    every = _paired(cpu, device)
    pairs = [pair for pair in every if not _is_within(pair)]
    both = [pair for pair in pairs if None not in pair]
    reached = pairs
    if cpu_error or left_out or not whole:  # what only one run came to says nothing of the other
        while reached and None in reached[-1]:
            reached = reached[:-1]
    within = _within(every)
    found = [
        replace(parting, within=within.get(parting.moment, ()))
        for pair in reached
        if (parting := _parting(*pair)) is not None
    ]
    return Comparison(
        compared=len(both),
        apart=sum(parting.why in (Why.VALUES, Why.SHAPE) for parting in found),
        alone=len(pairs) - len(both),
        partings=tuple(_first_of_each(found)),
        recast=_recast(both),
        left_out=left_out,
        seeded=cpu.seeded and device.seeded,
        cpu_error=cpu_error,
    )


def _is_within(pair: _Pair) -> bool:
    return any(one is not None and one.moment.kind is Kind.WITHIN for one in pair)


def _within(every: list[_Pair]) -> Mapping[Moment, tuple[Parting, ...]]:
    """For each output the first that parts of the modules that ran for it."""
    found: dict[Moment, tuple[Parting, ...]] = {}
    first: tuple[Parting, ...] = ()
    for pair in every:
        if _is_within(pair):
            parting = None if first or None in pair else _parting(*pair)
            first = first if parting is None else (parting,)
            continue
        moment = next(one.moment for one in pair if one is not None)
        if moment.kind is Kind.OUTPUT and moment not in found:
            found[moment], first = first, ()
    return found


def _paired(cpu: Outputs, device: Outputs) -> list[_Pair]:
    """Tensors of both runs by what gave them; what only the device has stands before its next."""
    theirs: dict[_Key, Kept] = {_key(one): one for one in device.kept}
    places: dict[_Key, float] = {_key(one): i for i, one in enumerate(cpu.kept)}
    found: list[tuple[float, _Pair]]
    found = [(float(i), (one, theirs.get(_key(one)))) for i, one in enumerate(cpu.kept)]
    place, alone = float(len(found)), list[tuple[float, _Pair]]()
    for one in reversed(device.kept):
        known = places.get(_key(one))
        if known is None:
            alone.append((place - 0.5, (None, one)))
        else:
            place = known
    return [pair for _, pair in sorted([*found, *reversed(alone)], key=lambda item: item[0])]


def _key(one: Kept) -> _Key:
    return one.moment, one.path


def _parting(cpu: Kept | None, device: Kept | None) -> Parting | None:
    """How two tensors part; None where they agree."""
    if cpu is None or device is None:
        one = cpu or device
        assert one is not None, "of one run at least"
        return _told(Why.DEVICE_ONLY if cpu is None else Why.CPU_ONLY, one, cpu, device)
    if cpu.shape != device.shape:
        return _told(Why.SHAPE, cpu, cpu, device)
    if cpu.values == device.values:
        return None
    numbers, others = _numbers(cpu), _numbers(device)
    if len(numbers) != len(others):
        return _told(Why.SHAPE, cpu, cpu, device)
    allowed = _allowed(cpu.dtype, device.dtype)
    apart, absolute, relative = _errors(numbers, others, *allowed)
    if not apart:
        return None
    return replace(
        _told(Why.VALUES, cpu, cpu, device),
        absolute=absolute, relative=relative, allowed=allowed,
    )  # fmt: skip


def _told(why: Why, one: Kept, cpu: Kept | None, device: Kept | None) -> Parting:
    drawn = cpu is not None and device is not None and cpu.drawn != device.drawn
    return Parting(
        why, one.moment, one.path, one.file, one.line,
        ("" if cpu is None else cpu.dtype, "" if device is None else device.dtype),
        (() if cpu is None else cpu.shape, () if device is None else device.shape),
        drawn_apart=drawn,
    )  # fmt: skip


def _numbers(one: Kept) -> "array[float]":
    """The values that were kept; none where they cannot be read."""
    found = array("d")
    try:
        found.frombytes(b64decode(one.values))
    except ValueError:
        return array("d")
    return found


def _allowed(*dtypes: str) -> tuple[float, float]:
    """What the dtype of lower precision allows."""
    both = [ALLOWED.get(dtype, _EXACT) for dtype in dtypes]
    return max(absolute for absolute, _ in both), max(relative for _, relative in both)


def _errors(
    cpu: "array[float]", device: "array[float]", absolute: float, relative: float
) -> tuple[bool, float | None, float | None]:
    """Whether some differ by more than is allowed, and the largest errors."""
    apart, finite, largest, share = False, True, 0.0, 0.0
    for x, y in zip(cpu, device, strict=True):
        if x == y or (x != x and y != y):  # NaN on both sides
            continue
        error = abs(x - y)
        if not isfinite(error):
            apart, finite = True, False
            continue
        apart |= error > absolute + relative * abs(x)
        largest = max(largest, error)
        if x:
            share = max(share, error / abs(x))
    return apart, largest if finite else None, share if finite and isfinite(share) else None


def _first_of_each(found: list[Parting]) -> Iterator[Parting]:
    """The first of each place and module, with how many part there."""
    counts = Counter(map(_where, found))
    for parting in found:
        if count := counts.pop(_where(parting), 0):
            yield replace(parting, count=count)


def _where(parting: Parting) -> tuple[object, ...]:
    return parting.file, parting.line, parting.moment.kind, parting.moment.module


def _recast(both: list[_Pair]) -> Recast | None:
    """The first tensor that has another dtype on the device."""
    found = [(a, b) for a, b in both if a is not None and b is not None and a.dtype != b.dtype]
    if not found:
        return None
    one, other = found[0]
    return Recast(
        one.moment, one.path, one.file, one.line, (one.dtype, other.dtype), count=len(found)
    )
