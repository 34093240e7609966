"""SARIF 2.1.0: what breaks, for code scanning and for editors that show it.

It is English in every language: programs compare the messages of two logs.
"""

from opcheck.lang.speech import Language, speaking
from opcheck.model.report import Report
from opcheck.views.document.parts import as_text
from opcheck.views.order import arranged
from opcheck.views.page import PLAIN, Page
from opcheck.views.sarif.log import sarif_log


def render(report: Report, page: Page = PLAIN) -> str:
    """Give one run with a result for each finding on each target that is not native there."""
    with speaking(Language.ENGLISH):
        return as_text(sarif_log(arranged(report)))
