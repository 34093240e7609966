"""A comment for a pull request: the verdict, a table of targets, and what breaks, folded."""

from opcheck.model.gate import GateResult
from opcheck.model.report import Report
from opcheck.report.base import PLAIN, Format, Page
from opcheck.report.order import arranged


class MarkdownFormat(Format):
    """What GitHub and GitLab show, within what GitHub takes; what does not fit is counted."""

    name = "markdown"

    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give the comment; how findings are put together is the text report's."""
        from opcheck.report.markdown.comment import comment

        return comment(arranged(report))

    def render_gate(
        self, found: GateResult, page: Page = PLAIN, *, show_waived: bool = False
    ) -> str:
        """Give a comment on pass or fail, what fails, and what changed since the base."""
        from opcheck.report.gate.comment import gate_comment

        return gate_comment(found, show_waived=show_waived)
