"""The order of what is said about a run on an emulated device."""

from opcheck.commands.emulate.terminal.calls import write_calls
from opcheck.commands.emulate.terminal.compared import write_agreement, write_differences
from opcheck.commands.emulate.terminal.head import write_head, write_outcome
from opcheck.model.emulation import Emulation
from opcheck.model.verdict import Verdict
from opcheck.views.order import arranged_emulation
from opcheck.views.page import PLAIN, Page
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Canvas, split
from opcheck.views.terminal.quiet import unbroken
from opcheck.views.terminal.rest import write_gaps, write_heading, write_kernel_counts


def render(found: Emulation, page: Page = PLAIN) -> str:
    """What the device took, what it refused, and what went to the host; or if it got through."""
    if page.quiet:
        canvas = unbroken(page)
        write_outcome(canvas, found)
        return canvas.text()
    return _page(arranged_emulation(found), page)


def _page(found: Emulation, page: Page) -> str:
    """The whole text: the outcome, what is refused, what runs elsewhere or otherwise, the rest."""
    canvas = Canvas(page)
    write_head(canvas, found)
    left = page.top
    for heading, style, some in (
        (words.REFUSED, "red", found.refusals),
        (words.ON_HOST, "yellow", found.host_calls),
        (words.heading(Verdict.UNKNOWN), "magenta", found.unknown),
        (words.CAUTIONS, "yellow", tuple(i for i in found.cautions if i not in found.unknown)),
    ):
        shown = write_calls(canvas, heading, style, some, said=found.error, most=left)
        left = None if left is None else left - shown
    if found.gaps:
        write_gaps(canvas, found.gaps)
    if found.differences is not None:
        write_differences(canvas, found.differences)
    if found.agreement is not None:
        write_agreement(canvas, found.agreement)
    write_heading(canvas, words.KERNELS, "", "")
    if found.kernels:
        write_kernel_counts(canvas, found.kernels, others=words.ELSEWHERE)
    else:
        canvas.flow(split(words.NOTHING_ASKED), 2)
    _write_footer(canvas, found)
    return canvas.text()


def _write_footer(canvas: Canvas, found: Emulation) -> None:
    """What the answer rests on."""
    dot = canvas.marks.dot
    canvas.blank()
    for note in found.notes:
        canvas.flow(split(note, "dim"))
    database = f" {dot} database {found.database_digest}" if found.database_digest else ""
    kind = f"{found.model.kind} {dot} " if found.model.kind else ""
    canvas.flow(split(f"{kind}opcheck {found.opcheck_version}{database}", "dim"))
