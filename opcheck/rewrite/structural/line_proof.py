"""A way to write a line, recorded for a target and computed beside the line as it is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from msgspec import Struct
from msgspec.structs import replace
from torch import Tensor

from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Measured, Suggestion
from opcheck.model.trace import TensorMeta, Trace
from opcheck.rewrite.call import Call, on_meta
from opcheck.rewrite.measure import LARGEST, UnmeasuredError, compared, label
from opcheck.rewrite.record import Lacking, Recorder, held, requiring


class Both(Struct, frozen=True):
    """The same line twice, as functions of the tensors that it is given."""

    before: Callable[..., Any]
    after: Callable[..., Any]
    """What the target is to run."""
    given: Mapping[str, TensorMeta]
    canonical: Callable[[Any], Any] = lambda result: result
    """Takes from what ``after`` gives what can be compared with what ``before`` gives."""


class Prover:
    """Proves ways for one device type; what was recorded and measured serves all its targets."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._recorded: dict[tuple[str, object], Trace | str] = {}
        self._measured: dict[tuple[str, object], Measured | str] = {}

    def proven(
        self, way: Suggestion, both: Both, key: object, matrix: SupportMatrix
    ) -> Suggestion | str:
        """The way with what it runs as and its figures; why it is no way, where it is none."""
        at = (way.rule, key)
        if at not in self._recorded:
            args = tuple(requiring(on_meta(name, meta)) for name, meta in both.given.items())
            self._recorded[at] = self._recorder.recorded(both.after, args, {})
        trace = self._recorded[at]
        runs = trace if isinstance(trace, str) else held(trace, matrix)
        if isinstance(runs, str):
            return runs
        if isinstance(runs, Lacking):
            return runs.text
        if at not in self._measured:
            self._measured[at] = _measure(both)
        found = self._measured[at]
        way = replace(
            way, runs_as=runs.overloads, backward_as=runs.backward, calls=runs.calls,
            memory=runs.memory,
        )  # fmt: skip
        if isinstance(found, str):
            return replace(way, unmeasured=found)
        far = max(d.relative for d in (found.forward, found.backward) if d is not None)
        if far > _TOO_FAR:
            return Sentence("its values are off by {figure} of the largest", figure=f"{far:.1e}")
        return replace(way, measured=found, label=label(way.label, found))


_TOO_FAR = 1e-2
"""Relative difference beyond which two codes do not compute the same."""


class _Written:
    """A function that can be called as an overload is."""

    def __init__(self, function: Callable[..., Any], names: Sequence[str]) -> None:
        given = ", ".join(f"Tensor {name}" for name in names)
        self._schema = torch._C.parse_schema(f"opcheck::line({given}) -> Tensor")  # torch 2.13.0
        self._function = function

    def __call__(self, *args: Any) -> Any:
        return self._function(*args)


def _measure(both: Both) -> Measured | str:
    size = sum(meta.numel for meta in both.given.values())
    if size > LARGEST:
        return Sentence("too large to compute beside the scan: {count} elements", count=f"{size:,}")
    random = torch.Generator().manual_seed(0)
    args = tuple(_values(meta, random) for meta in both.given.values())
    call = Call(_Written(both.before, tuple(both.given)), args, {})
    try:
        forward, backward = compared(call, lambda *given: both.canonical(both.after(*given)))
    except UnmeasuredError as error:
        return sentence_of(error)
    inputs = tuple(f"{name}: {meta}" for name, meta in both.given.items())
    return Measured(inputs, forward, backward)


def _values(meta: TensorMeta, random: torch.Generator) -> Tensor:
    """Numbers around 0; masks that are true at every other place or so, and somewhere."""
    dtype = getattr(torch, meta.dtype)
    if dtype is torch.bool:
        made = torch.randint(0, 2, meta.shape, generator=random).bool()
        return made if made.any() or not made.numel() else ~made
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.complex128 if dtype.is_complex else torch.float64
        return torch.randn(meta.shape, generator=random, dtype=wide).to(dtype)
    return torch.randint(0, 4, meta.shape, generator=random).to(dtype)
