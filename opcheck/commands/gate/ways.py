"""The way out of a finding that fails, in one line of a comment."""

from collections.abc import Iterator

from opcheck.lang.speech import tell
from opcheck.model.plan import Suggestion
from opcheck.model.report import Finding, Place
from opcheck.views.markdown_text import code, colon, prose
from opcheck.views.terminal import plan_words
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import LABEL_CONTEXT

SHOWN = 3
"""Ways that are named of one finding: more than one where several overloads have to go."""


def ways_out(finding: Finding) -> Iterator[str]:
    """The cheapest for each overload that has to go: tier, what to write, and where."""
    needed = _needed(finding)
    for way in needed[:SHOWN]:
        yield _line(finding, way)
    if len(needed) > SHOWN:
        yield tell(common.and_more(len(needed) - SHOWN, "suggestion"))
    if not finding.verdict.on_device and all(way.is_advice for way in finding.suggestions):
        yield f"**{tell(plan_words.WAY, LABEL_CONTEXT)}** · {tell(plan_words.NO_WAY)}"


def _needed(finding: Finding) -> list[Suggestion]:
    first: dict[tuple[str, tuple[int, ...]], Suggestion] = {}
    for way in finding.suggestions:
        first.setdefault((way.replaces, way.places), way)
    return list(first.values())


def _line(finding: Finding, way: Suggestion) -> str:
    label = tell(plan_words.ADVICE if way.is_advice else plan_words.WAY, LABEL_CONTEXT)
    said = filter(None, (plan_words.kind(way), plan_words.host(way), plan_words.hand(way)))
    told = [f"**{label}**", *map(tell, said), code(way.rule)]
    cost = f" · {tell(plan_words.GIVES_UP, LABEL_CONTEXT)}{colon()}{prose(way.gives_up)}"
    where = _where([finding.uses[i] for i in way.places if i < len(finding.uses)])
    return f"{' · '.join(told)}{colon()}{prose(way.summary)}{cost if way.gives_up else ''}{where}"


def _where(places: list[Place]) -> str:
    """The line of code that is called most, and how many more there are."""
    counts: dict[str, int] = {}
    for place in places:
        name = f"{place.file}:{place.line}" if place.file else place.module
        counts[name] = counts.get(name, 0) + place.count
    first, *rest = sorted(filter(None, counts), key=lambda name: -counts[name]) or [""]
    more = f" {tell(common.and_more(len(rest), 'place'))}" if rest else ""
    return f" · {code(first)}{more}" if first else ""
