"""The report for people at a terminal: does it run, what breaks, where in my code, the rest."""

from opcheck.model.report import Report
from opcheck.views.order import arranged
from opcheck.views.page import PLAIN, Page


def render(report: Report, page: Page = PLAIN) -> str:
    """Give the page, or that of the plan where the report has one."""
    report = arranged(report)
    if any(target.plan is not None for target in report.targets):
        from opcheck.views.terminal.plan.page import plan_lines, plan_page

        return plan_lines(report, page) if page.quiet else plan_page(report, page)
    from opcheck.views.terminal.page import report_page
    from opcheck.views.terminal.quiet import report_lines

    return report_lines(report, page) if page.quiet else report_page(report, page)
