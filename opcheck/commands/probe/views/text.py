"""The page on a device that was tried: counts, what failed, and where the list says otherwise."""

from collections.abc import Sequence

from opcheck.lang.sentence import Sentence, with_sign
from opcheck.lang.speech import tell
from opcheck.model.probe import Differs, Noted, Observed, Outcome, Probe
from opcheck.model.trace import TensorMeta, Value
from opcheck.views.formats import Page
from opcheck.views.terminal.canvas import Canvas, split
from opcheck.views.terminal.notation import plural
from opcheck.views.terminal.sections import write_heading

SHOWN = 20
"""How many are listed unless all are asked for."""
FAILED = ("Failed", "one call of each overload")
OTHERWISE = (
    "Otherwise than listed",
    "the device did one thing, the list of the target says another",
)
SAME = "every call fared as the list of the target says"
NO_LIST = "there is no list of the host to compare with"
_STYLES = {
    Outcome.WORKS: "green",
    Outcome.FALLS_BACK: "yellow",
    Outcome.WRONG: "red",
    Outcome.RAISES: "red",
    Outcome.CRASHES: "bold red",
    Outcome.HANGS: "bold red",
}
OUTCOMES = {
    Outcome.WORKS: "works",
    Outcome.FALLS_BACK: "falls back",
    Outcome.WRONG: "wrong values",
    Outcome.RAISES: "raises",
    Outcome.CRASHES: "crashes",
    Outcome.HANGS: "hangs",
}
"""What came of a call, in words."""


def probe_page(found: Probe, page: Page) -> str:
    """The whole answer as text."""
    canvas = Canvas(page)
    _write_head(canvas, found)
    if found.failures:
        write_heading(canvas, FAILED, plural(len(found.failures), "overload"), "red")
        _write_calls(canvas, found.failures)
    _write_differences(canvas, found)
    canvas.blank()
    canvas.flow(split(Sentence("overlay: {path}", path=found.overlay)))
    canvas.flow(split(Sentence("every call: {path}", path=found.journal)))
    return canvas.text()


def _write_head(canvas: Canvas, found: Probe) -> None:
    name = f"{found.device} ({found.target})" if found.target else found.device
    canvas.flow([(name, "bold"), *split(plural(found.samples, "sample"))])
    canvas.table(
        [
            [(tell(OUTCOMES[outcome]), ""), (tell(plural(count, "overload")), _STYLES[outcome])]
            for outcome in Outcome
            if (count := found.overloads.get(outcome, 0))
        ]
    )
    if found.refused:
        nothing = (
            "{count} sample told nothing: the host refuses"
            if found.refused == 1
            else "{count} samples told nothing: the host refuses"
        )
        canvas.flow(split(Sentence(nothing, count=f"{found.refused:,}")), 2)


def _write_calls(canvas: Canvas, failures: Sequence[Noted]) -> None:
    shown = failures if canvas.page.verbose else failures[:SHOWN]
    for each in shown:
        _write_call(canvas, each.observed)
    _write_rest(canvas, len(failures) - len(shown))


def _write_call(canvas: Canvas, call: Observed) -> None:
    style = _STYLES[call.outcome]
    canvas.flow([(call.op, "bold"), *split(OUTCOMES[call.outcome], style)], 2)
    if call.arguments:
        canvas.field("call", [(_argument(*each), "") for each in call.arguments], 4)
    if call.text:
        canvas.field("why", [(word, "") for word in call.text.split()], 4)


def _write_differences(canvas: Canvas, found: Probe) -> None:
    if not found.differs:
        canvas.blank()
        canvas.flow(split(SAME if found.target else NO_LIST))
        return
    write_heading(canvas, OTHERWISE, plural(len(found.differs), "call"), "yellow")
    decides = (
        "of {count} call that the list decides"
        if found.compared == 1
        else "of {count} calls that the list decides"
    )
    canvas.flow(split(Sentence(decides, count=f"{found.compared:,}"), "dim"), 2)
    shown = found.differs if canvas.page.verbose else found.differs[:SHOWN]
    for each in shown:
        _write_call(canvas, each.observed)
        canvas.field("list", _listed(each), 4)
    _write_rest(canvas, len(found.differs) - len(shown))


def _listed(each: Differs) -> list[tuple[str, str]]:
    return [(tell(with_sign(each.listed, ":")), ""), *split(each.reason)]


def _write_rest(canvas: Canvas, left: int) -> None:
    if left:
        more = Sentence("{count} more; --verbose lists all", count=f"{left:,}")
        canvas.flow(split(more, "dim"), 2)


def _argument(name: str, value: Value) -> str:
    return f"{name}: {value}" if isinstance(value, TensorMeta) else f"{name}={_text(value)}"


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    return str(value)
