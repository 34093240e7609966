"""Rules tried on many random calls, beside the operators that they replace."""

from collections.abc import Iterable, Iterator

from opcheck.model.plan import RuleCheck
from opcheck.rewrite.base import Rule
from opcheck.rewrite.draw import RandomDraw
from opcheck.rewrite.trial import Trial, attempt

CALLS = 200
"""Calls of each overload."""


def checked(rules: Iterable[Rule], calls: int = CALLS) -> Iterator[RuleCheck]:
    """Try every overload that each rule replaces; the same calls every time."""
    for rule in rules:
        for op in rule.replaces:
            yield _checked(rule, op, calls)


def _checked(rule: Rule, op: str, calls: int) -> RuleCheck:
    compared = 0
    wrong: list[Trial] = []
    for seed in range(calls):
        trial = attempt(rule, op, RandomDraw(seed))
        compared += not trial.skipped
        if trial.wrong:
            wrong.append(trial)
    small = min(wrong, key=lambda trial: trial.size, default=None)
    text = f"{small.call}: {small.wrong}" if small else ""
    return RuleCheck(rule.name, op, calls, compared, len(wrong), text)
