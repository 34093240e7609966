"""SARIF 2.1.0: what breaks, for code scanning and for editors that show it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from opcheck.lang.speech import Language, speaking
from opcheck.model.matrix import DOUBTED
from opcheck.model.plan import Suggestion
from opcheck.model.report import Finding, Report, Summary, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.site import REASONS, SITE
from opcheck.views.document.parts import Json, as_text, evidence_value
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import on_disk, one_line, places, problems, sentence, where
from opcheck.views.markdown_text import code as markdown_code
from opcheck.views.order import arranged
from opcheck.views.targets import short_names

ROOT = "%SRCROOT%"
"""The base of every relative location, which a viewer puts where the repository is."""
_PLACEHOLDER = re.compile(r"\{[0-9]+\}")


def message(text: str) -> Json:
    """A message; a text that looks like a link or a placeholder stays the text that it is."""
    text = one_line(text)
    if "](" in text:
        text = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    if _PLACEHOLDER.search(text):
        text = text.replace("{", "{{").replace("}", "}}")
    return {"text": text}


def artifact(path: str) -> Json:
    """A file, relative to the repository unless its path is absolute."""
    uri = quote(one_line(path), safe="/", errors="replace")
    if uri.startswith("/"):
        return {"uri": f"file:///{uri.lstrip('/')}"}
    return {"uri": uri, "uriBaseId": ROOT}


def line(path: str, number: int) -> Json:
    """A line of a file; of a notebook, which has cells, the first."""
    file, first = on_disk(path, number)
    return {"artifactLocation": artifact(file), "region": {"startLine": first}}


LEVELS = {
    Verdict.UNSUPPORTED: "error",
    Verdict.UNKNOWN: "warning",
    Verdict.FALLBACK: "note",
    Verdict.DECOMPOSED: "note",
    Verdict.NATIVE: "note",
}
"""A scan shows nothing of what runs on the device; a gate does where a policy asks for it."""
_SEVERITIES = {"error": "error", "warning": "warning", "note": "recommendation"}
"""GitHub's words for the levels of rules."""
_SHORT = {
    Verdict.UNSUPPORTED: "The target does not run this operator",
    Verdict.UNKNOWN: "Nobody has said whether the target runs this operator",
    Verdict.FALLBACK: "The target leaves this operator to something else",
    Verdict.DECOMPOSED: "The target runs this operator as others, with a catch",
    Verdict.NATIVE: "The target runs this operator, with a catch",
}
_FULL = {
    Verdict.UNSUPPORTED: "The call is known to fail on the target: there is no kernel, or a "
    "condition on dtype, shape, chip or version does not hold, or a fallback would itself fail.",
    Verdict.UNKNOWN: "Neither the vendor's files nor PyTorch's registrations tell what happens to "
    "the call. It is not counted as supported.",
    Verdict.FALLBACK: "The call runs outside the device, on the host or, for a graph compiler, in "
    "PyTorch. It gives its result, and its tensors are moved there and back.",
    Verdict.DECOMPOSED: "The call runs on the device as other operators, with the catch that its "
    "reason names.",
    Verdict.NATIVE: "The call runs on the device, with the catch that its reason names.",
}
_OF_CODE = {
    DOUBTED: (
        "The vendor's sources contradict each other on this operator",
        "The vendor registers a kernel for the call, and one of its documents leaves the call out. "
        "No second source tells which of them holds. It is not counted as supported.",
    ),
}
"""Codes of which what is said of their verdict is not so: in short, and in full."""
_HELP = {
    Verdict.UNSUPPORTED: "`opcheck plan` shows what to write instead, with the error measured; "
    "`opcheck explain OPERATOR -t TARGET` shows the conditions and the evidence.",
    Verdict.UNKNOWN: "`opcheck explain OPERATOR -t TARGET` shows what is known. An overlay of the "
    "database (`--db`) can tell what you found out on the device.",
    Verdict.FALLBACK: "`opcheck plan` shows how to keep the call on the device. Whether it matters "
    "depends on how often it is called and on what it moves.",
    **dict.fromkeys(
        (Verdict.DECOMPOSED, Verdict.NATIVE),
        "`opcheck explain OPERATOR -t TARGET` shows the conditions and the evidence.",
    ),
}


def rule_id(finding: Finding) -> str:
    """``unsupported/dtype-not-supported``; the same in every scan."""
    return one_line(f"{finding.verdict}/{finding.reason.code}")


def descriptor(finding: Finding) -> Json:
    """The rule that a finding is of."""
    verdict, level = finding.verdict, LEVELS[finding.verdict]
    code = one_line(finding.reason.code)
    short, full = _OF_CODE.get(code, (_SHORT[verdict], _FULL[verdict]))
    text = f"{full}\n\nReason: {code}.\n\n{_HELP[verdict].replace('`', '')}"
    markdown = f"{full}\n\nReason: {markdown_code(code)}.\n\n{_HELP[verdict]}"
    return {
        "id": rule_id(finding),
        "name": "".join(word.capitalize() for word in f"{verdict}-{code}".split("-")),
        "shortDescription": {"text": f"{short} ({code})."},
        "fullDescription": {"text": full},
        "help": {"text": text, "markdown": markdown},
        "helpUri": REASONS,
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["compatibility", verdict.value],
            "problem.severity": _SEVERITIES[level],
        },
    }


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


SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def sarif_log(report: Report) -> Json:
    """The whole log; what is native is counted in the run's properties, and is no result."""
    found = list(problems(report))
    rules = {rule_id(finding): descriptor(finding) for _, finding in found}
    numbers = numbered(rules)
    names = short_names(report.targets)
    results = [result(report, *one, numbers[rule_id(one[1])], names) for one in found]
    return log(report, "opcheck", rules, results, {}, run_properties(report))


def numbered(rules: Iterable[str]) -> Mapping[str, int]:
    """The index of each rule."""
    return {name: number for number, name in enumerate(sorted(rules))}


def log(
    report: Report,
    category: str,
    rules: Mapping[str, Json],
    results: Sequence[Json],
    invocation: Json,
    properties: Json,
) -> Json:
    """A log of one run; ``category`` keeps it apart from others on the same model."""
    run = {
        "tool": {
            "driver": {
                "name": "opcheck",
                "version": report.opcheck_version,
                "informationUri": SITE,
                "rules": [rules[name] for name in numbered(rules)],
            }
        },
        "automationDetails": {"id": f"{category}/{one_line(report.model.source)}/"},
        "invocations": [{**_invocation(report), **invocation}],
        "originalUriBaseIds": {ROOT: {"description": message("The folder opcheck was run in.")}},
        "columnKind": "unicodeCodePoints",
        "results": list(results),
        "properties": properties,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _invocation(report: Report) -> Json:
    """What could not be seen, and what holds for a target as a whole."""
    told = [notification("warning", f"{gap.where}: {gap.reason}") for gap in report.trace.gaps]
    for target in report.targets:
        told += [
            notification("note", f"{target.target}: {advisory.text}")
            for advisory in target.advisories
        ]
    return {
        "executionSuccessful": report.trace.ended is None,
        "toolExecutionNotifications": told,
    }


def notification(level: str, text: str) -> Json:
    """Something that is no result."""
    return {"level": level, "message": message(text)}


def run_properties(report: Report) -> Json:
    """What the run was, and how each target fares."""
    trace = report.trace
    return {
        "torchVersion": report.torch_version,
        "model": {"source": report.model.source, "digest": report.model.digest},
        "mode": trace.mode,
        "deviceType": trace.device_type,
        "calls": trace.calls,
        "operators": trace.operators,
        "targets": [_target(target) for target in report.targets],
    }


def _target(target: TargetReport) -> Json:
    summary: Summary = target.summary
    return {
        "target": target.target,
        "runs": summary.runs,
        "supportRate": summary.support_rate,
        "operators": _counts(summary.operators),
        "islands": summary.islands,
        "fallbackBytes": summary.fallback_bytes,
        "databaseDigest": target.database_digest,
        "databaseDate": target.database_date,
    }


def _counts(counts: Mapping[Verdict, int]) -> Json:
    return {verdict.value: counts[verdict] for verdict in Verdict}


def render(report: Report, page: Page = PLAIN) -> str:
    """Give one run with a result for each finding on each target that is not native there."""
    with speaking(Language.ENGLISH):
        return as_text(sarif_log(arranged(report)))
