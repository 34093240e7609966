"""What is not known of the targets, in few lines, or of each in full."""

from collections.abc import Iterator, Mapping, Sequence

from opcheck.commands.choose.terminal import words
from opcheck.commands.choose.values import Choice, Choosing, Offer, spelled
from opcheck.model.costs import Grade
from opcheck.views.names import short_names
from opcheck.views.terminal.canvas import Atom, Canvas, listed, phrase, split
from opcheck.views.terminal.rest import write_heading


def write_unknown(canvas: Canvas, found: Choosing) -> None:
    """Each thing that is not known once; with --verbose, all of it by target."""
    names = short_names(found.choices)
    if canvas.page.verbose:
        lines = [
            [(f"{names[choice.target]}:", "bold"), *split(text)]
            for choice in found.choices
            for text in choice.unknown
        ]
    else:
        lines = [*_seen(found.choices, names), *_figures(found.choices, names)]
    lines = [*(split(text) for text in found.unknown), *lines]
    if lines:
        write_heading(canvas, words.UNKNOWN, "", "magenta")
    for line in lines:
        canvas.flow(line, 4, [("  ", ""), (canvas.marks.dot, "dim"), (" ", "")])


def _seen(choices: Sequence[Choice], names: Mapping[str, str]) -> Iterator[list[Atom]]:
    """What is not known of the model on them."""
    whom: dict[str, list[str]] = {}
    for choice in choices:
        for text in choice.unseen:
            whom.setdefault(text, []).append(names[choice.target])
    for text, targets in whom.items():
        yield [*listed(targets, end=":"), *split(text)]


def _figures(choices: Sequence[Choice], names: Mapping[str, str]) -> Iterator[list[Atom]]:
    """What is not known of the chips."""
    whom: dict[str, list[str]] = {}
    for choice in choices:
        for name in _nowhere(choice):
            whom.setdefault(name, []).append(names[choice.target])
    for figure, targets in sorted(whom.items(), key=lambda item: -len(item[1])):
        said = phrase(words.NO_SOURCE, figure=split(spelled(figure)))
        yield [*said, *listed(targets)]
    if some := [name for choice in choices if choice.best for name in _slow(choice)]:
        yield [*split(words.SOME), *listed(some)]
    if press := [names[choice.target] for choice in choices if _by_press(choice)]:
        yield [*split(words.PRESS), *listed(press)]


def _nowhere(choice: Choice) -> list[str]:
    """Figures that nobody has said of any product."""
    if not choice.offers:
        return ["memory", "bandwidth"]
    first, *others = choice.offers
    return [name for name in first.missing if all(name in offer.missing for offer in others)]


def _slow(choice: Choice) -> list[str]:
    return [offer.name for offer in choice.offers if offer.seconds is None]


def _by_press(choice: Choice) -> bool:
    """Whether what it is ranked by is; where it is ranked by nothing, anything of it."""
    return any(map(_told, (choice.best,) if choice.best else choice.offers))


def _told(offer: Offer) -> bool:
    figures = (offer.memory, offer.bandwidth, *offer.peaks.values())
    return any(figure is not None and figure.grade is Grade.PRESS for figure in figures)
