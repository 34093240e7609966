"""What the script of the page works on: every finding, with what they share kept once."""

import json
from collections.abc import Mapping, Sequence

from opcheck.lang.speech import tell, wording
from opcheck.model.plan import Label
from opcheck.model.report import Finding, Report
from opcheck.model.text import printable
from opcheck.model.trace import Phase
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.views.document.parts import Json
from opcheck.views.document.report import finding_value
from opcheck.views.html.heat_map import family
from opcheck.views.html.words import FOR_SCRIPT, SIGNS
from opcheck.views.order import WORST_FIRST
from opcheck.views.targets import short_names

SHARED = ("uses", "evidence", "suggestions", "declined")
"""Keys of a finding whose items stand in tables: targets have most of them in common."""


def embedded(report: Report) -> str:
    """The report as JSON that can stand inside a script element, whatever it holds."""
    return escaped(_document(report))


def escaped(value: object) -> str:
    """A value as JSON for a script element.

    ``<``, ``>`` and ``&`` are escaped, so that nothing in it ends the element, and every
    character that a reader could not see is spelled out, as in a terminal.
    """
    text = json.dumps(shown(value), separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def shown(value: object) -> object:
    """The same value with all texts safe to show."""
    match value:
        case str():
            return printable(value)
        case Mapping():
            return {key: shown(item) for key, item in value.items()}
        case Sequence():
            return [shown(item) for item in value]
        case _:
            return value


class _Table:
    """Distinct items in the order in which they first came."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self.items: list[object] = []

    def place(self, item: object) -> int:
        key = json.dumps(item, sort_keys=True)
        if key not in self._places:
            self._places[key] = len(self.items)
            self.items.append(item)
        return self._places[key]


def _document(report: Report) -> Json:
    tables = {key: _Table() for key in SHARED}
    names = short_names(report.targets)
    return {
        "words": {**translated(FOR_SCRIPT), "names": _names(report)},
        "verdicts": [verdict.value for verdict in WORST_FIRST],
        "signs": [SIGNS[verdict] for verdict in WORST_FIRST],
        "model": report.model.source,
        "targets": [
            {"name": target.target, "short": names[target.target]} for target in report.targets
        ],
        "findings": [
            _finding(finding, index, tables)
            for index, target in enumerate(report.targets)
            for finding in target.findings
        ],
        "tables": {key: table.items for key, table in tables.items()},
    }


def _finding(finding: Finding, target: int, tables: Mapping[str, _Table]) -> Json:
    value = dict(finding_value(finding))
    places = {
        key: [table.place(item) for item in _items(value[key])] for key, table in tables.items()
    }
    reason = {"code": finding.reason.code, "text": tell(finding.reason.text)}
    return {**value, **places, "reason": reason, "target": target, "family": family(finding.op)}


def translated(words: Mapping[str, object]) -> Json:
    """What the script says, in the reader's language; its places are filled in there."""
    return {
        key: translated(said) if isinstance(said, Mapping) else wording(str(said))
        for key, said in words.items()
    }


def _names(report: Report) -> Json:
    """What the page calls names that it works with: verdicts, phases, kinds of operators."""
    kinds = {family(finding.op) for target in report.targets for finding in target.findings}
    names = [name for names in (Verdict, Confidence, Phase, Method, Label) for name in names]
    return {name: tell(name) for name in (*names, *sorted(kinds))}


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
