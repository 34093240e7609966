"""What a gate reads: policy, baseline, reports, and whether these are as new as is asked."""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from opcheck.commands.gate.judging.accepted import baseline_from_json
from opcheck.db.selection import meaning
from opcheck.db.status import days_since, require_fresh
from opcheck.db.store import Database
from opcheck.errors import DatabaseError, TraceError, UsageError
from opcheck.files import MOST_REPORT_BYTES, read_bytes
from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.model.policy import Baseline, Policy
from opcheck.model.report import SCRIPT, Report, TargetReport
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import Target, TargetSpec, target_name
from opcheck.pipeline.database import open_database
from opcheck.settings.policy_file import find_policy, policy_of, read_policy
from opcheck.views.document.report import report_in


def require_fresh_report(report: Report, databases: Sequence[str], days: int, today: date) -> None:
    """Refuse a report whose vendors' data is older than so many days.

    What was looked up in the database of today is as old as its vendor's newest data, as in a scan;
    of any other all that is known is the date that the report has.

    Raises:
        DatabaseError: it is older, or its date is not known.
    """
    database = open_database(databases)
    current = dict(_current(database, report.targets))
    require_fresh(database, current.values(), days, today)
    for target in report.targets:
        if target.target in current:
            continue
        age = days_since(target.database_date, today)
        if age is None or age > days:
            told = (
                Sentence("of no known date")
                if age is None
                else Sentence("{count} days old", count=age)
            )
            raise DatabaseError(
                Sentence(
                    "the data of {vendor} in the report is {said}, too old for the policy "
                    "of {count} days",
                    vendor=target.target,
                    said=told,
                    count=days,
                ),
                Sentence("scan again with a newer opcheck"),
            )


def _current(database: Database, targets: Sequence[TargetReport]) -> Iterator[tuple[str, Target]]:
    """The targets whose data in the report is that of the database, each by its name."""
    for reported in targets:
        try:
            target = database.resolve(TargetSpec.parse(reported.target))
        except (ValueError, UsageError):  # no longer, or not yet, in this database
            continue
        if database.matrix(target).database_digest == reported.database_digest:
            yield reported.target, target


_ALL = "all"


def is_report(source: str) -> bool:
    """Whether a source is a report: a JSON file that no kind of model claims."""
    if not source.endswith(".json"):
        return False
    from opcheck.source.load import kinds

    return not any(kind.claims(source) for kind in kinds())


def policy_at(path: str) -> Policy:
    """The policy of a file; the nearest one, or the defaults, where none is named."""
    if path:
        return read_policy(Path(path))
    found = find_policy(Path.cwd())
    return Policy() if found is None else read_policy(Path(os.path.relpath(found)))


def policy_from(given: Policy | Mapping[str, Any] | str | os.PathLike[str] | None) -> Policy:
    """The policy that somebody has in one of these forms; None as on the command line."""
    if isinstance(given, Policy):
        return given
    if isinstance(given, Mapping):
        return policy_of(given)
    return policy_at("" if given is None else os.fspath(given))


def baseline_at(path: str) -> Baseline | None:
    """The baseline of a file; None where none is named."""
    if not path:
        return None
    return baseline_from_json(
        _text(path, Sentence("opcheck gate SOURCE --write-baseline FILE writes one")), path
    )


def require_replaceable(path: str) -> None:
    """Refuse to put a baseline in the place of a file that is none: a report, say."""
    if path and os.path.isfile(path):
        hint = Sentence("give another name, or take it away first")
        try:
            baseline_from_json(_text(path, hint), path)
        except UsageError as error:
            message = Sentence(
                "cannot write the baseline: {text} is there, and is none ({text_why})",
                text=path,
                text_why=error.message,
            )
            raise UsageError(message, hint) from error


def report_of_targets(
    scanned: ScanRequest, asked: ScanRequest, today: date, *, plan: bool = False
) -> Report:
    """The report that a file holds, of the targets that are asked for."""
    told = replace(asked, targets=(), max_age=None, databases=(), explained=False)
    if plan or told != ScanRequest(ModelSpec(asked.model.source), ()):
        raise UsageError(
            Sentence(
                "{text} is a report, and options on how to run the model came with it",
                text=asked.model.source,
            ),
            Sentence("leave them out, or give the model itself"),
        )
    path = scanned.model.source
    report = _report(path)
    report = _on(report, scanned.targets, path)
    if scanned.max_age is not None:
        require_fresh_report(report, scanned.databases, scanned.max_age, today)
    return report


def report_on(report: Report, targets: Sequence[str]) -> Report:
    """A report of those targets alone; all where none is named."""
    try:
        specs = tuple(map(TargetSpec.parse, targets))
    except ValueError as error:
        raise UsageError(sentence_of(error)) from error
    return _on(report, specs, Sentence("the report of {text}", text=report.model.source))


def report_at(path: str) -> Report:
    """The whole report of a file, to compare with."""
    report = _report(path)
    require_whole(report)
    return report


def _report(path: str) -> Report:
    return report_in(
        _text(path, Sentence("opcheck scan SOURCE --format json -o FILE writes one")), path
    )


def _on(report: Report, targets: Sequence[TargetSpec], name: str) -> Report:
    if not targets:
        return report
    wanted = {t.target: t for spec in targets for t in _of(report, spec, name)}
    return replace(report, targets=tuple(wanted.values()))


def _of(report: Report, spec: TargetSpec, path: str) -> list[TargetReport]:
    """The targets of a report that a name stands for."""
    found = [target for target in report.targets if _names(spec, target)]
    if not found and (taken := meaning(open_database(), spec)) is not None:
        found = [target for target in report.targets if _names(taken.spec, target)]
    if not found and spec.name != _ALL:
        has = ", ".join(target.target for target in report.targets) or "none"
        raise UsageError(
            Sentence("{text} has no target {target}", text=path, target=spec),
            Sentence("it has: {list}; scan with -t {target}", list=has, target=spec),
        )
    return found


def _names(spec: TargetSpec, target: TargetReport) -> bool:
    name = target_name(target.vendor, target.chip)
    return (
        spec.name in (name, target.vendor, _ALL)
        and f"{target.sdk}.".startswith(f"{spec.sdk}." if spec.sdk else "")
        and f"{target.torch}.".startswith(f"{spec.torch}." if spec.torch else "")
    )


def ended_early(report: Report) -> TraceError | None:
    """Why a report is partial; None where it is not."""
    if report.trace.ended is None:
        return None
    return TraceError(
        Sentence(
            "the report of {text} is partial: {said}",
            text=report.model.source,
            said=report.trace.ended.reason,
        ),
        Sentence(
            "what was not seen cannot pass: run the script again once it comes to its end"
            if report.model.kind == SCRIPT
            else "what was not seen cannot pass: scan the model again once it runs to its end"
        ),
    )


def require_whole(report: Report) -> None:
    """Refuse what is no answer to judge.

    Raises:
        TraceError: nothing was scanned, or the model's process ended before the model did.
    """
    early = ended_early(report)
    if early is not None:
        raise early
    source = report.model.source
    if not report.targets or not report.trace.calls:
        what = "{text} was checked against no target, so there is nothing to judge"
        if report.targets and report.model.kind == SCRIPT:
            what = "{text} never used the device, so there is nothing to judge"
        elif report.targets:
            what = "{text} calls no operator, so there is nothing to judge"
        raise TraceError(Sentence(what, text=source))


def _text(path: str, hint: Sentence) -> str:
    try:
        return read_bytes(path, MOST_REPORT_BYTES).decode()
    except OSError as error:
        raise UsageError(
            Sentence(
                "cannot read {text_file}: {text}", text_file=path, text=error.strerror or error
            ),
            hint,
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            Sentence("{text} is not JSON: {text_why}", text=path, text_why=error), hint
        ) from error
