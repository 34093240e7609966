"""What every format says of a script's run: how it ended, where it failed, what it caught."""

from opcheck.lang.sentence import Sentence, chained, verbatim
from opcheck.model.script import Ending, Frame, ScriptRun, Write
from opcheck.views.terminal import words
from opcheck.views.terminal.emulation import operators
from opcheck.views.terminal.notation import size

_ENDINGS = {
    Ending.EXITED: "the script ended with status {count}",
    Ending.FAILED: "the script failed",
    Ending.NOT_EMULATED: "came to what is not emulated",
    Ending.REFUSED: "stopped at a refusal",
    Ending.CUT: "ended early",
}
_PEAK = "memory peak: {text} (tracked tensors)"
_OF = "{said} of the chip's {text_most}"
_OF_SOME = "{said} of the chip's {text_least} to {text_most}"
_MORE = "{said}, more than the chip has: {text_most}"
_CAUGHT = "the script caught what the device raised at {text}, and went on"
CAUGHT = ("Caught", "errors of the device that the script went on from")
RAN = ("The run", "how far it came, and what it took")
WRITES = ("Written", "seen by the script alone, and gone")


def outcome(found: ScriptRun) -> Sentence:
    """How the script ended, and whether the device takes it, in a few words."""
    emulation = found.emulation
    refused, unknown = operators(emulation.refusals), operators(emulation.unknown)
    numbers = refused, unknown, operators(emulation.host_calls)
    ended = _ENDINGS.get(found.ending)
    if ended is not None:
        said = Sentence(ended, count=found.status)
        if not (found.used or emulation.refusals):
            return chained((said, Sentence("before it used the device")), ", ")
        if emulation.refusals and found.ending is not Ending.REFUSED:
            return chained((said, words.outcome(False, "", *numbers)), ", ")
        return said
    if not found.used:
        return Sentence("never used the device")
    return words.outcome(found.runs, "", *numbers)


def headline(found: ScriptRun) -> Sentence:
    """The same with the script and the device."""
    script, target = " ".join(found.script.command), found.emulation.target
    return Sentence(words.OUTCOME, said=outcome(found), model=script, target=target)


def place(frame: Frame) -> Sentence:
    """A frame as Python names it."""
    return Sentence(
        'File "{file}", line {count}, in {module}',
        file=frame.file,
        count=frame.line,
        module=frame.function,
    )


def memory(found: ScriptRun) -> Sentence:
    """What the device's tensors took of the memory that the chip has."""
    said = Sentence(_PEAK, text=size(found.emulation.memory_peak))
    room = found.basis.memory
    if room is None:
        return said
    least, most = size(room.least), size(room.most)
    template = _MORE if found.fits is False else _OF if least == most else _OF_SOME
    return Sentence(template, said=said, text_least=least, text_most=most)


def caught(found: ScriptRun) -> dict[tuple[str, int], Sentence]:
    """File and line -> that the script caught there what the device raised."""
    places = dict.fromkeys((site.file, site.line) for site in found.caught)
    return {
        (file, line): Sentence(_CAUGHT, text=f"{file}:{line}" if file else words.ROOT)
        for file, line in places
    }


def written(item: Write) -> Sentence:
    """How large a file is that was written, or that it is gone."""
    return Sentence("taken away") if item.nbytes is None else verbatim(size(item.nbytes))
