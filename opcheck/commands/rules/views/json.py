"""``opcheck.rules/1`` and ``opcheck.rule-check/1``: the rewrite rules, and trials of them."""

from collections.abc import Sequence

from opcheck.commands.rules.answer import Checked
from opcheck.model.plan import RULE_CHECK_SCHEMA, RULES_SCHEMA, RuleCheck, RuleInfo
from opcheck.views.document.parts import Json, as_text
from opcheck.views.formats import PLAIN, Page


def render(answer: Sequence[RuleInfo] | Checked, page: Page = PLAIN) -> str:
    """Give rules as ``opcheck.rules/1``, trials of them as ``opcheck.rule-check/1``."""
    if isinstance(answer, Checked):
        return as_text(checks_document(answer.checks))
    return as_text(rules_document(answer))


def rules_document(rules: Sequence[RuleInfo]) -> Json:
    """One object for each rule."""
    return {"schema": RULES_SCHEMA, "rules": [_rule(rule) for rule in rules]}


def checks_document(checks: Sequence[RuleCheck]) -> Json:
    """One object for each overload of each rule."""
    found = [
        {
            "rule": one.rule,
            "op": one.op,
            "calls": one.calls,
            "compared": one.compared,
            "wrong": one.wrong,
            "first": one.first,
        }
        for one in checks
    ]
    return {"schema": RULE_CHECK_SCHEMA, "checks": found}


def _rule(rule: RuleInfo) -> Json:
    return {
        "name": rule.name,
        "tier": int(rule.tier),
        "label": rule.label.value,
        "tolerance": rule.tolerance,
        "replaces": list(rule.replaces),
        "summary": rule.summary,
        "gives_up": rule.gives_up,
        "page": rule.page,
        "spellings": list(rule.spellings),
        "patch": rule.code,
        "references": list(rule.references),
    }
