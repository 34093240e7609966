"""The page about a script on an emulated device: how it ended, what was asked, what it wrote."""

from opcheck.commands.run import sentences
from opcheck.commands.run.comparison_section import write_comparison
from opcheck.lang.sentence import Sentence
from opcheck.model.script import Ending, ScriptRun
from opcheck.pipeline.script_report import report_of_script
from opcheck.views.formats import PLAIN, Page
from opcheck.views.order import arranged, arranged_emulation
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Canvas, phrase, split
from opcheck.views.terminal.emulation import write_footer, write_how, write_sections
from opcheck.views.terminal.findings import ROWS
from opcheck.views.terminal.head import mark, unbroken
from opcheck.views.terminal.notation import plural
from opcheck.views.terminal.plan import outcome, write_steps_and_ways
from opcheck.views.terminal.sections import write_heading


def render(found: ScriptRun, page: Page = PLAIN) -> str:
    """How the script ended, what the device was asked for, and what is no longer there."""
    if page.quiet:
        canvas = unbroken(page)
        _write_outcome(canvas, found)
        return canvas.text()
    canvas = Canvas(page)
    emulation = arranged_emulation(found.emulation)
    target = None if found.plan is None else arranged(report_of_script(found)).targets[0]
    _write_outcome(canvas, found)
    _write_error(canvas, found)
    for said in sentences.caught(found).values():
        canvas.flow(split(said, "yellow"), 2)
    _write_how(canvas, found)
    if target is not None and found.used:
        canvas.flow(split(outcome(target)), 2)
    if found.comparison is not None:
        write_comparison(canvas, found.comparison)
    write_sections(canvas, emulation)
    if target is not None:
        write_steps_and_ways(canvas, target)
    _write_writes(canvas, found)
    write_footer(canvas, emulation)
    return canvas.text()


def _write_outcome(canvas: Canvas, found: ScriptRun) -> None:
    """Whether the device takes the script, in one line."""
    sign = mark(found.runs, canvas.marks)
    script = (" ".join(found.script.command), "bold")
    target = (found.emulation.target, "bold")
    said = split(sentences.outcome(found), sign[1])
    canvas.flow([sign, *phrase(words.OUTCOME, said=said, model=[script], target=[target])])


def _write_error(canvas: Canvas, found: ScriptRun) -> None:
    """The user's own frames and the error, as Python shows them."""
    frames = found.frames if canvas.page.full else found.frames[-1:]
    for frame in frames:
        canvas.flow(split(sentences.place(frame), "bold"), 2)
        if frame.source:
            canvas.flow([(frame.source, "")], 4)
    for line in found.emulation.error.splitlines():
        canvas.flow(split(line, "red"), 2)


def _write_how(canvas: Canvas, found: ScriptRun) -> None:
    ran = [plural(found.steps, "optimizer step"), plural(found.forwards, "forward call")]
    if found.ending is Ending.ENOUGH:
        ran.append(Sentence("then ended, as asked"))
    write_how(canvas, found.emulation, ran, words.WHOLE_RUN)
    if found.emulation.memory_peak:
        tight = "yellow" if found.basis.memory is not None and not found.fits else ""
        style = "red" if found.fits is False else tight
        canvas.flow(split(sentences.memory(found), style), 2)


def _write_writes(canvas: Canvas, found: ScriptRun) -> None:
    """What the script wrote and took away, in its own view of the files."""
    if not found.writes:
        return
    write_heading(canvas, sentences.WRITES, plural(len(found.writes), "file"), "")
    shown = found.writes if canvas.page.full else found.writes[:ROWS]
    for item in shown:
        canvas.flow([(item.path, ""), *split(sentences.written(item), "dim")], 4)
    if len(found.writes) > len(shown):
        canvas.flow(split(words.more(len(found.writes) - len(shown), "file"), "dim"), 4)
    canvas.flow(split("--write keeps such files", "dim"), 2)
