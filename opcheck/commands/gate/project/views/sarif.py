"""A project's answer as one log of SARIF 2.1.0 with a run for each source."""

from opcheck.commands.gate.project.values import ProjectGate
from opcheck.commands.gate.views import sarif
from opcheck.views.formats import PLAIN, Page
from opcheck.views.project.document import merged_logs


def render(found: ProjectGate, page: Page = PLAIN) -> str:
    """The runs of every source in one log."""
    results = [one.result for one in found.sources if one.result is not None]
    return merged_logs([sarif.render(one, page) for one in results])
