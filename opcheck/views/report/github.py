"""Workflow commands of GitHub Actions: what breaks, at its line in the pull request."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from opcheck.lang.catalogue import joined
from opcheck.lang.speech import tell
from opcheck.model.report import Report
from opcheck.model.verdict import Verdict
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import claim, command, ended, what_of_it, where
from opcheck.views.order import arranged
from opcheck.views.terminal import words

if TYPE_CHECKING:
    from opcheck.views.terminal.groups import Block

COMMANDS = {
    Verdict.UNSUPPORTED: "error",
    Verdict.UNKNOWN: "warning",
    Verdict.FALLBACK: "notice",
}
NAMED = 10
"""Targets that one annotation names."""


def render(report: Report, page: Page = PLAIN) -> str:
    """Give one command a line."""
    report = arranged(report)
    return "".join(f"{line}\n" for line in (_summary(report), *annotations(report)))


def annotations(report: Report) -> Iterator[str]:
    """What was not seen, then what breaks; each is a command."""
    unseen = f"opcheck: {tell('not seen')}"
    for gap in report.trace.gaps:
        yield command("warning", {"title": unseen}, f"{gap.where}: {tell(gap.reason)}")
    yield from (_finding(report, block) for block in _blocks(report))


def _blocks(report: Report) -> Iterator["Block"]:
    """What the text report would show one by one, as far as it is not good news."""
    from opcheck.views.terminal.groups import sections

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
    told = [report.model.source or tell("the model")]
    if len(report.targets) > NAMED:
        told.append(tell(words.headline(report.targets)))
    else:
        told += [f"{target.target}: {tell(words.runs(target))}" for target in report.targets]
    return command("notice", {"title": "opcheck"}, "\n".join(told))


def _named(targets: Sequence[str]) -> str:
    told = list(targets[:NAMED])
    if len(targets) > NAMED:
        told[-1] += f" {tell(words.and_more(len(targets) - NAMED, 'target'))}"
    return ", ".join(told)
