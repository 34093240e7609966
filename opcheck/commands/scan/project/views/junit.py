"""A project's answer as JUnit's test suites: one for each source on each target."""

from collections.abc import Iterator

from opcheck.commands.scan.project.sentences import unanswered
from opcheck.commands.scan.project.values import ProjectReport
from opcheck.lang.speech import tell
from opcheck.views.formats import PLAIN, Page
from opcheck.views.report import junit
from opcheck.views.report.junit import Case


def render(found: ProjectReport, page: Page = PLAIN) -> str:
    """The suites of every report, then one of the sources that have none: each is an error."""
    suites: list[str] = []
    for one in found.sources:
        if one.report is not None:
            suites += inner(junit.render(one.report, page))
    return junit.document([*suites, *without_answer(found)])


def inner(text: str) -> list[str]:
    """The lines of a document between its first two and its last."""
    return text.splitlines()[2:-1]


def without_answer(found: ProjectReport) -> Iterator[str]:
    """The suite of the sources without a whole answer; none where there are none."""
    cases = [
        Case(name, "error", tell(error), "not-checked", (tell(error), tell(hint)))
        for name, error, hint in unanswered(found)
    ]
    if cases:
        yield junit.plain_suite("opcheck", cases)
