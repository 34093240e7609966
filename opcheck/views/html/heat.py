"""The heat map: how each target fares with each kind of operator."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from opcheck.model.report import TargetReport
from opcheck.model.verdict import Verdict
from opcheck.views.html import words
from opcheck.views.html.families import family
from opcheck.views.names import short_names


class Cell(Struct, frozen=True):
    """One target and one kind."""

    family: str
    verdict: Verdict | None
    """The worst; None where the target was asked for none of the kind."""
    text: str
    label: str
    """The same in words."""


class Row(Struct, frozen=True):
    """One target."""

    index: int
    name: str
    cells: tuple[Cell, ...]


class HeatMap(Struct, frozen=True):
    """Kinds across, those in most trouble first; targets down, as they were asked for."""

    families: tuple[str, ...]
    rows: tuple[Row, ...]


def heat_map(targets: Sequence[TargetReport]) -> HeatMap:
    """Each operator counts once, at its worst on the target."""
    fares = [_worst(target) for target in targets]
    families = _ordered(fares)
    names = short_names(targets)
    rows = tuple(
        Row(index, name, tuple(_cell(name, kind, found.get(kind, {})) for kind in families))
        for index, (name, found) in enumerate(
            (names[target.target], found) for target, found in zip(targets, fares, strict=True)
        )
    )
    return HeatMap(families, rows)


_Fares = Mapping[str, Mapping[str, Verdict]]
"""Kind -> operator -> its worst verdict."""


def _worst(target: TargetReport) -> _Fares:
    found: dict[str, dict[str, Verdict]] = {}
    for finding in target.findings:
        of_kind = found.setdefault(family(finding.op), {})
        before = of_kind.get(finding.op, finding.verdict)
        of_kind[finding.op] = max(before, finding.verdict, key=lambda verdict: verdict.rank)
    return found


def _ordered(fares: Sequence[_Fares]) -> tuple[str, ...]:
    """Kinds by what is worst in them, by how many operators are off, then by name."""
    badness: dict[str, tuple[int, int]] = {}
    for found in fares:
        for kind, verdicts in found.items():
            worst, off = badness.get(kind, (0, 0))
            badness[kind] = (
                max(worst, *(verdict.rank for verdict in verdicts.values())),
                off + _off(verdicts),
            )
    return tuple(sorted(badness, key=lambda kind: (*(-n for n in badness[kind]), kind)))


def _off(verdicts: Mapping[str, Verdict]) -> int:
    return sum(not verdict.on_device for verdict in verdicts.values())


def _cell(name: str, kind: str, verdicts: Mapping[str, Verdict]) -> Cell:
    if not verdicts:
        return Cell(kind, None, "", "")
    worst = max(verdicts.values(), key=lambda verdict: verdict.rank)
    off = _off(verdicts)
    label = words.cell(off, len(verdicts), name, kind, worst)
    return Cell(kind, worst, f"{off or len(verdicts):,}", label)
