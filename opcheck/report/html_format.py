"""The report as a web page: one file to open, send and keep."""

from opcheck.model.report import Report
from opcheck.report.base import PLAIN, Format, Page
from opcheck.report.order import arranged


class HtmlFormat(Format):
    """One self-contained page for a browser: picture, heat map, and every finding to search."""

    name = "html"

    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give the page; jinja2 is loaded here, so that other formats do without it."""
        from opcheck.report.html.page import html_page

        return html_page(arranged(report))
