"""A wrapper that pads, found by trying, and compared with the model itself at several sizes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from msgspec import Struct
from msgspec.structs import replace
from torch import nn

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.padding import (
    CutResult,
    PadCheck,
    PaddedAxis,
    PaddedInput,
    PadRun,
    PadSpec,
)
from opcheck.rewrite.padding import runs
from opcheck.rewrite.padding.axes import Group, choices, grouped, sizes_of, told
from opcheck.rewrite.padding.bucketed import Cut, Plan
from opcheck.rewrite.padding.caches import static_cache
from opcheck.rewrite.padding.choosing import cuts, plans
from opcheck.rewrite.padding.fixed import fixed_forms
from opcheck.rewrite.padding.module import loaded, module_text
from opcheck.rewrite.padding.runs import DRAWS, Compared, Ran
from opcheck.trace.run import as_module, reproducible
from opcheck.trace.sizes.runs import Axis, alike, axes_of, parameters

Chosen = Mapping[Group, int]


class _Case(Struct, frozen=True):
    """One choice of sizes, what the model is given, and what it gives by itself."""

    chosen: Chosen
    given: tuple[tuple[Any, ...], dict[str, Any]]
    plain: Ran


class _Model(Struct, frozen=True):
    """The model with its example."""

    module: nn.Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    names: tuple[str, ...]
    dtype: torch.dtype

    def case(self, chosen: Chosen, seed: int) -> _Case:
        """Run the model itself with these sizes."""
        sizes = sizes_of(chosen)
        given = runs.inputs(self.module, self.args, self.kwargs, self.names, sizes, seed)
        return _Case(chosen, given, runs.run(self.module, *given))


def padded(
    module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], spec: PadSpec, source: str
) -> PadRun:
    """A module with a wrapper of the model, tried at several sizes in each bucket.

    Raises:
        UsageError: there is no such input or dimension.
        TraceError: the model cannot be run with the inputs that it has.
    """
    axes = axes_of(spec.dynamic, module, args, kwargs)
    others = alike(axes, module, args, kwargs)
    names = tuple(parameters(module))
    cache, codes = static_cache(module), fixed_forms(spec.by_data)
    module = as_module(module)
    with reproducible(module):
        dtype = runs.widened(module, args, kwargs)
        args, kwargs = runs.cast(dtype, args, kwargs)
        model = _Model(module, args, kwargs, names, dtype)
        first = runs.run(module, args, kwargs)
        if first.error:
            raise TraceError(Sentence("a run on the host fails: {text}", text=first.error))
        groups, notes = _groups(model, axes, others, spec)
        return replace(_wrapped(model, groups, notes, spec, source), codes=codes, cache=cache)


def _groups(
    model: _Model, axes: Sequence[Axis], others: Sequence[Axis], spec: PadSpec
) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    """What varies together: what is marked, and what looks alike where nothing runs without."""
    groups = grouped(axes, spec.buckets)
    if not others or _runs(model, groups):
        return groups, ()
    again = grouped((*axes, *others), spec.buckets)
    if not _runs(model, again):
        return groups, ()
    names = ", ".join(map(str, others))
    return again, (
        Sentence(
            "{text} was changed along with what --dynamic marks: other sizes fail without it",
            text=names,
        ),
    )


def _runs(model: _Model, groups: Sequence[Group]) -> bool:
    return any(not model.case(chosen, 0).plain.error for chosen in choices(groups)[-3:])


def _wrapped(
    model: _Model,
    groups: tuple[Group, ...],
    notes: tuple[str, ...],
    spec: PadSpec,
    source: str,
) -> PadRun:
    cases, refused = _cases(model, groups)
    notes = (*notes, *_refusals(refused))
    axes = tuple(_axis(model, group, groups, cases) for group in groups)
    empty = PadRun(axes, draws=DRAWS, dtype=_name(model.dtype), notes=notes)
    reason = _no_cases(groups, cases, refused)
    found = "" if reason else cuts([(case.chosen, case.plain) for case in cases])
    if isinstance(found, str):
        return _without(empty, reason or found)
    plan, text = _plan(model, groups, cases, found, spec, source)
    wrapped = loaded(text)(model.module)
    checks = [_check(model, wrapped, case, groups) for case in cases]
    leaves = cases[0].plain
    return PadRun(
        axes=axes,
        inputs=tuple(_inputs(plan, model.names)),
        cuts=tuple(_told_cut(cut, leaves.names) for cut in plan.cuts),
        checks=tuple(_worst_of_draws(checks)),
        results=sum(isinstance(leaf, torch.Tensor) for leaf in leaves.leaves),
        draws=DRAWS,
        dtype=_name(model.dtype),
        notes=(*notes, *_no_tensors(leaves)),
        text=text,
    )


def _without(run: PadRun, reason: str) -> PadRun:
    return PadRun(run.axes, draws=run.draws, dtype=run.dtype, notes=run.notes, reason=reason)


def _cases(model: _Model, groups: Sequence[Group]) -> tuple[list[_Case], list[_Case]]:
    """Those that the model itself runs, and those that it refuses; drawn values may be refused."""
    done: list[_Case] = []
    refused: list[_Case] = []
    for chosen in choices(groups):
        here = [model.case(chosen, seed) for seed in range(DRAWS)]
        done += [case for case in here if not case.plain.error]
        refused += [case for case in here[:1] if case.plain.error]
    return done, refused


def _no_cases(groups: Sequence[Group], cases: Sequence[_Case], refused: Sequence[_Case]) -> str:
    """Why there is nothing to compare with in some bucket."""
    if not cases and not refused:
        return Sentence("no bucket has room for a size that is not its own; give larger --buckets")
    for group in groups:
        ran = {group.bucket(case.chosen[group]) for case in cases}
        for bucket in sorted({group.bucket(size) for size in group.tried()} - ran):
            return Sentence(
                "the model itself takes no size that is padded to {name} = {count}, so that "
                "nothing can be compared there",
                name=group.name,
                count=bucket,
            )
    return ""


def _refusals(refused: Sequence[_Case]) -> Iterator[str]:
    if refused:
        yield Sentence(
            "the model itself does not take {text}: {text_why}",
            text="; ".join(told(case.chosen) for case in refused),
            text_why=refused[0].plain.error,
        )


def _no_tensors(ran: Ran) -> Iterator[str]:
    for name, leaf in zip(ran.names, ran.leaves, strict=True):
        if not isinstance(leaf, (torch.Tensor, int, float, str, type(None))):
            yield Sentence(
                "{name} is {kind}, which cannot be cut: the wrapper gives None for it",
                name=name,
                kind=type(leaf).__name__,
            )


def _plan(
    model: _Model,
    groups: Sequence[Group],
    cases: Sequence[_Case],
    found: tuple[Cut, ...],
    spec: PadSpec,
    source: str,
) -> tuple[Plan, str]:
    """The first way to pad that holds in two cases; where none does, the likeliest."""
    inputs: dict[int | str, Any] = dict(enumerate(model.args))
    inputs.update(model.kwargs)
    known = [plan._replace(cuts=found) for plan in plans(model.module, model.names, inputs, groups)]
    texts = [module_text(plan, source, spec.target) for plan in known]
    for plan, text in zip(known, texts, strict=True):
        wrapped = loaded(text)(model.module)
        if all(_check(model, wrapped, case, groups).holds for case in (cases[-1], cases[0])):
            return plan, text
    return known[0], texts[0]


def _check(model: _Model, wrapped: nn.Module, case: _Case, groups: Sequence[Group]) -> PadCheck:
    with runs.given_to(model.module) as seen:
        ran = runs.run(wrapped, *case.given)
    assert ran.error or _in_buckets(seen, case), "the model is called with sizes of buckets alone"
    worst = (
        Compared("output", None, 0.0) if ran.error else runs.compared(case.plain, ran, model.dtype)
    )
    return PadCheck(
        told(case.chosen), told(case.chosen, Group.bucket), worst.name, worst.difference,
        worst.allowed, ran.error,
    )  # fmt: skip


def _in_buckets(seen: Mapping[int | str, Any], case: _Case) -> bool:
    return all(
        runs.size_of(seen[axis.key], axis.dim) == group.bucket(size)
        for group, size in case.chosen.items()
        for axis in group.axes
    )


def _worst_of_draws(checks: Sequence[PadCheck]) -> Iterator[PadCheck]:
    """One check for each choice of sizes."""
    by_sizes: dict[str, list[PadCheck]] = {}
    for check in checks:
        by_sizes.setdefault(check.sizes, []).append(check)
    for same in by_sizes.values():
        yield max(same, key=lambda check: check.excess)


def _axis(
    model: _Model, group: Group, groups: Sequence[Group], cases: Sequence[_Case]
) -> PaddedAxis:
    largest = {other: other.buckets[-1] for other in groups}
    smallest = min((case.chosen[group] for case in cases), default=group.buckets[-1])
    for bucket in group.buckets:
        if bucket >= smallest:
            break
        if not model.case({**largest, group: bucket}, 0).plain.error:
            smallest = bucket
    members = tuple(axis.name for axis in group.axes)
    return PaddedAxis(group.name, members, group.buckets, smallest)


def _inputs(plan: Plan, names: Sequence[str]) -> Iterator[PaddedInput]:
    made = {one.key for one in plan.made}
    for one in plan.padded:
        name = one.key if isinstance(one.key, str) else _named(one.key, names)
        value = "" if one.value is None else repr(one.value)
        yield PaddedInput(f"{name}:{one.dim}", value, name in made)


def _named(place: int, names: Sequence[str]) -> str:
    return names[place] if place < len(names) else str(place)


def _told_cut(cut: Cut, names: Sequence[str]) -> CutResult:
    size = cut.axis
    if cut.times != 1:
        size += f" * {cut.times}"
    if cut.plus:
        size = f"{size} {'+' if cut.plus > 0 else '-'} {abs(cut.plus)}"
    if cut.per != 1:
        size = f"({size}) // {cut.per}" if cut.plus or cut.times != 1 else f"{size} // {cut.per}"
    return CutResult(names[cut.result], cut.dim, cut.axis, size)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
