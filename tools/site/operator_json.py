"""The JSON beside the page of an operator: each condition and each source once."""

from collections.abc import Mapping, Sequence

from opcheck.model.target import Target
from opcheck.model.verdict import Evidence
from opcheck.views.conditions import sentence
from opcheck.views.document.parts import Json, evidence_value
from tools.site.known import VERDICTS, named, overload_of
from tools.site.operators import Cell, Group, Operator, Overload, Row, Stated, Way

OPERATOR_SCHEMA = "opcheck.site.operator/1"
_COMMIT = 12
"""Digits of a commit: its repository has one that begins so."""


def document(operator: Operator, vendors: Mapping[str, Sequence[Target]]) -> Json:
    """The page as JSON; numbers under ``evidence`` are places in the list of that name.

    Where something is so of all of several targets of a vendor, that is named in their place.

    What conditions test is left out: their sentences say it, and ``opcheck explain`` has it.
    """
    sources = _Sources()
    found: dict[str, object] = {
        "schema": OPERATOR_SCHEMA,
        "operator": operator.base,
        "overloads": [_overload(overload, sources, vendors) for overload in operator.overloads],
        "targets": [_row(row, operator) for row in operator.rows],
        "conditions": [_stated(stated, sources, vendors) for stated in operator.stated],
    }
    return {**found, "evidence": sources.values}


class _Sources:
    """Every source once, in the order in which they first came."""

    def __init__(self) -> None:
        self._places: dict[Evidence, int] = {}
        self.values: list[Json] = []

    def places(self, facts: Sequence[Evidence]) -> list[int]:
        """Where the list has these facts."""
        return [self._place(fact) for fact in facts]

    def _place(self, fact: Evidence) -> int:
        if fact not in self._places:
            self._places[fact] = len(self.values)
            value = {**evidence_value(fact), "commit": fact.commit[:_COMMIT]}
            self.values.append(_filled(value))
        return self._places[fact]


def _filled(value: Json) -> Json:
    """Without keys of which there is nothing to say."""
    return {key: one for key, one in value.items() if one not in ("", None, [], {})}


def _names(targets: Sequence[Target]) -> list[str]:
    return [target.name for target in targets]


def _overload(
    overload: Overload, sources: _Sources, vendors: Mapping[str, Sequence[Target]]
) -> Json:
    span = overload.torch_range
    return _filled({
        "op": overload.op,
        "torch_range": None if span is None else {"first": span[0], "last": span[1]},
        "package": overload.package,
        "groups": [_group(group, sources, vendors) for group in overload.groups],
        "runs_as": [_way(way, sources) for way in overload.ways],
    })  # fmt: skip


def _group(group: Group, sources: _Sources, vendors: Mapping[str, Sequence[Target]]) -> Json:
    found = group.explanation
    return _filled({
        "targets": list(named(group.targets, vendors)),
        "verdict": found.verdict.value,
        "confidence": found.confidence.value,
        "reason": {"code": found.reason.code, "text": str(found.reason.text)},
        "implementation": list(found.implementation),
        "evidence": sources.places(found.evidence),
        "backend": [
            {
                "verdict": row.verdict.value,
                "text": str(row.text),
                "evidence": sources.places(row.evidence),
            }
            for row in found.backend
        ],
    })  # fmt: skip


def _way(way: Way, sources: _Sources) -> Json:
    return _filled({
        "devices": list(way.devices),
        "recorded_on": way.recorded_on,
        "branches": list(map(list, way.branches)),
        "choices": [
            _filled({
                "asks": None if choice.asks is None else list(choice.asks),
                "text": str(choice.text),
                "evidence": sources.places(choice.evidence),
            })
            for choice in way.choices
        ],
    })  # fmt: skip


def _row(row: Row, operator: Operator) -> Json:
    cells = zip(operator.overloads, row.cells, strict=True)
    return {
        "names": _names(row.targets),
        "verdicts": {
            overload_of(overload.op): _cell(cell) for overload, cell in cells if cell is not None
        },
    }


def _cell(cell: Cell) -> Json:
    return _filled({
        "verdict": VERDICTS[cell.letter].value,
        "history": [
            {"since": release, "verdict": VERDICTS[letter].value if letter in VERDICTS else None}
            for release, letter in cell.changes
        ],
        "dtypes": {dtype: VERDICTS[letter].value for dtype, letter in cell.dtypes},
    })  # fmt: skip


def _stated(stated: Stated, sources: _Sources, vendors: Mapping[str, Sequence[Target]]) -> Json:
    first = stated.conditions[0]
    return {
        "code": first.code,
        "verdict": first.verdict.value,
        "confidence": first.confidence.value,
        "text": str(sentence(stated.conditions, "{chip}")),
        "holds": [
            {"ops": list(ops), "targets": list(named(some, vendors))} for ops, some in stated.holds
        ],
        "evidence": sources.places(first.evidence),
    }
