"""Workflow commands of GitHub Actions: what breaks, at its line in the pull request."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from opcheck.lang.catalogue import joined
from opcheck.lang.speech import tell
from opcheck.model.gate import GateResult
from opcheck.model.report import Report
from opcheck.model.verdict import Verdict
from opcheck.report.base import PLAIN, Format, Page
from opcheck.report.order import arranged
from opcheck.report.problems import claim, ended, what_of_it, where
from opcheck.report.terminal import words
from opcheck.report.workflow import command

if TYPE_CHECKING:
    from opcheck.report.terminal.groups import Block

COMMANDS = {
    Verdict.UNSUPPORTED: "error",
    Verdict.UNKNOWN: "warning",
    Verdict.FALLBACK: "notice",
}
NAMED = 10
"""Targets that one annotation names."""


class GithubFormat(Format):
    """One annotation a finding, the worst first: GitHub shows ten of a kind for each step.

    A finding that is the same on several targets is one annotation that names them all.
    """

    name = "github"

    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give one command a line."""
        report = arranged(report)
        unseen = f"opcheck: {tell('not seen')}"
        lines = [_summary(report)]
        lines += [
            command("warning", {"title": unseen}, f"{gap.where}: {tell(gap.reason)}")
            for gap in report.trace.gaps
        ]
        lines += [_finding(report, block) for block in _blocks(report)]
        return "".join(f"{line}\n" for line in lines)

    def render_gate(
        self, found: GateResult, page: Page = PLAIN, *, show_waived: bool = False
    ) -> str:
        """Give the answer, then an error for each thing that fails."""
        from opcheck.report.gate.github import annotations

        return annotations(found, show_waived=show_waived)


def _blocks(report: Report) -> Iterator["Block"]:
    """What the text report would show one by one, as far as it is not good news."""
    from opcheck.report.terminal.groups import sections

    for section in sections(report.targets, verbose=True):
        yield from (block for block in section.blocks if not block.first.verdict.on_device)


def _finding(report: Report, block: "Block") -> str:
    finding = block.first
    file, line = where(report, finding)
    why = [f"{_named(on)}: {tell(ended(text))}" for (text, _), on in block.said.items()]
    return command(
        COMMANDS[finding.verdict],
        {"file": file, "line": str(line), "title": f"{finding.op}: {tell(finding.verdict)}"},
        joined([claim(finding, bool(block.elsewhere)), *why, what_of_it(finding)]),
    )


def _summary(report: Report) -> str:
    runs = [target.summary.runs for target in report.targets]
    told = [report.model.source or tell("the model")]
    if len(runs) > NAMED:
        told.append(tell(words.headline(len(runs), runs.count(True), runs.count(False))))
    else:
        said = {runs: tell(text) for runs, text in words.RUNS.items()}
        told += [f"{target.target}: {said[target.summary.runs]}" for target in report.targets]
    return command("notice", {"title": "opcheck"}, "\n".join(told))


def _named(targets: Sequence[str]) -> str:
    told = list(targets[:NAMED])
    if len(targets) > NAMED:
        told[-1] += f" {tell(words.and_more(len(targets) - NAMED, 'target'))}"
    return ", ".join(told)
