"""The report as one JSON document by its schema; every byte follows from the answer."""

from opcheck.model.report import Report
from opcheck.views.document.parts import as_text
from opcheck.views.document.report import report_document
from opcheck.views.formats import PLAIN, Page
from opcheck.views.order import arranged


def render(report: Report, page: Page = PLAIN) -> str:
    """Give the report as ``opcheck.report/1``, arranged by the contract."""
    return as_text(report_document(arranged(report)))
