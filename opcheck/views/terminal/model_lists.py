"""What lists say of the scanned model, in a line for each target."""

from opcheck.lang.sentence import Sentence, verbatim
from opcheck.model.model_lists import Likeness, ListedModel, ModelEvidence, Outcome
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Atom, Canvas, split
from opcheck.views.terminal.evidence import cited

OUTCOMES = {
    Outcome.SUPPORTED: "supported",
    Outcome.EXPERIMENTAL: "supported as an experiment",
    Outcome.INACCURATE: "inaccurate once compiled",
    Outcome.COMPILE_FAILS: "fails once compiled",
    Outcome.OUT_OF_MEMORY: "more than the memory of the device",
    Outcome.UNTESTED: "not tested",
    Outcome.FAILS: "fails",
    Outcome.UNSUPPORTED: "not supported",
}
CONTRADICTS = "This contradicts the verdict: they run other code, or one of the two is wrong."
STYLES = {True: "green", False: "red", None: "magenta"}


def said(listed: ListedModel) -> Sentence:
    """What one row says, and of what."""
    row, outcome = listed.row, Sentence(OUTCOMES[listed.outcome])
    names = row.precisions.get(listed.outcome, ())
    if names and not listed.tells:
        outcome = Sentence("{said} in {list}", said=outcome, list=", ".join(names))
    template = "{name} lists {model} for {engine}: {said}"
    if listed.by is Likeness.FAMILY:
        template = "{name} lists {model}, of its family, for {engine}: {said}"
    return Sentence(
        template, name=row.of.name, model=row.name, engine=verbatim(row.of.engine), said=outcome
    )


def line(found: ModelEvidence) -> list[Atom]:
    """The surest row with its source, and how many more there are."""
    first, *others = found.listed
    style = STYLES[first.outcome.runs if first.tells else None]
    more = split(words.and_more(len(others), "row"), "dim") if others else []
    return [*split(said(first), style), *cited(first.row.evidence), *more]


def write_lists(canvas: Canvas, found: ModelEvidence | None) -> None:
    """What lists say on the one target, below its verdict; nothing where none names the model."""
    if found is not None:
        canvas.flow(line(found), 2)
        if found.contradicts:
            canvas.flow(split(CONTRADICTS, "bold yellow"), 2)
