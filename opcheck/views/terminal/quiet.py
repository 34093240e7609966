"""The verdict alone, a line for each target: what ``--quiet`` leaves of a page."""

from msgspec.structs import replace

from opcheck.model.report import Report
from opcheck.views.page import Page
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Canvas, split
from opcheck.views.terminal.head import write_verdict

UNBROKEN = 1_000_000
"""Columns that no line is longer than: a line is read by programs as well."""


def report_lines(report: Report, page: Page) -> str:
    """Whether each target runs the model."""
    canvas = unbroken(page)
    for target in report.targets:
        write_verdict(canvas, report, target)
    if not report.targets:
        canvas.flow(split(words.NO_TARGETS))
    return canvas.text()


def unbroken(page: Page) -> Canvas:
    """A canvas whose lines are as long as what they say."""
    return Canvas(replace(page, width=UNBROKEN))
