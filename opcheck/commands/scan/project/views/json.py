"""``opcheck.project/1``: every source with its whole report."""

from opcheck.commands.scan.project.document import project_document
from opcheck.commands.scan.project.values import ProjectReport
from opcheck.views.document.parts import as_text
from opcheck.views.formats import PLAIN, Page


def render(found: ProjectReport, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.project/1``."""
    return as_text(project_document(found))
