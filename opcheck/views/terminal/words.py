"""Every sentence of the text report; a translation starts and ends here."""

from collections.abc import Sequence

from opcheck.lang.sentence import Sentence, chained, verbatim, with_sign
from opcheck.model.dynamic import SiteKind, Taking
from opcheck.model.report import TargetReport
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict
from opcheck.views.terminal.notation import plural

RUNS = {True: "runs", False: "will not run", None: "cannot tell"}
RUNS_CELL = {True: "yes", False: "no", None: "?"}
RUNS_WITH_ANOTHER_BUILD = "runs, but only with another build of torch"
WITH_ANOTHER_BUILD = "other build"

VERDICT = "{said}: {model} on {target}"
VERDICT_OF_PLAN = "{model} on {target}: {said}"
NO_CALLS = "The trace is empty: no operator was called, so there is no share to give."
NO_TARGETS = "No target was asked about."
NO_TARGETS_KNOWN = "The database has no targets."
NOTHING_TO_EXPLAIN = "There is nothing to explain."
REGISTERED_IN = "registered in"
ALL_OF_THESE = "All of these"
NOTHING = "no kernel is called on the device"
MOST_CALLED, FIRST = "most called", "first"
TARGET, RUNS_COLUMN, SHARE, BREAKS = "target", "runs", "share", "breaks"
FALLBACK_CALLS, MOVED, PARTITIONS = "fallback", "moved", "parts"
ROOT = "the model itself"
EVERY_TARGET, EVERY_TARGET_BUT = "every target", "every target but"
THE_OPERATOR = "the operator"
A_TENSOR = "a tensor"
RELEASES_OF = "Releases for"
TOOLKITS_OF = "Releases by what goes with them, NAME@TOOLKIT, for"
OPSETS_OF = "Versions of ONNX's operators, NAME+opsetN, the first where none is named, for"
ALSO_NAMED = "Also understood, in any spelling with or without signs and capitals:"
HOW_TO_NAME = "Name a release or a torch version like this: NAME@RELEASE+torchX.Y"

_HEADINGS = {
    Verdict.UNSUPPORTED: ("Unsupported", "known not to run"),
    Verdict.UNKNOWN: ("Unknown", "nobody has said"),
    Verdict.FALLBACK: ("Fallback", "runs on the host: works, slow"),
    Verdict.DECOMPOSED: ("Decomposed", "runs as other operators, every one native"),
    Verdict.NATIVE: ("Native", "the target runs it itself"),
}
_NOT_CONVERTED = "Not converted"
CAUTIONS = ("Cautions", "runs on the device, with a catch")
GAPS = ("Not seen", "counts as unknown")
NOT_CALLED = ("Never called", "the example inputs do not reach these modules")
SIZES = ("Dynamic sizes", "where a size, or a value that is read, is not always the same")
SITES = {
    SiteKind.DATA_SIZE: "Results whose size depends on values",
    SiteKind.DATA_READ: "Values that Python reads",
    SiteKind.SHAPE_BRANCH: "Decisions of Python's by a size",
    SiteKind.DYNAMIC_SIZE: "Calls that are given other sizes",
    SiteKind.FIXED_SIZE: "Sizes that the model itself does not take",
}
TAKING = {
    Taking.FINE: "fine",
    Taking.RECOMPILES: "recompiles",
    Taking.NOT_ALLOWED: "not allowed",
    Taking.UNKNOWN: "unknown",
}
ADVISORIES = ("Advisories", "holds for the whole target")
LISTS = ("Lists of models", "what others say runs")
KERNELS = ("Kernels called", "after decomposition")

OUTCOME = "{said}: {model} on an emulated {target}"
IN_PHASE = {
    Phase.FORWARD: "in forward",
    Phase.BACKWARD: "in backward",
    Phase.OPTIMIZER: "in optimizer",
}
RUN = {"inference": "forward", "train": "training step"}
WHOLE_RUN = "run"
"""Of a script, which takes as many steps as it likes."""
COMPUTED = {True: "with values, computed on this CPU", False: "shapes only"}
ENDED, STOPPED = "ended early", "stopped at a refusal"
ELSEWHERE = "refused or on the host"
REFUSED = ("Refused", "the device raises an error")
ON_HOST = ("On the host", "works, slow")
DIFFERENCES = ("Device against host", "largest absolute difference")
AGREEMENT = ("Scan against device", "what the scan predicted, and what was called on the device")
OUTPUTS, GRADIENTS, PARAMETERS = "outputs", "gradients", "parameters after the step"
NO_NUMBER = "NaN or infinity on one side alone"
NOTHING_ASKED = "no kernel was called on the device"
NOTHING_COMPARED = "there was nothing to compare"
DISAGREEMENT_COLUMNS = ("operator", "kind", "phase", "predicted", "asked")


# labels, at most nine columns wide
ON, IN, AT, OR = "on", "in", "at", "or"
LISTS_ALL = "--verbose lists all"
WHERE, WHY, EVIDENCE, INPUTS = "where", "why", "evidence", "inputs"
RUNS_AS, OR_AS = "runs as", "or as"
PATH, RELEASES, TORCH = "path", "releases", "torch"
PACKAGE = "package"
BACKEND = "backend"
ERROR = "error"
TRIED, ID = "tried", "id"
LAYERS = "layers"
BUT, CAUTION, MISSING = "but", "caution", "not on the device"


def in_module(module: str) -> Sentence:
    """Behind a line of code: the module that it is called in."""
    return Sentence("in {module}", module=module)


def called_in(module: str, calls: Sentence) -> Sentence:
    """How many calls a module makes; without a name, the whole model."""
    return Sentence("{text}: {said}", text=module or Sentence(ROOT), said=calls)


def traced(device_type: str, torch_version: str) -> Sentence:
    """As which device type, and by which torch, calls were recorded."""
    return Sentence(
        "traced as {list_device} with torch {version}",
        list_device=device_type,
        version=torch_version,
    )


def database_of(day: str) -> Sentence:
    """How old the data is."""
    return Sentence("database of {date}", date=day)


def brought_by(package: str) -> Sentence:
    """What has to be imported for a kernel that does not come with torch."""
    return Sentence(
        "{package}, the one for this torch; torch alone does not have the kernel", package=package
    )


def chosen(device: str, why: str) -> Sentence:
    """Why a call goes another way on a device type than on the one that was recorded."""
    return Sentence("on {device}: {said}", device=device, said=why)


def recorded(on: str, instead_of: str) -> Sentence:
    """Whose ways those are that were recorded on another device type."""
    return Sentence("recorded on {device}, which stands in for {text}", device=on, text=instead_of)


def heading(verdict: Verdict, elsewhere: str = "") -> tuple[str, str]:
    """The title over findings of a verdict, and what it means.

    ``elsewhere``: where what falls back runs, for a graph compiler.
    """
    if elsewhere and verdict is Verdict.FALLBACK:
        return _NOT_CONVERTED, elsewhere
    return _HEADINGS[verdict]


def pieces(count: int) -> Sentence:
    """How a graph compiler's work is split by what it does not convert."""
    return Sentence(
        "what is converted comes in {said}, each compiled by itself", said=plural(count, "piece")
    )


def fallback_cost(islands: int, moved: str, run: str = "forward") -> Sentence:
    """How fallbacks split the work, and what they move in one ``run``."""
    return Sentence(
        "{said} on the device, {text} to and from the host a {said_run}",
        said=plural(islands, "partition"),
        text=moved,
        said_run=run,
    )


def trouble(count: int, verdict: Verdict, elsewhere: str = "") -> Sentence:
    """How many operators have a verdict that somebody has to look at."""
    template = f"{{said}} {verdict.value},"
    if verdict is Verdict.FALLBACK:
        template = "{said} not converted," if elsewhere else "{said} on the host,"
    return Sentence(template, said=plural(count, "operator"))


def gaps(count: int, *, below: bool = True) -> Sentence:
    """That something was not seen, where the figures are read; ``below``, it says what."""
    more = "{said}: not everything could be seen, so more may be open"
    if below:
        more = "{said}: not everything could be seen (below), so more may be open"
    return Sentence(more, said=plural(count, "gap"))


def partial(where: str) -> Sentence:
    """That the figures are of a part of the model alone."""
    return Sentence(
        "Partial: the run ended at {text}, and this is what was seen until then.",
        text=where or Sentence(ROOT),
    )


def share(operators: int, elsewhere: str = "") -> Sentence:
    """What the percentage is of."""
    how = "of {said} are converted" if elsewhere else "of {said} stay on the device"
    return Sentence(how, said=plural(operators, "operator"))


def runs(target: TargetReport) -> str:
    """Whether a target runs the model, in a word or a few."""
    if target.needs_another_build:
        return RUNS_WITH_ANOTHER_BUILD
    return RUNS[target.summary.runs]


def runs_cell(target: TargetReport) -> str:
    """Whether a target runs the model, in a table."""
    return WITH_ANOTHER_BUILD if target.needs_another_build else RUNS_CELL[target.summary.runs]


def headline(targets: Sequence[TargetReport]) -> Sentence:
    """One sentence on several targets."""
    found = [target.summary.runs for target in targets]
    other = sum(target.needs_another_build for target in targets)
    said = _headline(len(found), found.count(True), found.count(False))
    build = Sentence("{count} of these only with another build of torch", count=other)
    return chained([said, build], "; ") if other else said


def _headline(total: int, runs: int, fails: int) -> Sentence:
    if runs == total:
        return Sentence("runs on all {count} targets", count=total)
    if fails == total:
        return Sentence("will not run on any of {count} targets", count=total)
    parts = [Sentence("runs on {count} of {count_all} targets", count=runs, count_all=total)]
    if fails:
        parts.append(Sentence("not on {count}", count=fails))
    if total > runs + fails:
        parts.append(Sentence("cannot tell for {count}", count=total - runs - fails))
    return chained(parts, ", ")


def columns_mean(fallback: bool, breaks: bool, compiled: bool) -> Sentence:
    """What the less plain columns of a comparison hold; ``compiled``: for a graph compiler, too."""
    parts = [Sentence("share: operators that stay on the device")]
    if fallback:
        parts.append(Sentence("fallback: calls that leave it"))
    if breaks:
        parts.append(Sentence("breaks: the most called of the operators in trouble"))
    if compiled and fallback:
        parts.append(
            Sentence(
                "a compiler's share is what it converts, and its fallback runs on the same device"
            )
        )
    elif compiled:
        parts.append(Sentence("a compiler's share is what it converts"))
    return chained(parts, "; ")


def confidence(level: str) -> Sentence:
    """How sure a finding is."""
    return Sentence(f"{level} confidence")


def layer(origin: str) -> Sentence:
    """Who says something, of layers of which the last one holds."""
    who = Sentence("then {origin}", origin=origin) if origin else Sentence("the database")
    return with_sign(who, ":")


def torch_range(first: str, last: str) -> Sentence:
    """The torch versions that have an overload."""
    if first == last:
        return Sentence("has it in {version}", version=first)
    return Sentence("has it from {first} to {last}", first=first, last=last)


def span(versions: Sequence[str]) -> Sentence:
    """Versions, newest first, as the oldest to the newest."""
    if len(versions) == 1:
        return verbatim(versions[0])
    return Sentence("{first} to {last}", first=versions[-1], last=versions[0])


def and_more(count: int, noun: str) -> Sentence:
    """What was left out."""
    return Sentence("and {said_more}", said_more=plural(count, f"more {noun}"))


def more(count: int, noun: str) -> Sentence:
    """What was left out, and how to see it."""
    return chained([and_more(count, noun), LISTS_ALL], "; ")


_FINE = {
    (False, True, False): "{count} native",
    (False, True, True): "{count} native and {count_more} decomposed into native ones",
    (False, False, True): "{count} decomposed into native ones",
    (True, True, False): "{count} converted",
    (True, True, True): "{count} converted and {count_more} decomposed into converted ones",
    (True, False, True): "{count} decomposed into converted ones",
}
"""By whether a compiler converts them, and whether some run so, and whether some as others."""


def fine(native: int, decomposed: int, elsewhere: str = "") -> Sentence:
    """How many operators need no reader."""
    template = _FINE[bool(elsewhere), bool(native), bool(decomposed)]
    counts = [f"{count:,}" for count in (native, decomposed) if count]
    found = Sentence(template, count=counts[0], count_more=counts[-1])
    return chained([found, LISTS_ALL], "; ")


def outcome(runs: bool | None, ended: str, refused: int, unknown: int, on_host: int) -> Sentence:
    """How a run on an emulated device went, in a few words; ``ended``: how, if not at its end."""
    if ended == STOPPED:
        return Sentence(STOPPED)
    if ended:
        found = "ended early, {said} refused" if refused else ENDED
        return Sentence(found, said=_operators(refused))
    if runs is False:
        found = "will not run, {said} refused" if refused else RUNS[False]
        return Sentence(found, said=_operators(refused))
    if runs is None:
        found = "cannot tell, {said} unknown" if unknown else RUNS[None]
        return Sentence(found, said=_operators(unknown))
    found = "runs, {said} on the host" if on_host else RUNS[True]
    return Sentence(found, said=_operators(on_host))


def moved(amount: str) -> Sentence:
    """What host calls move."""
    return Sentence("{text} moved", text=amount)


def compared(count: int, largest: str) -> Sentence:
    """How many were compared, and how far the furthest is off."""
    return Sentence(
        "{count} compared, the largest is {figure} in", count=f"{count:,}", figure=largest
    )


def no_number(count: int) -> Sentence:
    """That a difference cannot be told."""
    said = Sentence("{count} with {said}", count=f"{count:,}", said=NO_NUMBER)
    return with_sign(said, ":")


def all_equal(count: int) -> Sentence:
    """That nothing is off."""
    return Sentence("{count} compared, equal to the last bit", count=f"{count:,}")


def agree(native: int, missing: int, refused: int) -> Sentence:
    """That the prediction came true."""
    return Sentence(
        "as predicted, counts included: {said}", said=_kernel_counts(native, missing, refused)
    )


def held_until(error: str) -> Sentence:
    """That a run ended before all of a prediction could come true."""
    return Sentence(
        "not confirmed: the run that it is compared with ended early, with {text}", text=error
    )


def disagree(counts: int, native: int, missing: int, refused: int) -> Sentence:
    """How much of the prediction did not come true."""
    return Sentence(
        "{said} not as predicted, of {said_all}",
        said=plural(counts, "count"),
        said_all=_kernel_counts(native, missing, refused),
    )


def _kernel_counts(native: int, missing: int, refused: int) -> Sentence:
    parts = [plural(native, "native kernel"), Sentence("{count} missing", count=f"{missing:,}")]
    if refused:
        parts.append(Sentence("{count} refused by a condition", count=f"{refused:,}"))
    return chained(parts, ", ")


def _operators(count: int) -> Sentence:
    return plural(count, "operator")
