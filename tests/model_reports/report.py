"""A report about a whole model: what users met, and a file that meets it, written down first.

Threads are those that searches for each subject gave, in their order, which name a device that
``opcheck targets`` has (or one of the same kind) and say what became of the model. What users met
was committed before the first scan, and so was the rule that judges an answer.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import opcheck
from opcheck.errors import SourceError, TraceError
from opcheck.model.report import Report, TargetReport
from opcheck.model.verdict import Verdict


class Met(StrEnum):
    """What became of the model."""

    REFUSED = "refused"
    """It raised, while it was loaded, compiled or run."""
    WORKS = "works"
    """It ran."""


class Judged(StrEnum):
    """How much of what users met a scan says."""

    RIGHT = "right"
    """That it does not run, by what users name; or that it runs."""
    PARTLY = "partly"
    """*Cannot tell*, or that it does not run for another reason."""
    MISSED = "missed"
    """That it runs, where users saw it refused; or *cannot tell* without a word of why."""
    ALARM = "false alarm"
    """That it does not run, where users saw it run."""


@dataclass(frozen=True)
class ModelReport:
    """What users met, and what is scanned for it."""

    name: str
    thread: str
    """``owner/project#12``."""
    told: str
    """What users met, in one sentence."""
    met: Mapping[str, Met]
    """Target -> what became of it there; the nearest chip and release that targets have."""
    write: Callable[[Path], str]
    """Writes the files of the model to a folder, and gives the source to scan."""
    names: tuple[str, ...]
    """Any of these is in what a scan says of it: an operator, a method, a back end."""
    training: bool = False


def python(code: str) -> Callable[[Path], str]:
    """A file with a function ``model`` that gives a module and its inputs."""

    def write(folder: Path) -> str:
        path = folder / "users.py"
        path.write_text(code, encoding="utf-8")
        return f"{path}:model"

    return write


def config(values: Mapping[str, object]) -> Callable[[Path], str]:
    """A config as transformers writes it."""

    def write(folder: Path) -> str:
        (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
        return f"hf:{folder}"

    return write


@dataclass(frozen=True)
class Answer:
    """What a scan says of one target."""

    runs: bool | None
    unsupported: tuple[str, ...] = ()
    """Operators of findings that are unsupported, with their reasons."""
    said: tuple[str, ...] = field(default_factory=tuple)
    """Everything else that it says: other findings, gaps, advisories."""


def answers(report: ModelReport, folder: Path) -> Mapping[str, Answer]:
    """What a scan says now, by target as the report names it; of what it does not trace, why."""
    source = report.write(folder)
    try:
        found = opcheck.scan(source, targets=list(report.met), train=report.training)
    except (SourceError, TraceError) as error:
        return dict.fromkeys(report.met, Answer(None, (), (str(error),)))
    return dict(zip(report.met, (_answer(found, one) for one in found.targets), strict=True))


def _answer(report: Report, target: TargetReport) -> Answer:
    told: dict[bool, list[str]] = {True: [], False: []}
    for finding in target.findings:
        refused = finding.verdict is Verdict.UNSUPPORTED
        told[refused].append(f"{finding.op}: {finding.reason.text!s}")
    others = [f"{gap.where}: {gap.reason!s}" for gap in report.trace.gaps]
    others += [str(reason.text) for reason in target.advisories]
    return Answer(target.summary.runs, tuple(told[True]), (*told[False], *others))


def judged(report: ModelReport, found: Mapping[str, Answer]) -> Judged:
    """The worst of what holds for its targets."""
    order = list(Judged)
    each = [_judged(report.names, met, found[target]) for target, met in report.met.items()]
    return max(each, key=order.index)


def _judged(names: tuple[str, ...], met: Met, answer: Answer) -> Judged:
    if met is Met.WORKS:
        if answer.runs is None:
            return Judged.PARTLY
        return Judged.RIGHT if answer.runs else Judged.ALARM
    if answer.runs is False:
        return Judged.RIGHT if _names(names, answer.unsupported) else Judged.PARTLY
    if answer.runs is None and _names(names, (*answer.unsupported, *answer.said)):
        return Judged.PARTLY
    return Judged.MISSED


def _names(names: tuple[str, ...], texts: tuple[str, ...]) -> bool:
    return any(name.lower() in text.lower() for name in names for text in texts)
