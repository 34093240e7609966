"""The findings that cost most, and how many others there are."""

from collections.abc import Iterable

from opcheck.model.report import Finding
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Canvas, split


def most_costly(findings: Iterable[Finding]) -> list[Finding]:
    """The worst verdict first; of one verdict, the most called first."""
    return sorted(findings, key=lambda finding: (-finding.verdict.rank, -finding.count))


def write_left_out(canvas: Canvas, count: int, noun: str = "finding") -> None:
    """How many entries a list does not show, and how to see them unless so few were asked for."""
    if not count:
        return
    more = words.more if canvas.page.top is None else words.and_more
    canvas.blank()
    canvas.flow(split(more(count, noun), "dim"), 2)
