"""The page on a project at the gate: a line for each source and target, then what fails."""

from opcheck.commands.gate import sentences as of_gate
from opcheck.commands.gate.project import sentences
from opcheck.commands.gate.project.values import ProjectGate, SourceGate
from opcheck.commands.gate.values import GateResult
from opcheck.commands.gate.views import text as gate_text
from opcheck.lang.sentence import Sentence, verbatim
from opcheck.lang.speech import wording
from opcheck.views.formats import PLAIN, Page
from opcheck.views.project.rest import TARGETS, write_rest
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import Atom, Canvas, split, split_translated
from opcheck.views.terminal.head import mark

PAGES = 5
"""Sources that fail whose whole answer is shown unless all are asked for."""


def render(found: ProjectGate, page: Page = PLAIN) -> str:
    """The whole answer as text, with that of each source that fails."""
    canvas = Canvas(page)
    sign = mark(found.passed, canvas.marks)
    said = wording(sentences.headline(found)).replace("{folder}", found.report.folder)
    canvas.flow([sign, *split_translated(said, sign[1])])
    canvas.flow(split(sentences.counted(found)), 2)
    canvas.flow(split(sentences.hidden(found)), 2)
    if page.quiet:
        return canvas.text()
    canvas.blank()
    for one in found.sources:
        _write_source(canvas, one)
    write_rest(canvas, found.report)
    for note in found.notes:
        canvas.flow(split(note, "yellow"), 2)
    _write_foot(canvas, found)
    return canvas.text() + _pages(found, page)


def _write_source(canvas: Canvas, one: SourceGate) -> None:
    canvas.flow([mark(bool(one.passed), canvas.marks), (one.name, "bold")])
    if one.result is None or (one.error and not one.fails):
        return
    _write_targets(canvas, one.result)


def _write_targets(canvas: Canvas, found: GateResult) -> None:
    """Each target with how it fares, those that fail first where there are many."""
    targets = sorted(found.targets, key=lambda one: one.passed)
    shown = targets if canvas.page.full else targets[:TARGETS]
    for target in shown if len(targets) > TARGETS else found.targets:
        sign = mark(target.passed, canvas.marks)
        name: list[Atom] = [(f"{target.target}:", "")]
        lead = [("  ", ""), sign, (" ", "")]
        canvas.flow([*name, *split(of_gate.verdict(target), sign[1])], 4, lead)
    if len(shown) < len(targets):
        canvas.flow(split(common.and_more(len(targets) - len(shown), "target"), "dim"), 4)


def _write_foot(canvas: Canvas, found: ProjectGate) -> None:
    canvas.blank()
    policy = Sentence("policy: {file}", file=found.policy)
    canvas.flow(split(policy if found.policy else Sentence(of_gate.NO_POLICY), "dim"))
    canvas.flow(split(verbatim(f"opcheck {found.opcheck_version}"), "dim"))


def _pages(found: ProjectGate, page: Page) -> str:
    """The answers on the sources that fail, as far as there is room."""
    results = [one.result for one in found.sources if one.fails and one.result is not None]
    shown = results if page.full else results[:PAGES]
    return "".join(f"\n{gate_text.render(one, page)}" for one in shown)
