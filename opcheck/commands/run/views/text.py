"""The page about a script on an emulated device: how it ended, what was asked, what it wrote."""

from opcheck.lang.sentence import Sentence, chained, verbatim
from opcheck.model.script import Ending, ScriptRun, Write
from opcheck.views.formats import PLAIN, Page
from opcheck.views.order import arranged_emulation
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Canvas, phrase, split
from opcheck.views.terminal.emulation import operators, write_footer, write_how, write_sections
from opcheck.views.terminal.findings import ROWS
from opcheck.views.terminal.head import mark, unbroken
from opcheck.views.terminal.notation import plural, size
from opcheck.views.terminal.sections import write_heading

_ENDINGS = {
    Ending.EXITED: "the script ended with status {count}",
    Ending.FAILED: "the script failed",
    Ending.REFUSED: "stopped at a refusal",
    Ending.CUT: "ended early",
}
_WRITES = ("Written", "seen by the script alone, and gone")
_RUN = "run"
_CAUGHT = "the script caught what the device raised at {text}, and went on"


def render(found: ScriptRun, page: Page = PLAIN) -> str:
    """How the script ended, what the device was asked for, and what is no longer there."""
    if page.quiet:
        canvas = unbroken(page)
        _write_outcome(canvas, found)
        return canvas.text()
    canvas = Canvas(page)
    emulation = arranged_emulation(found.emulation)
    _write_outcome(canvas, found)
    _write_error(canvas, found)
    for site in found.caught:
        canvas.flow(split(Sentence(_CAUGHT, text=f"{site.file}:{site.line}"), "yellow"), 2)
    _write_how(canvas, found)
    write_sections(canvas, emulation)
    _write_writes(canvas, found)
    write_footer(canvas, emulation)
    return canvas.text()


def _write_outcome(canvas: Canvas, found: ScriptRun) -> None:
    """Whether the device takes the script, in one line."""
    sign = mark(found.runs, canvas.marks)
    script = (" ".join(found.script.command), "bold")
    target = (found.emulation.target, "bold")
    said = split(_outcome(found), sign[1])
    canvas.flow([sign, *phrase(words.OUTCOME, said=said, model=[script], target=[target])])


def _outcome(found: ScriptRun) -> Sentence:
    emulation = found.emulation
    refused, unknown = operators(emulation.refusals), operators(emulation.unknown)
    numbers = refused, unknown, operators(emulation.host_calls)
    ended = _ENDINGS.get(found.ending)
    if ended is not None:
        said = Sentence(ended, count=found.status)
        if emulation.refusals and found.ending is not Ending.REFUSED:
            return chained((said, words.outcome(False, "", *numbers)), ", ")
        return said
    if not found.used:
        return Sentence("never used the device")
    return words.outcome(found.runs, "", *numbers)


def _write_error(canvas: Canvas, found: ScriptRun) -> None:
    """The user's own frames and the error, as Python shows them."""
    frames = found.frames if canvas.page.full else found.frames[-1:]
    for frame in frames:
        place = Sentence(
            'File "{file}", line {count}, in {module}',
            file=frame.file,
            count=frame.line,
            module=frame.function,
        )
        canvas.flow(split(place, "bold"), 2)
        if frame.source:
            canvas.flow([(frame.source, "")], 4)
    for line in found.emulation.error.splitlines():
        canvas.flow(split(line, "red"), 2)


def _write_how(canvas: Canvas, found: ScriptRun) -> None:
    ran = [plural(found.steps, "optimizer step"), plural(found.forwards, "forward call")]
    if found.ending is Ending.ENOUGH:
        ran.append(Sentence("then ended, as asked"))
    write_how(canvas, found.emulation, ran, _RUN)


def _write_writes(canvas: Canvas, found: ScriptRun) -> None:
    """What the script wrote and took away, in its own view of the files."""
    if not found.writes:
        return
    write_heading(canvas, _WRITES, plural(len(found.writes), "file"), "")
    shown = found.writes if canvas.page.full else found.writes[:ROWS]
    for item in shown:
        canvas.flow([(item.path, ""), *split(_size(item), "dim")], 4)
    if len(found.writes) > len(shown):
        canvas.flow(split(words.more(len(found.writes) - len(shown), "file"), "dim"), 4)
    canvas.flow(split("--write keeps such files", "dim"), 2)


def _size(item: Write) -> Sentence:
    return Sentence("taken away") if item.nbytes is None else verbatim(size(item.nbytes))
