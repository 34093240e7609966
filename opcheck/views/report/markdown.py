"""A comment for a pull request: the verdict, a table of targets, and what breaks, folded."""

from opcheck.model.report import Report
from opcheck.views.markdown.comment import comment
from opcheck.views.order import arranged
from opcheck.views.page import PLAIN, Page


def render(report: Report, page: Page = PLAIN) -> str:
    """Give what GitHub and GitLab show, within what GitHub takes; what does not fit is counted."""
    return comment(arranged(report))
