"""``opcheck.emulation/1``: what happened on an emulated device as a JSON object."""

from opcheck.model.emulation import Emulation
from opcheck.views.document.emulation import emulation_document
from opcheck.views.document.parts import as_text
from opcheck.views.formats import PLAIN, Page
from opcheck.views.order import arranged_emulation


def render(found: Emulation, page: Page = PLAIN) -> str:
    """Give the run as ``opcheck.emulation/1``, arranged by the contract."""
    return as_text(emulation_document(arranged_emulation(found)))
