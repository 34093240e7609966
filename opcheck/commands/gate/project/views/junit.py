"""A project's answer as JUnit's test suites: one for each source on each target."""

from opcheck.commands.gate.project.values import ProjectGate
from opcheck.commands.gate.views import junit
from opcheck.views.formats import PLAIN, Page
from opcheck.views.project.rest import inner, without_answer
from opcheck.views.report.junit import document


def render(found: ProjectGate, page: Page = PLAIN) -> str:
    """The suites of every source, then one of those that cannot be judged: each is an error."""
    answers = [junit.render(one.result, page) for one in found.sources if one.result is not None]
    suites = [line for text in answers for line in inner(text)]
    return document([*suites, *without_answer(found.report, page.started)])
