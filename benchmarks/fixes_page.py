"""The page of fixes, made from what was found."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.zoo_fixes import Outcome
from opcheck.model.plan import Compared


@dataclass
class Tally:
    """What was found on one target."""

    missing: dict[str, list[int]] = field(default_factory=dict)
    """Overload that keeps calls off the device -> how many distinct ones have a fix, and how
    many have none."""
    models: int = 0
    off: list[str] = field(default_factory=list)
    """Models with a call that leaves the device."""
    planned: int = 0
    """Models of which none would once the plan is followed."""


_HEAD = """\
# Fixes

For each target: the overloads that it lacks, or refuses as they were called, among PyTorch's own
samples of its operators (float32, else int64, the first three of each) and the models of
`tests/zoo`; and on how many of those `opcheck plan` finds a fix in tiers 1 to 3 that was
recorded to run as what the target has and measured beside the original. Written by
`python -m benchmarks.fixes`.

| target | missing overloads | all calls have one | some | share |
| --- | ---: | ---: | ---: | ---: |
"""
_MODELS = """
## Models

Of {models} models: how many have every call on the device today, how many would once the plan is
followed, and how many do once they are fixed with `opcheck fix --shim --allow approximate` and run
on the emulated device, with values, their results as near to the unchanged model's as what was
followed promises.

| target | today | planned | fixed and run |
| --- | ---: | ---: | ---: |
"""
_EACH = """
### Each model that is not wholly on a device today

The largest difference of a result and of a gradient, and how far each may be off: as far as the
model's own move when what was replaced moves by what its label states, and as far as the emulated
device is off without any change.

| model | on | followed | wholly there once fixed | results | gradients |
| --- | --- | --- | --- | --- | --- |
"""
_NEWER = """
Torch {torch}, which they ran with, asks on some for what the target's own does not: {ops}.
"""
_WITHOUT = """
## Without a fix

| overload | on |
| --- | --- |
"""


def page(found: Mapping[str, Tally], outcomes: Sequence[Outcome], torch: str) -> str:
    """The whole page: what was found on each target, and what became of the models fixed."""
    (models,) = {tally.models for tally in found.values()}
    return "".join(
        [
            _HEAD,
            *(_overloads(target, tally) for target, tally in found.items()),
            _MODELS.format(models=models),
            *(_models(target, tally, outcomes) for target, tally in found.items()),
            _EACH,
            *_each(outcomes),
            *_newer(outcomes, torch),
            _WITHOUT,
            *_without(found),
        ]
    )


def _overloads(target: str, tally: Tally) -> str:
    served = sum(not lost for _, lost in tally.missing.values())
    partly = sum(bool(good and lost) for good, lost in tally.missing.values())
    share = served / len(tally.missing) if tally.missing else 1.0
    return f"| {target} | {len(tally.missing)} | {served} | {partly} | {share:.1%} |\n"


def _models(target: str, tally: Tally, outcomes: Sequence[Outcome]) -> str:
    today = tally.models - len(tally.off)
    fixed = today + sum(made.whole for made in outcomes if made.target == target)
    return f"| {target} | {today} | {tally.planned} | {fixed} |\n"


def _each(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """A line for what became of a model, with the targets that it is the same on."""
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for made in sorted(outcomes, key=lambda made: made.model):
        whole = "yes" if made.whole else f"no: {'; '.join(made.why)}"
        cells = (made.allowed, whole, _off(made.forward), _off(made.backward))
        alike[made.model, *cells].append(_short(made.target))
    for (model, *told), targets in alike.items():
        yield f"| {' | '.join([model, ', '.join(targets), *told])} |\n"


def _off(found: Compared | None) -> str:
    """How far off, and how far it may be."""
    if found is None:
        return "not compared"
    if found.difference == 0.0:
        return "equal"
    off = "NaN or inf" if found.difference is None else f"{found.difference:.1e}"
    return off if found.allowed is None else f"{off} of {found.allowed:.1e}"


def _newer(outcomes: Sequence[Outcome], torch: str) -> Iterator[str]:
    ops = sorted({op for made in outcomes for op in made.newer})
    if ops:
        yield _NEWER.format(torch=torch, ops=", ".join(f"`{op}`" for op in ops))


def _without(found: Mapping[str, Tally]) -> Iterator[str]:
    targets: dict[str, list[str]] = defaultdict(list)
    for target, tally in found.items():
        for op, (good, lost) in tally.missing.items():
            if lost:
                some = f" ({lost} of {good + lost} calls)" if good else ""
                targets[op].append(_short(target) + some)
    for op, names in sorted(targets.items(), key=lambda item: (-len(item[1]), item[0])):
        on = "all" if len(names) == len(found) else ", ".join(names)
        yield f"| `{op}` | {on} |\n"


def _short(target: str) -> str:
    """A target without its torch."""
    return target.partition("+")[0]
