"""One entry of the list: an operator, or several of which the same is said."""

from collections.abc import Iterable, Mapping, Sequence

from opcheck.lang.speech import tell
from opcheck.model.plan import Suggestion
from opcheck.model.report import Place
from opcheck.model.trace import Phase
from opcheck.model.verdict import Evidence
from opcheck.views.markdown.escape import code, colon, prose
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import LABEL_CONTEXT
from opcheck.views.terminal.groups import Block, Row
from opcheck.views.terminal.units import plural, source

INSTEAD = "instead"
SHOWN = 3
"""Places, facts and ways out that are named of one operator."""
ROWS = 20
"""Operators that are named of several alike."""
NAMED = 10
"""Targets that are named of one entry."""


def apart(block: Block) -> Sequence[Block]:
    """The findings one by one where each has its own way out, else together."""
    ways = any(group.first.suggestions for group in block.groups)
    return [Block((group,)) for group in block.groups] if ways else [block]


def entry(block: Block, names: Mapping[str, str]) -> str:
    """The verdict is the heading's; then operator, where, why, evidence and suggestion.

    ``names``: what the targets are called.
    """
    rows = block.rows
    alone = len(rows) == 1
    facts = [
        tell(f"{block.first.confidence} confidence"),
        named([names[one] for one in block.targets]),
    ]
    title = (
        _row(rows[0]) if alone else f"**{tell(plural(len(rows), 'operator'))}**, {_calls(block)}"
    )
    lines = [f"- {title} · {' · '.join(facts)}"]
    lines += [f"  - {line}" for line in (_places(rows[0].uses) if alone else _rows(rows))]
    for (text, evidence), targets in block.said.items():
        of = f" ({named([names[one] for one in targets])})" if len(block.said) > 1 else ""
        lines.append(f"  - {tell(words.WHY, LABEL_CONTEXT)}{of}{colon()}{prose(text)}")
        lines += [
            f"  - {tell(words.EVIDENCE, LABEL_CONTEXT)}{colon()}{known}"
            for known in _known(evidence)
        ]
    lines += [f"  - {line}" for line in _instead(block.first.suggestions)]
    return "".join(f"{line}\n" for line in lines)


def named(targets: Sequence[str]) -> str:
    """Targets as code, as far as they can be read."""
    more = (
        f" {tell(words.and_more(len(targets) - NAMED, 'target'))}" if len(targets) > NAMED else ""
    )
    return ", ".join(map(code, targets[:NAMED])) + more


def _row(row: Row) -> str:
    phase = "" if row.phase is Phase.FORWARD else f" · {tell(row.phase)}"
    return f"**{code(row.op)}** · {tell(plural(row.count, 'call'))}{phase}"


def _calls(block: Block) -> str:
    return tell(plural(block.count, "call"))


def _rows(rows: Sequence[Row]) -> Iterable[str]:
    for row in rows[:ROWS]:
        first = next(iter(_places(row.uses)), "")
        yield f"{_row(row)}{f' · {first}' if first else ''}"
    if len(rows) > ROWS:
        yield tell(words.and_more(len(rows) - ROWS, "operator"))


def _places(uses: Iterable[Place]) -> Iterable[str]:
    """Each line and module once, the most called first."""
    counts: dict[tuple[str, int, str], int] = {}
    for use in uses:
        key = (use.file, use.line, use.module)
        counts[key] = counts.get(key, 0) + use.count
    places = sorted(counts.items(), key=lambda item: (not item[0][0], -item[1]))
    for (file, number, module), count in places[:SHOWN]:
        line = code(f"{file}:{number}") if file else ""
        module = f"{tell(words.IN)} {code(module)}" if module else "" if file else tell(words.ROOT)
        yield f"{' '.join(filter(None, (line, module)))} ({tell(plural(count, 'call'))})"
    if len(places) > SHOWN:
        yield tell(words.and_more(len(places) - SHOWN, "place"))


def _known(evidence: Sequence[Evidence]) -> Iterable[str]:
    for known in evidence[:SHOWN]:
        yield f"{tell(known.method)}{colon()}{code(source(known, verbose=False))}"
    if len(evidence) > SHOWN:
        yield tell(words.and_more(len(evidence) - SHOWN, "fact"))


def _instead(suggestions: Sequence[Suggestion]) -> Iterable[str]:
    for found in suggestions[:SHOWN]:
        name = f"{tell(INSTEAD)} ({tell(found.label)}, {code(found.rule)})"
        yield f"{name}{colon()}{prose(found.summary)}"
    if len(suggestions) > SHOWN:
        yield tell(words.and_more(len(suggestions) - SHOWN, "suggestion"))
