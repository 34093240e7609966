"""A project's answer as JUnit's test suites: one for each source on each target."""

from opcheck.model.project import ProjectReport
from opcheck.views.formats import PLAIN, Page
from opcheck.views.project.rest import inner, without_answer
from opcheck.views.report import junit


def render(found: ProjectReport, page: Page = PLAIN) -> str:
    """The suites of every report, then one of the sources that have none: each is an error."""
    suites: list[str] = []
    for one in found.sources:
        if one.report is not None:
            suites += inner(junit.render(one.report, page))
    return junit.document([*suites, *without_answer(found, page.started)])
