"""The page of one target: what it runs, what changed, its traps, and what goes with it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from opcheck.commands.db.views.json import database_document
from opcheck.commands.targets.values import TargetRow
from opcheck.db.status import contents
from opcheck.db.versions import version_key
from opcheck.lang.sentence import Sentence, place_names
from opcheck.model.environment import Pairing, Step
from opcheck.model.target import Target
from opcheck.model.verdict import Verdict
from opcheck.views.conditions import sentence
from tools.site.histories import History
from tools.site.known import ABSENT, VERDICTS, Known, base_of, overload_of
from tools.site.operators import conditions_of_all
from tools.site.pages import Pages

TARGET_SCHEMA = "opcheck.site.target/1"
_WORST_FIRST = sorted(Verdict, key=lambda verdict: -verdict.rank)


class Named(Struct, frozen=True):
    """An operator, of which some overloads are meant."""

    base: str
    overloads: tuple[str, ...]
    """Their names; () for all that it has."""


class Fares(Struct, frozen=True):
    """The overloads that fare in one way."""

    verdict: Verdict
    count: int
    operators: tuple[Named, ...]


class Change(Struct, frozen=True):
    """What a release changed."""

    release: str
    before: str
    fares: tuple[Fares, ...]


def write_target(
    pages: Pages,
    known: Known,
    row: TargetRow,
    history: History,
    advisories: frozenset[str],
) -> None:
    """Write the page of a target, and its JSON."""
    target = row.target
    found = contents(known.database, target)
    fares = tuple(_fares(known, {op: said[-1] for op, said in history.verdicts.items()}))
    changes = tuple(_changes(known, history))
    pages.write(
        f"targets/{target.name}",
        "target.html",
        document=_document(row, found, fares, changes),
        row=row,
        contents=found,
        fares=fares,
        every=sum(one.count for one in fares),
        changes=changes,
        advisories=advisories,
        pairings=_pairings(known, target),
        install=_install(known, target),
        remedies=known.database.remedies(target),
        notes=known.matrix(target).advisories,
        everywhere=[
            (one, sentence([one], target.chip)) for one in conditions_of_all(known, target)
        ],
    )


def _fares(known: Known, letters: Mapping[str, str]) -> Iterator[Fares]:
    """Overloads by verdict, the worst first."""
    for verdict in _WORST_FIRST:
        ops = [op for op, letter in letters.items() if VERDICTS.get(letter) is verdict]
        if ops:
            yield Fares(verdict, len(ops), tuple(_named(known, ops)))


def _named(known: Known, ops: Sequence[str]) -> Iterator[Named]:
    by_base: dict[str, list[str]] = {}
    for op in sorted(ops):
        by_base.setdefault(base_of(op), []).append(op)
    for base, some in by_base.items():
        whole = len(some) == len(known.bases[base])
        yield Named(base, () if whole else tuple(map(overload_of, some)))


def _changes(known: Known, history: History) -> Iterator[Change]:
    """What each release changed, the newest first; of overloads that PyTorch has in both."""
    for place in range(len(history.releases) - 1, 0, -1):
        now = {
            op: said[place]
            for op, said in history.verdicts.items()
            if said[place] != said[place - 1] and ABSENT not in said[place - 1 : place + 1]
        }
        fares = tuple(_fares(known, now))
        yield Change(history.releases[place], history.releases[place - 1], fares)


def _pairings(known: Known, target: Target) -> tuple[Pairing, ...]:
    """What goes with releases of a target, the newest first."""
    environment = known.database.environment(target.vendor)
    served = {one.sdk for one in known.database.releases(target.name)}
    found = environment.pairings if environment else ()
    return tuple(one for one in found if one.release in served or not one.release)


class Install(Struct, frozen=True):
    """How the newest release gets onto a machine."""

    by_hand: tuple[Sentence, ...]
    commands: tuple[str, ...]


def _install(known: Known, target: Target) -> Install:
    """The steps for the newest pairing, with its versions filled in."""
    environment = known.database.environment(target.vendor)
    pairings = _pairings(known, target)
    if environment is None or not pairings:
        return Install((), ())
    versions = {**pairings[0].packages, "torch": pairings[0].torch}

    def some(steps: Sequence[Step]) -> Iterator[Sentence]:
        for step in steps:
            lacking = place_names(step.text) - versions.keys()
            if not lacking and _holds(step, pairings[0].torch):
                yield Sentence(step.text, **versions)

    return Install(tuple(some(environment.by_hand)), tuple(map(str, some(environment.install))))


def _holds(step: Step, torch: str) -> bool:
    key = version_key(torch)
    late = not step.since or version_key(step.since) <= key
    return late and (not step.until or key < version_key(step.until))


def _document(
    row: TargetRow, found: object, fares: Sequence[Fares], changes: Sequence[Change]
) -> object:
    """The page as JSON: ``opcheck db show --format json``, with the verdicts of its overloads."""
    shown: Any = database_document(found)  # type: ignore[arg-type]
    shown["show"].pop("operators")  # the verdicts name them
    return {
        "schema": TARGET_SCHEMA,
        "target": str(row.target),
        "name": row.target.name,
        "device_name": row.device_name,
        "releases": list(row.releases),
        "database": shown,
        "verdicts": {one.verdict.value: _listed(one) for one in fares},
        "changes": [
            {
                "release": change.release,
                "before": change.before,
                "now": {one.verdict.value: _listed(one) for one in change.fares},
            }
            for change in changes
        ],
    }


def _listed(fares: Fares) -> object:
    """Overloads by operator; an empty list stands for all that it has."""
    return {named.base: list(named.overloads) for named in fares.operators}
