"""A script's run as a web page: that of a report, with how the script ended and what it wrote."""

from collections.abc import Iterator

from opcheck.commands.run import parting_words, sentences
from opcheck.lang.speech import tell
from opcheck.model.comparison import Comparison
from opcheck.model.script import ScriptRun
from opcheck.pipeline.script_report import report_of_script, without_end
from opcheck.views.formats import PLAIN, Page
from opcheck.views.html.facts import Part
from opcheck.views.html.head import Told
from opcheck.views.order import arranged
from opcheck.views.report.html import html_page
from opcheck.views.terminal import words
from opcheck.views.terminal.notation import plural


def render(found: ScriptRun, page: Page = PLAIN) -> str:
    """Give the page: the outcome, the script's own error, every finding, and what it wrote."""
    report = arranged(report_of_script(found))
    ended = report.trace.ended
    told = Told(
        tell(sentences.headline(found)),
        "\n".join(_failure(found)),
        tuple(_parts(found)),
        partial="" if ended is None else tell(words.partial(ended.where)),
    )
    return html_page(report if found.emulation.finished else without_end(report), told)


def _failure(found: ScriptRun) -> Iterator[str]:
    """All frames that are the user's own, and the error, as Python shows them."""
    for frame in found.frames:
        yield tell(sentences.place(frame))
        if frame.source:
            yield f"  {frame.source}"
    if not found.emulation.finished:
        yield found.emulation.error


def _parts(found: ScriptRun) -> Iterator[Part]:
    steps = plural(found.steps, "optimizer step")
    yield Part(*sentences.RAN, steps, tuple(_ran(found)), open=found.fits is False)
    if found.comparison is not None:
        yield _comparison(found.comparison)
    caught = sentences.caught(found)
    if caught:
        rows = tuple((f"{file}:{line}", said) for (file, line), said in caught.items())
        yield Part(*sentences.CAUGHT, plural(len(rows), "place"), rows, open=True)
    if found.writes:
        rows = tuple((item.path, sentences.written(item)) for item in found.writes)
        yield Part(*sentences.WRITES, plural(len(rows), "file"), rows)


def _ran(found: ScriptRun) -> Iterator[tuple[str, str]]:
    """How far the script came, and what its tensors took of the device."""
    yield "", plural(found.forwards, "forward call")
    if found.emulation.memory_peak:
        yield "", sentences.memory(found)


def _comparison(found: Comparison) -> Part:
    """Every place where the numbers part, or that none do, and what that rests on."""
    rows = [
        (parting_words.place(one) or tell(words.ROOT), parting_words.told(one))
        for one in found.partings
    ]
    if rows:
        rows.append(("", parting_words.agreeing(found)))
    else:
        rows.append(("", parting_words.headline(found)))
    rows += [("", note) for note in parting_words.notes(found)]
    count = plural(found.compared, "tensor")
    return Part(*parting_words.HEADING, count, tuple(rows), open=bool(found.partings))
