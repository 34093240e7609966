"""What may be called in a user's source instead of the calls that a rule knows the spelling of."""

from collections.abc import Iterable, Mapping

from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.swapping import Form
from opcheck.rewrite.text import standalone


def forms_of(name: str, extra: Iterable[Rule] = ()) -> Mapping[str, Form]:
    """Spelling -> what to call for it; empty where no rule of that name knows any.

    Args:
        name: of a rule.
        extra: rules of the user's.
    """
    rule = next((rule for rule in (*extra, *rules()) if rule.name == name), None)
    if rule is None:
        return {}
    functions = {spelling: type(rule).replace for spelling in rule.spellings} | dict(rule.spelled)
    return {
        spelling: Form(standalone(function), function.__name__)
        for spelling, function in functions.items()
    }
