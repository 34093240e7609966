"""Every answer as one JSON document by its schema; every byte follows from the answer."""

import json
from collections.abc import Sequence

from opcheck.model.choice import Choosing
from opcheck.model.database import DatabaseView
from opcheck.model.doctor import Doctor
from opcheck.model.emulation import Emulation
from opcheck.model.explanation import Explanation, TargetRow
from opcheck.model.fix import Fix
from opcheck.model.fleet_answers import FleetView
from opcheck.model.gate import GateResult
from opcheck.model.lint import Lint
from opcheck.model.report import Report
from opcheck.model.rule import RuleCheck, RuleInfo
from opcheck.model.tuning import Tuning
from opcheck.model.upgrade import Upgrade
from opcheck.report.base import PLAIN, Format, Page
from opcheck.report.document.choose import choose_document
from opcheck.report.document.database import database_document
from opcheck.report.document.doctor import doctor_document
from opcheck.report.document.emulation import emulation_document
from opcheck.report.document.fix import fix_document
from opcheck.report.document.fleet import fleet_document
from opcheck.report.document.gate import gate_document
from opcheck.report.document.lint import lint_document
from opcheck.report.document.listing import explanations_document, targets_document
from opcheck.report.document.parts import Json
from opcheck.report.document.report import report_document
from opcheck.report.document.rules import checks_document, rules_document
from opcheck.report.document.tune import tune_document
from opcheck.report.document.upgrade import upgrade_document
from opcheck.report.order import arranged, arranged_emulation


class JsonFormat(Format):
    """JSON by the published schemas, ASCII only, so that no terminal or pipe can spoil it."""

    name = "json"

    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give the report as ``opcheck.report/1``, arranged by the contract."""
        return _text(report_document(arranged(report)))

    def render_emulation(self, emulation: Emulation, page: Page = PLAIN) -> str:
        """Give the run as ``opcheck.emulation/1``, arranged by the contract."""
        return _text(emulation_document(arranged_emulation(emulation)))

    def render_upgrade(self, found: Upgrade, page: Page = PLAIN) -> str:
        """Give the moves as ``opcheck.upgrade/1``."""
        return _text(upgrade_document(found))

    def render_choose(self, found: Choosing, page: Page = PLAIN) -> str:
        """Give the targets by place as ``opcheck.choose/1``."""
        return _text(choose_document(found))

    def render_fix(self, found: Fix, page: Page = PLAIN) -> str:
        """Give what was written as ``opcheck.fix/1``."""
        return _text(fix_document(found))

    def render_lint(self, found: Lint, page: Page = PLAIN) -> str:
        """Give what was found in sources as ``opcheck.lint/1``."""
        return _text(lint_document(found))

    def render_doctor(self, found: Doctor, page: Page = PLAIN) -> str:
        """Give what is installed as ``opcheck.doctor/1``."""
        return _text(doctor_document(found))

    def render_tune(self, found: Tuning, page: Page = PLAIN) -> str:
        """Give what a model costs as ``opcheck.tune/1``."""
        return _text(tune_document(found))

    def render_gate(
        self, found: GateResult, page: Page = PLAIN, *, show_waived: bool = False
    ) -> str:
        """Give the gate's answer as ``opcheck.gate/1``, which always has what is waived."""
        return _text(gate_document(found))

    def render_rules(self, rules: Sequence[RuleInfo], page: Page = PLAIN) -> str:
        """Give the rules as ``opcheck.rules/1``."""
        return _text(rules_document(rules))

    def render_rule_checks(self, checks: Sequence[RuleCheck], page: Page = PLAIN) -> str:
        """Give the trials as ``opcheck.rule-check/1``."""
        return _text(checks_document(checks))

    def render_targets(self, rows: Sequence[TargetRow], page: Page = PLAIN) -> str:
        """Give the targets as ``opcheck.targets/1``."""
        return _text(targets_document(rows))

    def render_explanations(self, explanations: Sequence[Explanation], page: Page = PLAIN) -> str:
        """Give the explanations as ``opcheck.explain/1``."""
        return _text(explanations_document(explanations))

    def render_database(self, view: DatabaseView, page: Page = PLAIN) -> str:
        """Give what the database says of itself as ``opcheck.database/1``."""
        return _text(database_document(view))

    def render_fleet(self, view: FleetView, page: Page = PLAIN) -> str:
        """Give what is said of a fleet as ``opcheck.fleet-summary/1``, or by its other schemas."""
        return _text(fleet_document(view))


def _text(document: Json) -> str:
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
