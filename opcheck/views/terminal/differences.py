"""The device compared with the host, and the scan with the device."""

from collections.abc import Sequence

from opcheck.lang.sentence import Sentence, chained, with_sign
from opcheck.lang.speech import tell
from opcheck.model.emulation import (
    Agreement,
    Difference,
    Disagreement,
    is_after_step,
    is_gradient,
)
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, split
from opcheck.views.terminal.findings import NAMES, ROWS, after_dot
from opcheck.views.terminal.sections import write_heading


def write_differences(canvas: Canvas, differences: Sequence[Difference]) -> None:
    """How far outputs, gradients and parameters are off; each of them when asked for."""
    write_heading(canvas, words.DIFFERENCES, "", "")
    if not differences:
        canvas.flow(split(words.NOTHING_COMPARED), 2)
    elif canvas.page.verbose:
        for difference in differences:
            canvas.flow(
                [(f"{difference.name}:", "bold"), _largest(difference), _type(difference)], 2
            )
    else:
        for kind, some in _by_kind(differences).items():
            _write_kind(canvas, kind, some)


def write_agreement(canvas: Canvas, agreement: Agreement) -> None:
    """That the prediction came true, or a row for each overload where it did not."""
    write_heading(canvas, words.AGREEMENT, "", "")
    counts = agreement.native, agreement.missing, agreement.refused
    told = agreement.disagreements
    if agreement.ended:
        text = words.held_until(agreement.ended)
        canvas.flow([(canvas.marks.open, "yellow"), *split(text)], 2)
    if not told:
        if agreement.whole:
            canvas.flow([(canvas.marks.good, "green"), *split(words.agree(*counts))], 2)
        return
    canvas.flow([(canvas.marks.bad, "red"), *split(words.disagree(len(told), *counts))], 2)
    canvas.blank()
    shown = told if canvas.page.verbose else told[:ROWS]
    _write_disagreements(canvas, shown)
    if len(told) > len(shown):
        canvas.flow(split(words.more(len(told) - len(shown), "disagreement"), "dim"), 4)


def _by_kind(differences: Sequence[Difference]) -> dict[str, list[Difference]]:
    found: dict[str, list[Difference]] = {}
    for difference in differences:
        found.setdefault(_kind(difference.name), []).append(difference)
    return found


def _kind(name: str) -> str:
    """What the name says that it is."""
    if is_gradient(name):
        return words.GRADIENTS
    return words.PARAMETERS if is_after_step(name) else words.OUTPUTS


def _write_kind(canvas: Canvas, kind: str, some: Sequence[Difference]) -> None:
    label: list[Atom] = split(with_sign(kind, ":"), "bold")
    numbers = {item: item.largest for item in some if item.largest is not None}
    if numbers:
        worst = max(numbers, key=lambda item: numbers[item])
        if numbers[worst]:
            about = split(words.compared(len(numbers), _figure(numbers[worst])))
            canvas.flow([*label, *about, *split(worst.name), _type(worst)], 2)
        else:
            canvas.flow([*label, *split(words.all_equal(len(numbers)))], 2)
    if odd := [item.name for item in some if item.largest is None]:
        more = split(words.more(len(odd) - NAMES, "name"), "dim") if len(odd) > NAMES else []
        lead = [*label, *split(words.no_number(len(odd)), "red")]
        canvas.flow([*lead, *listed(odd[:NAMES]), *more], 2)


def _largest(difference: Difference) -> Atom:
    if difference.largest is None:
        return tell(words.NO_NUMBER), "red"
    return _figure(difference.largest), ""


def _figure(largest: float) -> str:
    return f"{largest:.3g}"


def _type(difference: Difference) -> Atom:
    return f"({difference.dtype}[{','.join(map(str, difference.shape))}])", "dim"


def _write_disagreements(canvas: Canvas, told: Sequence[Disagreement]) -> None:
    """A table where the page is wide enough, else two lines a row."""
    header: list[Atom] = [
        (tell(name, COLUMN_CONTEXT), "dim") for name in words.DISAGREEMENT_COLUMNS
    ]
    rows = [_row(item) for item in told]
    if canvas.has_room([header, *rows], 4):
        canvas.table([header, *rows], 4, left=range(3))
        return
    for item in told:
        about = chained([item.kind, item.phase.value], ", ")
        canvas.flow([(item.op, "bold"), *after_dot(canvas, about)], 4)
        counts = Sentence(
            "predicted {count}, asked {count_asked}",
            count=f"{item.predicted:,}",
            count_asked=f"{item.asked:,}",
        )
        canvas.flow(split(counts), 6)


def _row(item: Disagreement) -> list[Atom]:
    return [
        (item.op, "bold"),
        (tell(item.kind), ""),
        (tell(item.phase.value), ""),
        (f"{item.predicted:,}", ""),
        (f"{item.asked:,}", ""),
    ]
