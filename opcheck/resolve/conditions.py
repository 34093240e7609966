"""Which conditions of the matrix match one use, and the sentence of each."""

from opcheck.lang.sentence import Sentence, place_names
from opcheck.model.matrix import Condition
from opcheck.model.predicates import Match
from opcheck.model.trace import Node


def matches(condition: Condition, node: Node) -> tuple[Match, ...] | None:
    """Give what each predicate of the condition matched; None where one matches nothing."""
    found: list[Match] = []
    for predicate in condition.predicates:
        match = predicate.match(node)
        if match is None:
            return None
        found.append(match)
    return tuple(found)


def sentence(condition: Condition, matched: tuple[Match, ...], chip: str) -> Sentence:
    """The condition's sentence for this use."""
    argument, actual = matched[0] if matched else ("", "")
    known = {"argument": argument, "actual": actual, "chip": chip}
    named = place_names(condition.text)
    return Sentence(condition.text, **{name: known[name] for name in known if name in named})
