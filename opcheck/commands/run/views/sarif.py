"""A script's run as one run of SARIF 2.1.0: every result lies at a line of the user's."""

from collections.abc import Iterator, Mapping

from opcheck.commands.run import parting_words, sentences
from opcheck.lang.speech import Language, speaking
from opcheck.model.report import Finding
from opcheck.model.script import Frame, ScriptRun
from opcheck.pipeline.script_report import report_of_script
from opcheck.resolve.resolution import PLAIN as GOOD_NEWS
from opcheck.site import RUN
from opcheck.views.document.parts import Json, as_text
from opcheck.views.formats import PLAIN, Page
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

FAILED, CAUGHT, PARTS = "script/failed", "script/caught", "script/numbers-part"
_LEVELS = {FAILED: "error", CAUGHT: "warning", PARTS: "warning"}
_SHORT = {
    FAILED: "The script failed",
    CAUGHT: "The script caught what the device raised",
    PARTS: "The numbers part from those of a run on the CPU",
}
_FULL = {
    FAILED: "An exception ended the script. What comes after it was not seen.",
    CAUGHT: "The device refuses a call, and the script went another way. What it then did is what "
    "the report is of.",
    PARTS: "What the script computes here on the device differs by more than its dtype allows from "
    "what it computes on the CPU.",
}


def render(found: ScriptRun, page: Page = PLAIN) -> str:
    """Give the log as JSON, in English, as any log is."""
    with speaking(Language.ENGLISH):
        return as_text(run_log(found))


def run_log(found: ScriptRun) -> Json:
    """The whole log; of what runs on the device only that is a result which has a catch."""
    report = arranged(report_of_script(found))
    (target,) = report.targets
    findings = [one for one in target.findings if _is_result(one)]
    own = [*_failure(found), *_caught(found), *_partings(found)]
    rules = {rule_id(one): descriptor(one) for one in findings}
    rules |= {str(value["ruleId"]): _rule(str(value["ruleId"])) for value in own}
    numbers, names = numbered(rules), short_names(report.targets)
    results: list[Json] = [{**value, "ruleIndex": numbers[str(value["ruleId"])]} for value in own]
    results += [result(report, target, one, numbers[rule_id(one)], names) for one in findings]
    return log(
        report, "opcheck run", rules, results, _invocation(found),
        {**run_properties(report), **_properties(found)},
    )  # fmt: skip


def _is_result(finding: Finding) -> bool:
    return not finding.verdict.on_device or finding.reason.code not in GOOD_NEWS


def _rule(name: str) -> Json:
    return {
        "id": name,
        "name": "".join(word.capitalize() for word in name.split("/")),
        "shortDescription": {"text": f"{_SHORT[name]}."},
        "fullDescription": {"text": _FULL[name]},
        "help": {"text": _FULL[name], "markdown": _FULL[name]},
        "helpUri": RUN,
        "defaultConfiguration": {"level": _LEVELS[name]},
        "properties": {"tags": ["compatibility"], "problem.severity": _LEVELS[name]},
    }


def _failure(found: ScriptRun) -> Iterator[Mapping[str, object]]:
    """The error that ended the script, at the last line of the user's that it passed."""
    for frame in found.frames[-1:]:
        said = f"{sentences.outcome(found)}: {found.emulation.error}"
        stack = [{"location": _location(step)} for step in reversed(found.frames)]
        yield {
            **_own(FAILED, frame.file, frame.line, said),
            "stacks": [{"message": message(found.emulation.error), "frames": stack}],
        }


def _location(frame: Frame) -> Json:
    return {
        "physicalLocation": line(frame.file, frame.line),
        "logicalLocations": [{"name": frame.function, "kind": "function"}],
    }


def _caught(found: ScriptRun) -> Iterator[Mapping[str, object]]:
    for (file, number), said in sentences.caught(found).items():
        yield _own(CAUGHT, file or found.script.name, number, said)


def _partings(found: ScriptRun) -> Iterator[Mapping[str, object]]:
    """Each place where the numbers part, in the order of the run on the CPU."""
    for one in found.comparison.partings if found.comparison is not None else ():
        yield _own(PARTS, one.file or found.script.name, one.line or 1, parting_words.told(one))


def _own(rule: str, file: str, number: int, said: str) -> Json:
    return {
        "ruleId": rule,
        "level": _LEVELS[rule],
        "message": message(said),
        "locations": [{"physicalLocation": line(file, number)}],
    }


def _invocation(found: ScriptRun) -> Json:
    told = [notification("note", sentences.headline(found))]
    if found.comparison is not None:
        said = (
            parting_words.headline(found.comparison),
            *parting_words.notes(found.comparison),
        )
        told += [notification("note", one) for one in said]
    told += [notification("note", note) for note in found.emulation.notes]
    return {"toolConfigurationNotifications": told}


def _properties(found: ScriptRun) -> Json:
    return {
        "ending": found.ending.value,
        "status": found.status,
        "steps": found.steps,
        "forwards": found.forwards,
        "memoryPeak": found.emulation.memory_peak,
        "used": found.used,
    }
