"""``opcheck.rules/1`` and ``opcheck.rule-check/1``: the rewrite rules, and trials of them."""

from collections.abc import Sequence

from opcheck.model.rule import CHECK_SCHEMA, SCHEMA, RuleCheck, RuleInfo
from opcheck.report.document.parts import Json


def rules_document(rules: Sequence[RuleInfo]) -> Json:
    """One object for each rule."""
    return {"schema": SCHEMA, "rules": [_rule(rule) for rule in rules]}


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
    return {"schema": CHECK_SCHEMA, "checks": found}


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
