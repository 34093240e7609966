"""What a script's run on one target comes to, as an answer of a fleet beside those of models."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opcheck.commands.fleet.blockers import VARIES, cause_of
from opcheck.commands.fleet.engine import ATTEMPTS
from opcheck.commands.fleet.traces import stored_run
from opcheck.commands.fleet.values import (
    Blocker,
    Cause,
    Ending,
    Job,
    Outcome,
    TargetResult,
    target_result,
)
from opcheck.commands.run import answer
from opcheck.errors import OpcheckError, Stop
from opcheck.lang.sentence import Sentence
from opcheck.model.report import SCRIPT, Finding, Place, Report, TargetReport
from opcheck.model.script import ENDED_WELL, PartialRunError, ScriptRequest, ScriptRun
from opcheck.model.trace import RUN_ENDED
from opcheck.model.verdict import Verdict
from opcheck.pipeline.script_report import report_of_script

_ENDINGS: Mapping[Stop, Ending] = {
    Stop.TIME: Ending.TIMED_OUT,
    Stop.MEMORY: Ending.OUT_OF_MEMORY,
    Stop.KILLED: Ending.CRASHED,
    Stop.ENDED: Ending.CRASHED,
}


def ending_of(error: OpcheckError) -> Ending:
    """How a scan or a run ended that ended with an error."""
    return Ending.FAILED if error.stop is None else _ENDINGS[error.stop]


def script_outcome(job: Job, script: ScriptRequest, *, beside: int) -> Outcome:
    """Run the script of a job on its target, and say what came of it.

    ``beside`` is how many such processes share the machine's memory.
    """
    for attempt in range(ATTEMPTS):
        try:
            return _outcome(job, answer.run(script, beside=beside))
        except OpcheckError as error:
            # by somebody else, or by the kernel for what others took: it may go well now
            if error.stop is Stop.KILLED and attempt < ATTEMPTS - 1:
                continue
            return _failed(job, error)
    raise AssertionError("the last attempt returns")


def _failed(job: Job, error: OpcheckError) -> Outcome:
    if not isinstance(error, PartialRunError):
        return Outcome(ending_of(error), error.message, error.hint, kind=SCRIPT)
    return _with_run(job, error.run, ending_of(error), error.message, error.hint)


def _outcome(job: Job, found: ScriptRun) -> Outcome:
    if found.ending in ENDED_WELL:
        if found.used:
            return _with_run(job, found, Ending.SCANNED)
        reason = Sentence("never used the device")
    else:
        gaps = report_of_script(found).trace.gaps
        ended = next(gap for gap in gaps if gap.code == RUN_ENDED)
        reason = Sentence("{said} (at {text})", said=ended.reason, text=ended.where)
    hint = Sentence("see it alone: opcheck run -t TARGET {text}", text=found.script.text)
    return _with_run(job, found, Ending.FAILED, reason, hint)


def _with_run(
    job: Job, found: ScriptRun, ending: Ending, reason: str = "", hint: str = ""
) -> Outcome:
    """The outcome with what was seen of the device.

    A script that did not end well has an answer only where calls were refused: that it does not
    run is known then, whatever the rest would have come to.
    """
    report = report_of_script(found)
    answered = ending is Ending.SCANNED or found.runs is False
    casts = job.casts.get(found.basis.device_type, "")
    return Outcome(
        ending,
        reason,
        hint,
        kind=SCRIPT,
        digest=report.model.digest or "",
        torch_version=report.torch_version,
        calls=report.trace.calls,
        operators=report.trace.operators,
        gaps=tuple(f"{gap.where}: {gap.reason}" for gap in report.trace.gaps),
        targets=tuple(_result(report, one) for one in report.targets) if answered else (),
        traces=(stored_run(found, casts),),
        files=found.files,
    )


def _result(report: Report, found: TargetReport) -> TargetResult:
    return target_result(
        found.target, found.database_digest, found.summary, _blockers(found.findings)
    )


@dataclass(slots=True)
class _Tally:
    """How often one thing was in the way, and the places."""

    calls: int = 0
    places: list[Place] = field(default_factory=list)


def _blockers(findings: Iterable[Finding]) -> tuple[Blocker, ...]:
    """Everything that kept calls off the device, told as of a model's trace, the worst first."""
    tallies: dict[Blocker, _Tally] = defaultdict(_Tally)
    for one in findings:
        if one.verdict.on_device:
            continue
        code, unknown = one.reason.code, one.verdict is Verdict.UNKNOWN
        cause = Cause.UNKNOWN if unknown else cause_of(code)
        text = _general(one.reason.text)
        key = Blocker(one.op, cause, code, one.verdict, text, one.confidence, 0, (one.op,))
        tallies[key].calls += one.count
        tallies[key].places += one.uses
    found = (_blocker(key, tally) for key, tally in tallies.items())
    return tuple(sorted(found, key=lambda b: (-b.verdict.rank, b.op, b.code, b.text)))


def _blocker(key: Blocker, tally: _Tally) -> Blocker:
    first = tally.places[0] if tally.places else Place("", "", 0, (), (), 0)
    return Blocker(
        key.op, key.cause, key.code, key.verdict, key.text, key.confidence, tally.calls,
        key.called, first.module, first.file, first.line,
    )  # fmt: skip


def _general(text: str) -> str:
    """A reason without numbers that differ from script to script."""
    if not isinstance(text, Sentence):
        return text
    parts = {name: _general(value) for name, value in text.arguments.items()}
    if parts.get("actual", "").lstrip("-").isdecimal():
        parts["actual"] = VARIES
    return Sentence(text.template, **parts)
