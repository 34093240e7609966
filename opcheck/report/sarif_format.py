"""SARIF 2.1.0: what breaks, for code scanning and for editors that show it."""

import json

from opcheck.lang.languages import Language
from opcheck.lang.speech import speaking
from opcheck.model.gate import GateResult
from opcheck.model.report import Report
from opcheck.report.base import PLAIN, Format, Page
from opcheck.report.order import arranged


class SarifFormat(Format):
    """One run with one result for each finding on each target that is not native there.

    It is English in every language: programs compare the messages of two logs.
    """

    name = "sarif"

    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give the log as JSON; its parts are loaded here, so that other formats do without."""
        from opcheck.report.sarif.log import sarif_log

        with speaking(Language.ENGLISH):
            return json.dumps(sarif_log(arranged(report)), indent=2, allow_nan=False) + "\n"

    def render_gate(
        self, found: GateResult, page: Page = PLAIN, *, show_waived: bool = False
    ) -> str:
        """Give the log; what is accepted is a result with a suppression, which says by what."""
        from opcheck.report.gate.sarif import gate_log

        with speaking(Language.ENGLISH):
            return json.dumps(gate_log(found), indent=2, allow_nan=False) + "\n"
