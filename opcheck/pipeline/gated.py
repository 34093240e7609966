"""A model, or a report of one, held against a project's policy."""

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from opcheck.db.selection import select
from opcheck.errors import TraceError, UsageError
from opcheck.gate.accepted import baseline_of
from opcheck.gate.judge import judge
from opcheck.model.gate import GateRequest, GateResult
from opcheck.model.policy import Baseline, Policy
from opcheck.model.report import Report, TargetReport
from opcheck.model.request import ScanRequest
from opcheck.model.target import TargetSpec, target_name
from opcheck.pipeline.ages import require_fresh_report
from opcheck.pipeline.opening import Progress, open_database, silent
from opcheck.pipeline.scan import scan
from opcheck.report.document.baseline import baseline_from_json
from opcheck.report.reader import from_json
from opcheck.settings.places import FILE, PYPROJECT, find_policy, policies_in
from opcheck.settings.reading import read_policy
from opcheck.settings.template import starting_policy

_ALL = "all"


def gate(
    request: GateRequest, progress: Progress = silent, output: Progress = silent
) -> GateResult:
    """Hold the model or the report that ``request`` names against its policy.

    Raises:
        UsageError: the policy, the baseline or the report cannot be used.
        SourceError, TraceError: the model cannot be loaded, or not run to its end.
        DatabaseError: the database is missing, damaged or older than the policy allows.
    """
    policy = _policy(request)
    _require_replaceable(request.accept)
    scanned = replace(
        request.scan,
        targets=request.scan.targets or policy.targets,
        max_age=policy.max_age if request.scan.max_age is None else request.scan.max_age,
    )
    baseline = None if request.accept else _baseline(request, policy)
    today = date.today()
    if is_report(scanned.source):
        report = _read(scanned, request.scan, today)
    else:
        report = scan(scanned, progress, output)
    _require_whole(report)
    found = judge(report, policy, baseline, today)
    if not request.accept:
        return found
    accepted = baseline_of(found)
    return replace(judge(report, policy, accepted, today), accepted=accepted)


def init_policy(targets: Sequence[TargetSpec], folder: Path) -> tuple[Path, str]:
    """Where a project's policy belongs, and the text to put there.

    Raises:
        UsageError: there is one already, or a target that is not known.
    """
    select(open_database(), targets)
    path = folder / FILE
    there = policies_in(folder)
    if there or path.exists():
        where = there[0].name if there else FILE
        what = f"[tool.opcheck] in {PYPROJECT}" if where == PYPROJECT else where
        raise UsageError(f"there is a policy already: {what}", "change it, or take it away first")
    return path, starting_policy(targets)


def is_report(source: str) -> bool:
    """Whether a source is a report: a JSON file that no kind of model claims."""
    if not source.endswith(".json"):
        return False
    from opcheck.source.select import kinds

    return not any(kind.claims(source) for kind in kinds())


def _policy(request: GateRequest) -> Policy:
    if request.policy:
        return read_policy(Path(request.policy))
    found = find_policy(Path.cwd())
    return Policy() if found is None else read_policy(Path(os.path.relpath(found)))


def _baseline(request: GateRequest, policy: Policy) -> Baseline | None:
    path = request.baseline or policy.baseline
    if not path:
        return None
    return baseline_from_json(
        _text(path, "opcheck gate SOURCE --write-baseline FILE writes one"), path
    )


def _require_replaceable(path: str) -> None:
    """Refuse to put a baseline in the place of a file that is none: a report, say."""
    if path and Path(path).is_file():
        hint = "give another name, or take it away first"
        try:
            baseline_from_json(_text(path, hint), path)
        except UsageError as error:
            message = f"cannot write the baseline: {path} is there, and is none ({error.message})"
            raise UsageError(message, hint) from error


def _read(scanned: ScanRequest, asked: ScanRequest, today: date) -> Report:
    """The report that a file holds, of the targets that are asked for."""
    told = replace(asked, targets=(), max_age=None, databases=())
    if told != ScanRequest(asked.source, ()):
        raise UsageError(
            f"{asked.source} is a report, and options on how to run the model came with it",
            "leave them out, or give the model itself",
        )
    path = scanned.source
    report = from_json(_text(path, "opcheck scan SOURCE --format json -o FILE writes one"), path)
    if scanned.targets:
        wanted = {t.target: t for spec in scanned.targets for t in _of(report, spec, path)}
        report = replace(report, targets=tuple(wanted.values()))
    if scanned.max_age is not None:
        require_fresh_report(report, scanned.databases, scanned.max_age, today)
    return report


def _of(report: Report, spec: TargetSpec, path: str) -> list[TargetReport]:
    """The targets of a report that a name stands for."""
    found = [target for target in report.targets if _names(spec, target)]
    if not found and spec.name != _ALL:
        has = ", ".join(target.target for target in report.targets) or "none"
        raise UsageError(f"{path} has no target {spec}", f"it has: {has}; scan with -t {spec}")
    return found


def _names(spec: TargetSpec, target: TargetReport) -> bool:
    name = target_name(target.vendor, target.chip)
    return (
        spec.name in (name, target.vendor, _ALL)
        and f"{target.sdk}.".startswith(f"{spec.sdk}." if spec.sdk else "")
        and f"{target.torch}.".startswith(f"{spec.torch}." if spec.torch else "")
    )


def _require_whole(report: Report) -> None:
    """Refuse what is no answer to judge.

    Raises:
        TraceError: nothing was scanned, or the model's process ended before the model did.
    """
    source = report.model.source
    if report.trace.ended is not None:
        raise TraceError(
            f"the report of {source} is partial: {report.trace.ended.reason}",
            "opcheck scan tells what was seen until then",
        )
    if not report.targets or not report.trace.calls:
        what = "calls no operator" if report.targets else "was held against no target"
        raise TraceError(f"{source} {what}, so there is nothing to judge")


def _text(path: str, hint: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}", hint) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not JSON: {error}", hint) from error
