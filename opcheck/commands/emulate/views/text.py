"""The page about a run on an emulated device: what ended it, and the calls."""

from opcheck.model.emulation import Emulation
from opcheck.views.formats import PLAIN, Page
from opcheck.views.order import arranged_emulation
from opcheck.views.terminal.canvas import Canvas
from opcheck.views.terminal.emulation import (
    write_footer,
    write_head,
    write_outcome,
    write_sections,
)
from opcheck.views.terminal.head import unbroken


def render(found: Emulation, page: Page = PLAIN) -> str:
    """What the device took, what it refused, and what went to the host; or if it got through."""
    if page.quiet:
        canvas = unbroken(page)
        write_outcome(canvas, found)
        return canvas.text()
    found, canvas = arranged_emulation(found), Canvas(page)
    write_head(canvas, found)
    write_sections(canvas, found)
    write_footer(canvas, found)
    return canvas.text()
