"""The verdict alone, a line for each target: what ``--quiet`` leaves of a page."""

from dataclasses import replace

from opcheck.model.emulation import Emulation
from opcheck.model.gate import GateResult
from opcheck.model.report import Report
from opcheck.report.base import Page
from opcheck.report.terminal import words
from opcheck.report.terminal.canvas import Canvas, phrase, split
from opcheck.report.terminal.emulation.head import write_outcome
from opcheck.report.terminal.gate import words as gate
from opcheck.report.terminal.head import mark, write_verdict
from opcheck.report.terminal.plan.page import write_verdict as write_plan

UNBROKEN = 1_000_000
"""Columns that no line is longer than: a line is read by programs as well."""


def report_lines(report: Report, page: Page) -> str:
    """Whether each target runs the model."""
    canvas = _canvas(page)
    for target in report.targets:
        write_verdict(canvas, report, target)
    if not report.targets:
        canvas.flow(split(words.NO_TARGETS))
    return canvas.text()


def plan_lines(report: Report, page: Page) -> str:
    """How much of each target's trouble there is a way out of."""
    canvas = _canvas(page)
    for target in report.targets:
        write_plan(canvas, report, target)
    return canvas.text()


def gate_lines(found: GateResult, page: Page) -> str:
    """Whether each target passes."""
    canvas = _canvas(page)
    for target in found.targets:
        sign = mark(target.passed, canvas.marks)
        said = gate.verdict(target)
        model, on = (found.model.source, "bold"), (target.target, "bold")
        told = phrase(words.VERDICT, said=split(said, sign[1]), model=[model], target=[on])
        canvas.flow([sign, *told])
    return canvas.text()


def emulation_line(found: Emulation, page: Page) -> str:
    """Whether the device got through."""
    canvas = _canvas(page)
    write_outcome(canvas, found)
    return canvas.text()


def _canvas(page: Page) -> Canvas:
    return Canvas(replace(page, width=UNBROKEN))
