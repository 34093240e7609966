"""``opcheck.project/1``: every source with its whole report."""

from opcheck.model.project import ProjectReport
from opcheck.views.document.parts import as_text
from opcheck.views.formats import PLAIN, Page
from opcheck.views.project.document import project_document


def render(found: ProjectReport, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.project/1``."""
    return as_text(project_document(found))
