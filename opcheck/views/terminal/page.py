"""The order of a text report's parts."""

from opcheck.model.report import Report
from opcheck.views.formats import Page
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Canvas, split
from opcheck.views.terminal.compare import write_comparison
from opcheck.views.terminal.findings import write_section
from opcheck.views.terminal.groups import sections
from opcheck.views.terminal.head import write_head
from opcheck.views.terminal.sections import (
    write_advisories,
    write_fine,
    write_footer,
    write_kernels,
    write_listed,
    write_sizes,
    write_unseen,
)


def report_page(report: Report, page: Page) -> str:
    """The whole report; one target in full, several side by side."""
    canvas = Canvas(page)
    targets = report.targets
    if report.trace.ended is not None:
        canvas.flow(split(words.partial(report.trace.ended.where), "bold magenta"))
        canvas.blank()
    match targets:
        case ():
            canvas.flow(split(words.NO_TARGETS))
        case (target,):
            write_head(canvas, report, target)
        case _:
            write_comparison(canvas, report)
    left = page.top
    for section in sections(targets, page.verbose, alone=page.explain or left is not None):
        canvas.blank()
        shown = write_section(canvas, section, targets, left)
        left = None if left is None else left - shown
    if targets:
        write_fine(canvas, targets)
    write_sizes(canvas, targets)
    write_unseen(canvas, report)
    write_listed(canvas, targets)
    write_advisories(canvas, targets)
    write_kernels(canvas, targets)
    write_footer(canvas, report)
    return canvas.text()
