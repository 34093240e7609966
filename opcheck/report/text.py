"""The report for people at a terminal."""

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
from opcheck.report.order import arranged, arranged_emulation


class TextFormat(Format):
    """Does it run, on what share natively, what breaks, where in my code; then the rest."""

    name = "text"

    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give the page; rich is loaded here, so that other formats do without it."""
        from opcheck.report.terminal.page import report_page
        from opcheck.report.terminal.quiet import report_lines

        if page.quiet:
            return report_lines(arranged(report), page)
        return report_page(arranged(report), page)

    def render_emulation(self, emulation: Emulation, page: Page = PLAIN) -> str:
        """Say what the device took, what it refused, and what went to the host."""
        from opcheck.report.terminal.emulation.page import emulation_page
        from opcheck.report.terminal.quiet import emulation_line

        if page.quiet:
            return emulation_line(emulation, page)
        return emulation_page(arranged_emulation(emulation), page)

    def render_upgrade(self, found: Upgrade, page: Page = PLAIN) -> str:
        """Name the best move, smaller ones, and what removes each finding."""
        from opcheck.report.terminal.upgrade.page import upgrade_page

        return upgrade_page(found, page)

    def render_choose(self, found: Choosing, page: Page = PLAIN) -> str:
        """Give the targets by place, each with the reason for it, and what is not known."""
        from opcheck.report.terminal.choose.page import choose_page

        return choose_page(found, page)

    def render_plan(self, report: Report, page: Page = PLAIN) -> str:
        """Say what each tier brings, then the way out of each finding."""
        from opcheck.report.terminal.plan.page import plan_page
        from opcheck.report.terminal.quiet import plan_lines

        if page.quiet:
            return plan_lines(arranged(report), page)
        return plan_page(arranged(report), page)

    def render_fix(self, found: Fix, page: Page = PLAIN) -> str:
        """Say what was written, what it follows, and whether it holds."""
        from opcheck.report.terminal.fix.page import fix_page

        return fix_page(found, page)

    def render_lint(self, found: Lint, page: Page = PLAIN) -> str:
        """Say what is written for CUDA alone, where, and what to write instead."""
        from opcheck.report.terminal.lint.page import lint_page

        return lint_page(found, page)

    def render_doctor(self, found: Doctor, page: Page = PLAIN) -> str:
        """Say what is here, what does not go together, and what would."""
        from opcheck.report.terminal.doctor.page import doctor_page

        return doctor_page(found, page)

    def render_tune(self, found: Tuning, page: Page = PLAIN) -> str:
        """Say what it costs at least, where the time goes, and what to change."""
        from opcheck.report.terminal.tune.page import tune_page

        return tune_page(found, page)

    def render_gate(
        self, found: GateResult, page: Page = PLAIN, *, show_waived: bool = False
    ) -> str:
        """Say what fails and where, how much is hidden, and which waivers are idle."""
        from opcheck.report.terminal.gate.page import gate_page
        from opcheck.report.terminal.quiet import gate_lines

        if page.quiet:
            return gate_lines(found, page)
        return gate_page(found, page, show_waived=show_waived)

    def render_rules(self, rules: Sequence[RuleInfo], page: Page = PLAIN) -> str:
        """Give one paragraph for each rule, or one rule's page."""
        from opcheck.report.terminal.plan.rules import rules_page

        return rules_page(rules, page)

    def render_rule_checks(self, checks: Sequence[RuleCheck], page: Page = PLAIN) -> str:
        """Give one line for each overload, and the first call that is off."""
        from opcheck.report.terminal.plan.rules import checks_page

        return checks_page(checks, page)

    def render_targets(self, rows: Sequence[TargetRow], page: Page = PLAIN) -> str:
        """Give one row a target."""
        from opcheck.report.terminal.listing import targets_page

        return targets_page(rows, page)

    def render_explanations(self, explanations: Sequence[Explanation], page: Page = PLAIN) -> str:
        """Give one paragraph for each operator on each target."""
        from opcheck.report.terminal.explain import explanations_page

        return explanations_page(explanations, page)

    def render_database(self, view: DatabaseView, page: Page = PLAIN) -> str:
        """Say how old it is, what it holds, what changed or what is wrong."""
        from opcheck.report.terminal.database.page import database_page

        return database_page(view, page)

    def render_fleet(self, view: FleetView, page: Page = PLAIN) -> str:
        """Say how many models run where, what would unblock most, or what changed."""
        from opcheck.report.terminal.fleet.page import fleet_page

        return fleet_page(view, page)
