"""What a format of the report is, and which there are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import opcheck.report
from opcheck.errors import UsageError
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
from opcheck.registry import discover


@dataclass(frozen=True, slots=True)
class Page:
    """What a format for people may use of the place where it is read."""

    width: int = 80
    """Columns."""
    color: bool = False
    """Whether ANSI colour codes may be written."""
    ascii: bool = False
    """Whether marks and bars must be drawn in ASCII."""
    verbose: bool = False
    """Whether to list what is otherwise summarised."""
    quiet: bool = False
    """Whether to give the verdict alone, a line for each target."""
    explain: bool = False
    """Whether to show everything that each finding in trouble rests on."""
    top: int | None = None
    """How many findings to show, those that cost most; None: as many as there is room for."""

    locate: Callable[[str, int], str] | None = None
    """Gives the address of a line of code, "" where it has none; None: no hyperlink may be
    written."""

    @property
    def full(self) -> bool:
        """Whether nothing that is known of a finding is left out."""
        return self.verbose or self.explain


PLAIN = Page()
"""Eighty columns without colour."""


class Format(ABC):
    """One way to write the answer down; a file in this package is all that a new one needs."""

    name: ClassVar[str]
    """The value of ``--format``."""

    @abstractmethod
    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give the whole report as text that ends in a newline."""

    def render_emulation(self, emulation: Emulation, page: Page = PLAIN) -> str:
        """Give what happened on an emulated device; a format made for reports alone declines."""
        raise UsageError(*self._declined("emulate"))

    def render_upgrade(self, found: Upgrade, page: Page = PLAIN) -> str:
        """Give which moves would unblock a model; a format made for reports alone declines."""
        raise UsageError(*self._declined("upgrade"))

    def render_choose(self, found: Choosing, page: Page = PLAIN) -> str:
        """Give targets ranked for a model; a format made for reports alone declines."""
        raise UsageError(*self._declined("choose"))

    def render_plan(self, report: Report, page: Page = PLAIN) -> str:
        """Give a report that has suggestions; as any report, unless a format knows better."""
        return self.render(report, page)

    def render_fix(self, found: Fix, page: Page = PLAIN) -> str:
        """Give what was written and the proof; a format made for reports alone declines."""
        raise UsageError(*self._declined("fix"))

    def render_lint(self, found: Lint, page: Page = PLAIN) -> str:
        """Give what sources say that no dispatcher sees; one made for reports alone declines."""
        raise UsageError(*self._declined("lint"))

    def render_doctor(self, found: Doctor, page: Page = PLAIN) -> str:
        """Give what is installed and what goes together; one made for reports alone declines."""
        raise UsageError(*self._declined("doctor"))

    def render_tune(self, found: Tuning, page: Page = PLAIN) -> str:
        """Give what a model costs on chips; a format made for reports alone declines."""
        raise UsageError(*self._declined("tune"))

    def render_gate(
        self, found: GateResult, page: Page = PLAIN, *, show_waived: bool = False
    ) -> str:
        """Give what passes a policy and what fails; one made for reports alone declines."""
        raise UsageError(*self._declined("gate"))

    def render_rules(self, rules: Sequence[RuleInfo], page: Page = PLAIN) -> str:
        """Give the rewrite rules; a format made for reports alone declines."""
        raise UsageError(*self._declined("rules"))

    def render_rule_checks(self, checks: Sequence[RuleCheck], page: Page = PLAIN) -> str:
        """Give rules tried on many calls; a format made for reports alone declines."""
        raise UsageError(*self._declined("rules"))

    def render_targets(self, rows: Sequence[TargetRow], page: Page = PLAIN) -> str:
        """Give the targets of the database; a format made for reports alone declines."""
        raise UsageError(*self._declined("targets"))

    def render_explanations(self, explanations: Sequence[Explanation], page: Page = PLAIN) -> str:
        """Give operators explained; a format made for reports alone declines."""
        raise UsageError(*self._declined("explain"))

    def render_database(self, view: DatabaseView, page: Page = PLAIN) -> str:
        """Give what the database says of itself; a format made for reports alone declines."""
        raise UsageError(*self._declined("db"))

    def render_fleet(self, view: FleetView, page: Page = PLAIN) -> str:
        """Give what is said of a fleet as a whole; a format made for reports alone declines."""
        raise UsageError(*self._declined("fleet"))

    def _declined(self, command: str) -> tuple[str, str]:
        return (
            f"the format {self.name!r} is for reports; opcheck {command} cannot write it",
            "use --format text or --format json",
        )


def formats() -> tuple[type[Format], ...]:
    """Every format, by name."""
    return discover(opcheck.report, Format)  # type: ignore[type-abstract]  # only subclasses come


def listing_formats() -> tuple[type[Format], ...]:
    """Those that write every answer, and not reports alone."""
    return tuple(kind for kind in formats() if kind.render_targets is not Format.render_targets)


def gate_formats() -> tuple[type[Format], ...]:
    """Those that write the answer of a gate."""
    return tuple(kind for kind in formats() if kind.render_gate is not Format.render_gate)


def fleet_formats() -> tuple[type[Format], ...]:
    """Those that write what is said of a fleet."""
    return tuple(kind for kind in formats() if kind.render_fleet is not Format.render_fleet)


def format_named(name: str) -> Format:
    """The format called ``name``."""
    known = {kind.name: kind for kind in formats()}
    if name not in known:
        raise UsageError(f"unknown format: {name!r}", f"known formats: {', '.join(known)}")
    return known[name]()
