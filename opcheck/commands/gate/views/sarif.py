"""A gate's answer as one run of SARIF 2.1.0."""

from collections.abc import Iterator, Mapping

from opcheck.commands.gate import sentences
from opcheck.commands.gate.sentences import excused, finding_sentence, pairs
from opcheck.commands.gate.values import Breach, GateResult, Judged, Limit, Standing
from opcheck.errors import ExitCode
from opcheck.lang.speech import Language, speaking
from opcheck.model.report import TargetReport
from opcheck.site import GATE
from opcheck.views.document.parts import Json, as_text
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import model_file
from opcheck.views.order import arranged
from opcheck.views.report.sarif import (
    descriptor,
    line,
    log,
    message,
    notification,
    numbered,
    result,
    rule_id,
    run_properties,
)
from opcheck.views.targets import short_names

LEVELS = {
    Standing.FAILS: "error",
    Standing.UNCHANGED: "warning",
    Standing.WAIVED: "note",
    Standing.BASELINED: "note",
    Standing.UNSURE: "note",
    Standing.ALLOWED: "note",
}
SUPPRESSED = frozenset({Standing.WAIVED, Standing.BASELINED})
"""What somebody has accepted, in a file outside of the model's code."""
_LIMITS = {
    Limit.SUPPORT_RATE: "Too small a share of the operators runs natively",
    Limit.ISLANDS: "Fallbacks cut the model into too many partitions",
    Limit.FALLBACK_BYTES: "Fallbacks move too many bytes",
}


def render(found: GateResult, page: Page = PLAIN) -> str:
    """Give the log as JSON, in English, as any log is."""
    with speaking(Language.ENGLISH):
        return as_text(gate_log(found))


def gate_log(found: GateResult) -> Json:
    """The whole log; of what passes only that is a result which is no good news."""
    report = arranged(found.report)
    rules = dict(_rules(found))
    numbers = numbered(rules)
    standings = {f"{standing}": count for standing, count in found.standings.items()}
    properties = {**run_properties(report), "passed": found.passed, "standings": standings}
    return log(
        report,
        "opcheck gate",
        rules,
        [*_limits(found, numbers), *_findings(found, numbers)],
        _invocation(found),
        properties,
    )


def _rules(found: GateResult) -> Iterator[tuple[str, Json]]:
    for target in found.targets:
        for breach in target.breaches:
            yield _limit_id(breach), _limit_rule(breach)
        for one in target.judged:
            yield rule_id(one.finding), descriptor(one.finding)


def _limit_id(breach: Breach) -> str:
    return f"limit/{breach.limit}"


def _limit_rule(breach: Breach) -> Json:
    text = f"{_LIMITS[breach.limit]}."
    return {
        "id": _limit_id(breach),
        "name": "".join(word.capitalize() for word in f"limit-{breach.limit}".split("-")),
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {
            "text": f"{text} The project's policy sets {breach.limit}.",
            "markdown": f"{text} The project's policy sets `{breach.limit}`.",
        },
        "helpUri": GATE,
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["compatibility", "limit"], "problem.severity": "error"},
    }


def _limits(found: GateResult, numbers: Mapping[str, int]) -> Iterator[Json]:
    names = short_names(found.report.targets)
    for gate, target in pairs(found):
        for breach in gate.breaches:
            standing = Standing.UNCHANGED if breach.unchanged else Standing.FAILS
            standing = Standing.BASELINED if breach.baselined else standing
            key = f"{breach.limit}:{names[target.target]}"
            told = "in the baseline" if breach.baselined else ""
            yield {
                "ruleId": _limit_id(breach),
                "ruleIndex": numbers[_limit_id(breach)],
                "message": message(f"{target.target}: {sentences.broken(breach)}"),
                "locations": [{"physicalLocation": line(model_file(found.report), 1)}],
                "partialFingerprints": {"primaryLocationLineHash": key},
                "properties": {"target": target.target, "standing": standing.value},
                **_standing(standing, told),
            }


def _findings(found: GateResult, numbers: Mapping[str, int]) -> Iterator[Json]:
    names = short_names(found.report.targets)
    for gate, target in pairs(found):
        for one in gate.judged:
            yield _finding(found, target, one, numbers, names)


def _finding(
    found: GateResult,
    target: TargetReport,
    one: Judged,
    numbers: Mapping[str, int],
    names: Mapping[str, str],
) -> Json:
    value = result(found.report, target, one.finding, numbers[rule_id(one.finding)], names)
    shown: Mapping[str, object] = value["properties"]  # type: ignore[assignment]  # as results.py has it
    if not one.finding.op:
        value = {**value, "message": message(finding_sentence(target, one.finding))}
    properties = {**shown, "standing": one.standing.value, "cause": one.cause.value}
    why = excused(found, one)
    return {**value, "properties": properties, **_standing(one.standing, why)}


def _standing(standing: Standing, why: str) -> Json:
    """Level and suppressions: where one result has a list of them, even empty, every one must."""
    suppression = {"kind": "external", "status": "accepted", "justification": why}
    return {
        "level": LEVELS[standing],
        "suppressions": [suppression] if standing in SUPPRESSED else [],
    }


def _invocation(found: GateResult) -> Json:
    told = [notification("note", sentences.hidden(found))]
    told += [notification("warning", text) for text in sentences.warnings(found)]
    code = ExitCode.PASS if found.passed else ExitCode.GATE
    return {"exitCode": int(code), "toolConfigurationNotifications": told}
