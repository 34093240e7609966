"""Where sizes matter that the user marked: the model run with others, and the runs compared.

A decision of Python's that comes out otherwise with another size is a branch. So that one is seen
whose threshold is far from the example's size, each comparison of two runs tells, by how its two
sides move, with which size it would turn; the model is run with that size too.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import DynamicInput, Site, SiteKind
from opcheck.model.trace import Trace
from opcheck.trace.calls.call_site import NOWHERE
from opcheck.trace.sizes.events import (
    Called,
    Decision,
    Event,
    difference,
    pairs,
    partings,
    varying,
)
from opcheck.trace.sizes.runs import Axis, Runner, SizeRun, Sizes, alike, axes_of, runner

_LARGEST = 1 << 16
"""The largest size that a model is run with to see a comparison turn."""
_MOST_EVENTS = 50_000
"""How much a model may do in such a run, as far as that can be told."""
_THRESHOLDS = 8
"""How many runs are made for that at most."""
_ALONE = 4
"""How many of several dimensions are tried alone."""
_BEYOND = re.compile(r"out of (bounds|range)")
"""In an error of values that point beyond a size: the inputs' values are those of the example, so
that a smaller size fails of itself."""

Progress = Callable[[str], None]


class Sized(Struct, frozen=True):
    """What came of running a model with other sizes."""

    sites: tuple[Site, ...]
    notes: tuple[str, ...]


def with_sizes(
    trace: Trace,
    marked: Sequence[DynamicInput],
    model: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    casts: Mapping[str, str],
    autocast: Mapping[str, Collection[str]] = MappingProxyType({}),
    progress: Progress = lambda _: None,
) -> Trace:
    """The trace with the places where the marked sizes matter; the same where none is marked.

    Raises:
        UsageError: there is no such input or dimension.
    """
    if not marked:
        return trace
    found = sites_of_sizes(
        marked, model, args, kwargs,
        device_type=trace.device_type, casts=casts, autocast=autocast,
        progress=progress,
    )  # fmt: skip
    return replace(trace, dynamic=found.sites, notes=(*trace.notes, *found.notes))


def sites_of_sizes(
    marked: Sequence[DynamicInput],
    model: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    device_type: str,
    casts: Mapping[str, str],
    autocast: Mapping[str, Collection[str]] = MappingProxyType({}),
    progress: Progress = lambda _: None,
) -> Sized:
    """Run the model in evaluation mode with other sizes for what is marked.

    Raises:
        UsageError: there is no such input or dimension.
    """
    axes = axes_of(marked, model, args, kwargs)
    others = alike(axes, model, args, kwargs)
    with runner(model, args, kwargs, device_type, casts, autocast) as runs:
        progress("running it with other sizes")
        base = runs.first({axis: axis.size for axis in axes})
        if base.error:
            return Sized(
                (),
                (Sentence("no other sizes were tried, as a run fails: {text}", text=base.error),),
            )
        tried = _Tried(runs, base)
        notes = _scale(tried, axes, others)
        _alone(tried, axes)
        _thresholds(tried)
    return Sized(tuple(_sites(base, tried)), (*notes, *_least(tried), *_sizes_tried(tried)))


class _Call(NamedTuple):
    """A call of a run."""

    key: tuple[object, ...]
    what: Called


@dataclass(slots=True)
class _Tried:
    """The runs so far."""

    runs: Runner
    base: SizeRun
    scaled: list[SizeRun] = field(default_factory=list)
    """With all marked dimensions changed."""
    apart: list[SizeRun] = field(default_factory=list)
    """With one of them changed; that these fail says nothing."""

    @property
    def done(self) -> list[SizeRun]:
        """Those that did not fail."""
        return [run for run in (*self.scaled, *self.apart) if not run.error]

    def has(self, sizes: Sizes) -> bool:
        """Whether there was a run with these sizes."""
        return any(run.sizes == sizes for run in (self.base, *self.scaled, *self.apart))


def _scale(tried: _Tried, axes: Sequence[Axis], others: Sequence[Axis]) -> tuple[str, ...]:
    """Change all that is marked; where nothing else runs, with it the inputs that look alike."""
    tried.scaled = _scaled(tried.runs, axes)
    if tried.done or not others:
        return ()
    again = _scaled(tried.runs, (*axes, *others))
    if all(run.error for run in again):
        return ()
    tried.scaled = again
    tried.base = replace(tried.base, sizes={a: a.size for a in (*axes, *others)})
    names = ", ".join(map(str, others))
    return (
        Sentence(
            "{text} was changed along with what --dynamic marks: other sizes fail without it",
            text=names,
        ),
    )


def _scaled(runs: Runner, axes: Sequence[Axis]) -> list[SizeRun]:
    """One more, twice as many, half as many."""
    wanted: list[Sizes] = [
        {axis: axis.size + 1 for axis in axes},
        {axis: 2 * axis.size or 2 for axis in axes},
        {axis: max(axis.size // 2, 1) for axis in axes},
    ]
    same = {axis: axis.size for axis in axes}
    return [runs.run(sizes) for sizes in wanted if sizes != same]


def _alone(tried: _Tried, axes: Sequence[Axis]) -> None:
    """Change one of several dimensions alone: height without width."""
    if len(axes) > 1:
        for axis in axes[:_ALONE]:
            sizes = {**tried.base.sizes, axis: 2 * axis.size or 2}
            tried.apart.append(tried.runs.run(sizes))


def _thresholds(tried: _Tried) -> None:
    """Run with sizes between which a comparison turns that came out the same until now."""
    larger = next((run for run in tried.done if _factor(run, tried.base) > 1), None)
    if larger is None:
        return
    turned = {event.key[:3] for event, _ in _turned(tried.base, tried.done)}
    left = _THRESHOLDS
    for factor in _factors(tried.base, larger, turned):
        if _expected(tried.base, larger, factor) > _MOST_EVENTS:
            continue
        for step in (-1, 0, 1):
            sizes = {a: floor(n * factor + 1e-9) + step for a, n in tried.base.sizes.items()}
            fits = all(1 <= size <= _LARGEST for size in sizes.values())
            if fits and left and not tried.has(sizes):
                left -= 1
                tried.apart.append(tried.runs.run(sizes))


def _expected(base: SizeRun, larger: SizeRun, factor: float) -> float:
    """Events of a run with sizes so many times as large, if they grow as they did."""
    grown = (len(larger.events) - len(base.events)) / (_factor(larger, base) - 1)
    return len(base.events) + grown * (factor - 1)


def _factor(run: SizeRun, base: SizeRun) -> float:
    """How many times as large all sizes of a run are; 0 where they differ."""
    factors = {size / base.sizes[axis] for axis, size in run.sizes.items() if base.sizes[axis]}
    return factors.pop() if len(factors) == 1 else 0.0


def _factors(base: SizeRun, larger: SizeRun, turned: set[tuple[object, ...]]) -> Iterator[float]:
    """By how much sizes would have to be larger for the sides of a comparison to meet."""
    known: set[float] = set()
    grown = _factor(larger, base) - 1
    for one, other in pairs(base.events, larger.events):
        if isinstance(one.what, Decision) and isinstance(other.what, Decision):
            apart = one.what.left - one.what.right
            slope = (other.what.left - other.what.right - apart) / grown
            if slope and one.key[:3] not in turned:
                factor = 1 - apart / slope
                if factor > 0 and factor not in known:
                    known.add(factor)
                    yield factor


def _turned(base: SizeRun, runs: Iterable[SizeRun]) -> Iterator[tuple[Event, SizeRun]]:
    """Decisions of the first run that another run takes otherwise."""
    for run in runs:
        for one, other in partings(base.events, run.events):
            if one is not None and other is not None and one.key[:3] == other.key[:3]:
                yield one, run


def _sites(base: SizeRun, tried: _Tried) -> Iterator[Site]:
    base = tried.base
    found: dict[tuple[object, ...], Site] = {}
    branches = sorted(_branches(base, tried.done), key=lambda site: (site.file, site.line))
    found_first = (*_fixed(tried), *branches, *_counted(base, tried.done))
    for site in (*found_first, *_carried(base, tried.done)):
        found.setdefault((site.kind, site.op, site.module, site.file, site.line), site)
    yield from found.values()


def _fixed(tried: _Tried) -> Iterator[Site]:
    """Lines at which the model fails with another size, but for a least one."""
    works = next((str(run) for run in tried.done), "")
    least = _too_small(tried)
    for run in tried.scaled:
        if run.error and run not in least and not (works and _BEYOND.search(run.error)):
            fails = "fails with {text}: {text_error}"
            if works:
                fails = "fails with {text}: {text_error} (runs with {text_works})"
            text = Sentence(fails, text=run, text_error=run.error, text_works=works)
            yield Site(SiteKind.FIXED_SIZE, "", run.module, *run.site, 1, text)


def _too_small(tried: _Tried) -> list[SizeRun]:
    """Runs that fail with less than the example's sizes, where all larger ones tried are taken."""
    before = tried.base.sizes
    smaller = [
        run for run in tried.scaled if all(run.sizes[axis] <= before[axis] for axis in before)
    ]
    larger = [run for run in tried.scaled if run not in smaller]
    if not larger or any(run.error for run in larger):
        return []
    return [run for run in smaller if run.error and not _BEYOND.search(run.error)]


def _least(tried: _Tried) -> tuple[str, ...]:
    """That there are sizes too small for the model, which leave all others to vary."""
    return tuple(
        Sentence(
            "larger sizes than the example's run, and smaller ones need not: with {text} it fails: "
            "{text_error}",
            text=run,
            text_error=run.error,
        )
        for run in _too_small(tried)
    )


def _counted(base: SizeRun, runs: Iterable[SizeRun]) -> Iterator[Site]:
    """That the model gives another number of tensors, as a split in parts of one size does."""
    for run in runs:
        if run.results != base.results:
            text = Sentence(
                "the model gives {count} tensors with {text}, and {count_b} with {text_b}",
                count=base.results, text=base, count_b=run.results, text_b=run,
            )  # fmt: skip
            yield Site(SiteKind.SHAPE_BRANCH, "", "", *NOWHERE, 1, text)
            return


def _branches(base: SizeRun, runs: Iterable[SizeRun]) -> Iterator[Site]:
    for run in runs:
        for one, other in partings(base.events, run.events):
            yield _branch(base, one, run, other)


def _branch(base: SizeRun, one: Event | None, run: SizeRun, other: Event | None) -> Site:
    """The site of a place where two runs part: the decision, or else the calls that differ."""
    decisions = [event for event in (one, other) if event and isinstance(event.what, Decision)]
    texts = [
        f"{event.what} is {event.what.outcome} with {who}"
        for event, who in ((one, base), (other, run))
        if event is not None and isinstance(event.what, Decision)
    ]
    if decisions:
        first = decisions[0]
        assert isinstance(first.what, Decision)
        count = sum(event.key[:3] == first.key[:3] for event in base.events)
        return Site(
            SiteKind.SHAPE_BRANCH, "", first.module, *first.what.site, max(count, 1),
            ", ".join(texts),
        )  # fmt: skip
    event = _more_often(base, one, run, other)
    assert isinstance(event.what, Called)
    here, there = (_count(events, event) for events in (base.events, run.events))
    if here != there:
        text = Sentence(
            "{op} is called {count} times with {text}, {count_other} times with {text_other}",
            op=event.what.op,
            count=here,
            text=base,
            count_other=there,
            text_other=run,
        )
    else:
        text = Sentence(
            "another order of calls with {text} than with {text_other}", text=run, text_other=base
        )
    what = event.what
    return Site(SiteKind.SHAPE_BRANCH, what.op, what.module, *what.site, max(here, 1), text)


def _more_often(base: SizeRun, one: Event | None, run: SizeRun, other: Event | None) -> Event:
    """Of two calls, the one whose number is not the same in both runs."""
    found = [event for event in (one, other) if event is not None]
    for event in found:
        if _count(base.events, event) != _count(run.events, event):
            return event
    return found[0]


def _count(events: Iterable[Event], wanted: Event) -> int:
    return sum(event.key == wanted.key for event in events)


def _carried(base: SizeRun, runs: Sequence[SizeRun]) -> Iterator[Site]:
    """Calls that are given other tensors or numbers when the sizes are others."""
    counts: Counter[tuple[object, ...]] = Counter()
    texts: dict[tuple[object, ...], tuple[Called, str]] = {}
    for one, other in _calls_of_both(base, runs[:1]):
        text = difference(one.what, other.what)
        if text:
            counts[one.key] += 1
            texts.setdefault(one.key, (one.what, text))
    varies: dict[tuple[object, ...], set[str]] = {key: set() for key in texts}
    for one, other in _calls_of_both(base, runs[:2]):  # half of one more may be as much as before
        if one.key in varies:
            varies[one.key].update(varying(one.what, other.what))
    for key, (call, text) in texts.items():
        kind, names = SiteKind.DYNAMIC_SIZE, tuple(sorted(varies[key]))
        yield Site(kind, call.op, call.module, *call.site, counts[key], text, names)


def _calls_of_both(base: SizeRun, runs: Sequence[SizeRun]) -> Iterator[tuple[_Call, _Call]]:
    """Each call of the first run with what it is in another."""
    for run in runs:
        for one, other in pairs(base.events, run.events):
            if isinstance(one.what, Called) and isinstance(other.what, Called):
                yield _Call(one.key, one.what), _Call(other.key, other.what)


def _sizes_tried(tried: _Tried) -> tuple[str, ...]:
    runs = (tried.base, *tried.scaled, *tried.apart)
    return (Sentence("sizes tried: {text}", text="; ".join(dict.fromkeys(map(str, runs)))),)
