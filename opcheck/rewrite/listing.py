"""The rules as people read of them."""

import difflib
import inspect
from collections.abc import Sequence

from opcheck.errors import UsageError
from opcheck.model.plan import RuleInfo
from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.text import standalone
from opcheck.rewrite.ways import way_called


def described(name: str = "", extra: Sequence[Rule] = ()) -> tuple[RuleInfo, ...]:
    """The rules asked for, by tier and name, see :func:`named`; or the way out of that name."""
    if way := way_called(name):
        return (way,)
    return tuple(_described(r) for r in sorted(named(name, extra), key=lambda r: (r.tier, r.name)))


def named(name: str = "", extra: Sequence[Rule] = ()) -> tuple[Rule, ...]:
    """Every rule, or the one of a name, or those for an overload; ``extra`` are the user's.

    Raises:
        UsageError: no rule has that name, nor replaces such an overload.
    """
    known = (*rules(), *extra)
    found = tuple(rule for rule in known if not name or _asked(rule, name))
    if not found:
        near = difflib.get_close_matches(name, [rule.name for rule in known], n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "opcheck rules lists them"
        raise UsageError(f"no rule is called {name!r}, nor replaces such an overload", hint)
    return found


def _asked(rule: Rule, name: str) -> bool:
    operators = {op.partition(".")[0] for op in rule.replaces}
    spelled = name if "::" in name else f"aten::{name}"
    return name == rule.name or spelled in rule.replaces or spelled in operators


def _described(rule: Rule) -> RuleInfo:
    return RuleInfo(
        name=rule.name,
        tier=rule.tier,
        label=rule.label,
        tolerance=rule.tolerance,
        replaces=rule.replaces,
        summary=rule.summary,
        gives_up=rule.gives_up,
        page=inspect.getdoc(type(rule)) or "",
        spellings=(*rule.spellings, *rule.spelled),
        code=standalone(type(rule).replace),
        references=rule.references,
    )
