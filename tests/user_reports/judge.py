"""Compares what a scan says with what users met, by rules that were there before the first scan."""

import importlib
import os
import pkgutil
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import torch
from torch import nn

import opcheck
from opcheck.errors import TraceError
from opcheck.model.report import Finding
from opcheck.model.verdict import Verdict
from opcheck.source.building import torchvision_operators
from tests.test_cases import Applied
from tests.user_reports.report import Because, LeftOut, Met, Report


class Judged(StrEnum):
    """How much of what users met a scan says."""

    RIGHT = "right"
    """The verdict, and what it depends on."""
    PARTLY = "partly"
    """Something else than that it runs well: another verdict, another reason, or *unknown*."""
    MISSED = "missed"
    """That it runs, where users met something else; or a gap, or nothing of these operators."""
    ALARM = "false alarm"
    """That it does not run, where users saw it run."""


@dataclass(frozen=True)
class Answer:
    """What a scan says of one of the operators that a report is about."""

    verdict: str
    code: str
    op: str


_PLAIN = frozenset({
    "registered", "decomposes", "document-overruled", "chosen-by-device", "no-device-work",
    "compile-backend",
})  # fmt: skip
"""Reasons of a finding that has no caution."""
_OF_THE_MACHINE = frozenset({
    "needs-newer-macos", "depends-on-cann", "depends-on-build", "needs-plugin", "may-run-on-host",
    "attention-not-fused", "shape-not-judged", "one-output-only", "needs-output-allocator",
    "fixed-shapes-only", "native-with-torchvision-npu", "no-torchvision-npu",
})  # fmt: skip
"""Cautions that are not about the values of a result."""
_KINDS: Mapping[Because, Collection[str]] = {
    Because.NO_KERNEL: (
        "no-kernel", "no-kernel-even-on-host", "host-fallback", "computed-on-host",
        "runs-elsewhere", "kernel-always-raises", "no-aclnn-kernel", "library-not-built",
        "not-supported-on-chip", "not-published-for-chip", "not-supported-on-rocm",
        "may-run-on-host",
    ),
    Because.CHIP: ("not-supported-on-chip", "not-published-for-chip", "no-kernel", "host-fallback"),
    Because.DTYPE: ("dtype-not-supported", "dtype-not-native", "bfloat16-is-emulated"),
    Because.SHAPE: ("rank-not-supported", "size-not-supported", "shape-not-supported"),
    Because.VALUE: ("value-not-supported",),
    Because.LAYOUT: ("layout-not-supported", "memory-format-not-supported"),
}  # fmt: skip
_OURS = ("answers", "document", "judge", "report")
_NAMED = frozenset(code for codes in _KINDS.values() for code in codes)


def judged(report: Report, answers: Iterable[Answer], met: Met | None = None) -> Judged:
    """How the best of the answers does, or the worst where users saw it run.

    ``met``: what users met on a target of ``report.mended``.
    """
    wanted = met or report.met
    found = [_judged(report, answer, wanted) for answer in answers]
    choose = max if wanted is Met.WORKS else min
    return choose(found, key=list(Judged).index, default=Judged.MISSED)


def _judged(report: Report, answer: Answer, met: Met) -> Judged:
    verdict = Verdict(answer.verdict)
    runs = verdict in {Verdict.NATIVE, Verdict.DECOMPOSED}
    caution = runs and answer.code not in _PLAIN
    if met is Met.WORKS:
        return Judged.ALARM if verdict is Verdict.UNSUPPORTED else Judged.RIGHT
    if runs and not caution:
        return Judged.MISSED
    caution = caution and (met is not Met.WRONG or answer.code not in _OF_THE_MACHINE)
    if _said_so(met, verdict, caution=caution) and _fits(report.because, answer.code):
        return Judged.RIGHT
    return Judged.PARTLY


def _said_so(met: Met, verdict: Verdict, *, caution: bool) -> bool:
    match met:
        case Met.REFUSED:
            return verdict is Verdict.UNSUPPORTED
        case Met.ON_THE_HOST:
            return verdict is Verdict.FALLBACK
        case Met.WRONG:
            return caution
        case Met.SLOW:
            return caution or verdict is Verdict.FALLBACK
        case Met.WORKS:
            return verdict is not Verdict.UNSUPPORTED


def _fits(because: Because, code: str) -> bool:
    """Whether a reason is of that kind; an advisory's own name is of any."""
    kinds = _KINDS.get(because)
    return kinds is None or code in kinds or code not in _NAMED


def worst_first(found: Iterable[Finding], ops: Collection[str]) -> tuple[Answer, ...]:
    """What findings say of these operators or of what runs as them, in their order."""
    return tuple(
        Answer(finding.verdict.value, finding.reason.code, finding.op)
        for finding in found
        if any(op in ops or op.partition(".")[0] in ops for op in _concerned(finding))
    )


def _concerned(finding: Finding) -> Iterable[str]:
    yield finding.op
    yield from (op for use in finding.uses for op in use.decomposed_into)


@cache
def reports() -> Mapping[str, Report]:
    """Every report by name, those of one vendor together."""
    found: dict[str, Report] = {}
    for module in _modules():
        for report in module.REPORTS:
            assert report.name not in found, f"{report.name} is there twice"
            found[report.name] = report
    return found


def left_out() -> Iterable[LeftOut]:
    """Every thread that is no report."""
    return [thread for module in _modules() for thread in module.LEFT_OUT]


def of_exports() -> frozenset[str]:
    """Names of the reports about models that are exported or compiled."""
    found = (module for module in _modules() if ".exports_" in module.__name__)
    return frozenset(report.name for module in found for report in module.REPORTS)


@cache
def _modules() -> tuple[ModuleType, ...]:
    """A module a vendor."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    found = (importlib.import_module(f"tests.user_reports.{name}") for name in names
             if not name.startswith("test_") and name not in _OURS)  # fmt: skip
    return tuple(module for module in found if hasattr(module, "REPORTS"))


@cache
def answers_of(name: str) -> Mapping[str, tuple[Answer, ...]]:
    """What a scan says now, by target; () where it says nothing of the report's operators, or where
    nothing of the program can be followed.
    """
    report = reports()[name]
    torchvision_operators.prepare()
    import torchvision  # noqa: F401  # brings the shape rules of its operators

    torch.default_generator.manual_seed(0)
    program = report.program
    module = program if isinstance(program, nn.Module) else Applied(program)
    targets = [report.target, *report.mended]
    with patch.dict(os.environ, report.environment):
        try:
            scanned = opcheck.scan(
                module.train(report.training), report.inputs, targets=targets, train=report.training
            )
        except TraceError:
            return dict.fromkeys(targets, ())
    gaps = (Answer(Verdict.UNKNOWN.value, "gap", ""),) if scanned.trace.gaps else ()
    return {
        name: worst_first(target.findings, report.ops) or gaps
        for name, target in zip(targets, scanned.targets, strict=True)
    }
