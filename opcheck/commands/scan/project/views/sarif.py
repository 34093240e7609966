"""A project's answer as one log of SARIF 2.1.0 with a run for each source."""

from opcheck.model.project import ProjectReport
from opcheck.views.formats import PLAIN, Page
from opcheck.views.project.document import merged_logs
from opcheck.views.report import sarif


def render(found: ProjectReport, page: Page = PLAIN) -> str:
    """The runs of every report in one log."""
    reports = [one.report for one in found.sources if one.report is not None]
    return merged_logs([sarif.render(report, page) for report in reports])
