"""One finding on one target as a result."""

from collections.abc import Mapping

from opcheck.model.plan import Suggestion
from opcheck.model.report import Finding, Report, TargetReport
from opcheck.views.document.parts import Json, evidence_value
from opcheck.views.problems import places, sentence, where
from opcheck.views.sarif.rules import LEVELS, rule_id
from opcheck.views.sarif.text import line, message

MOST_RELATED = 100
"""Places beside the first that code scanning shows of one result."""


def result(
    report: Report, target: TargetReport, finding: Finding, rule: int, names: Mapping[str, str]
) -> Json:
    """The result, at the place with the most calls; ``rule`` is its rule's index.

    ``names``: what targets are called whichever release they are of.
    """
    others = places(finding)[1:]
    told = sentence(target, finding)
    if len(others) > MOST_RELATED:
        told += f" {len(others) - MOST_RELATED:,} more places are not listed."
    value: dict[str, object] = {
        "ruleId": rule_id(finding),
        "ruleIndex": rule,
        "level": LEVELS[finding.verdict],
        "message": message(told),
        "locations": [_location(report, finding)],
        "partialFingerprints": {
            "opcheckFinding/v1": finding.id,
            "primaryLocationLineHash": f"{finding.id}:{names[target.target]}",
        },
        "properties": _properties(target, finding),
    }
    if others:
        value["relatedLocations"] = [
            {
                "id": number,
                "physicalLocation": line(place.file, place.line),
                "message": message(f"Also called here, in {place.module or 'the model itself'}."),
            }
            for number, place in enumerate(others[:MOST_RELATED])
        ]
    if finding.count:
        value["occurrenceCount"] = finding.count
    return value


def _location(report: Report, finding: Finding) -> Json:
    """A line of code, and the modules that the operator is called in."""
    modules = dict.fromkeys(use.module for use in finding.uses if use.module)
    location: dict[str, object] = {"physicalLocation": line(*where(report, finding))}
    if modules:
        location["logicalLocations"] = [
            {"fullyQualifiedName": name, "kind": "module"} for name in modules
        ]
    return location


def _properties(target: TargetReport, finding: Finding) -> Json:
    return {
        "target": target.target,
        "operator": finding.op,
        "verdict": finding.verdict.value,
        "reason": finding.reason.code,
        "confidence": finding.confidence.value,
        "phase": finding.phase.value,
        "evidence": [evidence_value(evidence) for evidence in finding.evidence],
        "suggestions": [_suggestion(found) for found in finding.suggestions],
    }


def _suggestion(found: Suggestion) -> Json:
    return {"rule": found.rule, "label": found.label.value, "summary": found.summary}
