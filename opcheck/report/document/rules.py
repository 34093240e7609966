"""``opcheck.rules/1``: the rewrite rules."""

from collections.abc import Sequence

from opcheck.model.rule import SCHEMA, RuleInfo
from opcheck.report.document.parts import Json


def rules_document(rules: Sequence[RuleInfo]) -> Json:
    """One object for each rule."""
    return {"schema": SCHEMA, "rules": [_rule(rule) for rule in rules]}


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
