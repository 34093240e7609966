"""The report for people at a terminal: does it run, what breaks, where in my code, the rest."""

from opcheck.model.report import Report
from opcheck.views.formats import PLAIN, Page
from opcheck.views.order import arranged


def render(report: Report, page: Page = PLAIN) -> str:
    """Give the page, or that of the plan where the report has one."""
    report = arranged(report)
    if any(target.plan is not None for target in report.targets):
        from opcheck.views.terminal.plan import plan_lines, plan_page

        return plan_lines(report, page) if page.quiet else plan_page(report, page)
    from opcheck.views.terminal.head import report_lines
    from opcheck.views.terminal.page import report_page

    return report_lines(report, page) if page.quiet else report_page(report, page)
