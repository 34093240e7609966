"""The report as a web page: one self-contained file to open, send and keep."""

from opcheck.model.report import Report
from opcheck.views.html.page import html_page
from opcheck.views.order import arranged
from opcheck.views.page import PLAIN, Page


def render(report: Report, page: Page = PLAIN) -> str:
    """Give the page: picture, heat map, and every finding to search."""
    return html_page(arranged(report))
