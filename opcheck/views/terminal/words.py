"""Every sentence of the text report; a translation starts and ends here."""

from opcheck.model.dynamic import SiteKind, Taking
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict
from opcheck.views.terminal.notation import plural

RUNS = {True: "runs", False: "will not run", None: "cannot tell"}
RUNS_CELL = {True: "yes", False: "no", None: "?"}

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
EVERY_TARGET, EXCEPT = "every target", "but"
THE_OPERATOR = "the operator"
A_TENSOR = "a tensor"
RELEASES_OF = "Releases for"
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
    Taking.FINE: "fine:",
    Taking.RECOMPILES: "recompiles:",
    Taking.NOT_ALLOWED: "not allowed:",
    Taking.UNKNOWN: "unknown:",
}
ADVISORIES = ("Advisories", "holds for the whole target")
KERNELS = ("Kernels called", "after decomposition")

OUTCOME = "{said}: {model} on an emulated {target}"
IN_PHASE = {phase: f"in {phase.value}" for phase in Phase}
RUN = {"inference": "forward", "train": "training step"}
COMPUTED = {True: "with values, computed on this CPU", False: "shapes only"}
ENDED, STOPPED = "ended early", "stopped at a refusal"
ELSEWHERE = "refused or on the host"
REFUSED = ("Refused", "the device raises an error")
ON_HOST = ("On the host", "works, slow")
DIFFERENCES = ("Device against host", "largest absolute difference")
AGREEMENT = ("Scan against device", "what the scan predicted, and what was called on the device")
OUTPUTS, GRADIENTS, PARAMETERS = "outputs", "gradients", "parameters after the step"
ALL_EQUAL = "equal to the last bit"
NO_NUMBER = "NaN or infinity on one side alone"
NOTHING_ASKED = "no kernel was called on the device"
NOTHING_COMPARED = "there was nothing to compare"
DISAGREEMENT_COLUMNS = ("operator", "kind", "phase", "predicted", "asked")

TARGET_COLUMNS = ("target", "device", "newest", "torch", "kernels", "date")

# labels, at most nine columns wide
ON, IN, AT, OR, OF = "on", "in", "at", "or", "of"
WHERE, WHY, EVIDENCE, INPUTS = "where", "why", "evidence", "inputs"
RUNS_AS, OR_AS = "runs as", "or as"
PATH, RELEASES, TORCH = "path", "releases", "torch"
PACKAGE = "package"
ERROR = "error"
TRIED, ID = "tried", "id"
LAYERS = "layers"
BUT, WHEN, CAUTION, MISSING = "but", "when", "caution", "not on the device"


def brought_by(package: str) -> str:
    """What has to be imported for a kernel that does not come with torch."""
    return f"{package}, the one for this torch; torch alone does not have the kernel"


def chosen(device: str, why: str) -> str:
    """Why a call goes another way on a device type than on the one that was recorded."""
    return f"{ON} {device}: {why}"


def recorded(on: str, instead_of: str) -> str:
    """Whose ways those are that were recorded on another device type."""
    return f"recorded {ON} {on}, which stands in for {instead_of}"


def heading(verdict: Verdict, elsewhere: str = "") -> tuple[str, str]:
    """The title over findings of a verdict, and what it means.

    ``elsewhere``: where what falls back runs, for a graph compiler.
    """
    if elsewhere and verdict is Verdict.FALLBACK:
        return _NOT_CONVERTED, elsewhere
    return _HEADINGS[verdict]


def pieces(count: int) -> str:
    """How a graph compiler's work is split by what it does not convert."""
    return f"what is converted comes in {plural(count, 'piece')}, each compiled by itself"


def fallback_cost(islands: int, moved: str, run: str = "forward") -> str:
    """How fallbacks split the work, and what they move in one ``run``."""
    return f"{plural(islands, 'partition')} on the device, {moved} to and from the host a {run}"


def trouble(count: int, verdict: Verdict, elsewhere: str = "") -> str:
    """How many operators have a verdict that somebody has to look at."""
    off = "not converted" if elsewhere else "on the host"
    what = off if verdict is Verdict.FALLBACK else verdict.value
    return f"{plural(count, 'operator')} {what},"


def gaps(count: int) -> str:
    """That something was not seen, where the figures are read."""
    return f"{plural(count, 'gap')}: not everything could be seen (below), so more may be open"


def partial(where: str) -> str:
    """That the figures are of a part of the model alone."""
    return f"Partial: the run ended at {where or ROOT}, and this is what was seen until then."


def share(operators: int, elsewhere: str = "") -> str:
    """What the percentage is of."""
    how = "are converted" if elsewhere else "stay on the device"
    return f"of {plural(operators, 'operator')} {how}"


def headline(total: int, runs: int, fails: int) -> str:
    """One sentence on several targets."""
    if runs == total:
        return f"runs on all {total} targets"
    if fails == total:
        return f"will not run on any of {total} targets"
    parts = [f"runs on {runs} of {total} targets"]
    if fails:
        parts.append(f"not on {fails}")
    if total > runs + fails:
        parts.append(f"cannot tell for {total - runs - fails}")
    return ", ".join(parts)


def columns_mean(fallback: bool, breaks: bool, compiled: bool) -> str:
    """What the less plain columns of a comparison hold; ``compiled``: for a graph compiler, too."""
    parts = ["share: operators that stay on the device"]
    if fallback:
        parts.append("fallback: calls that leave it")
    if breaks:
        parts.append("breaks: the most called of the operators in trouble")
    if compiled:
        off = ", and its fallback runs on the same device" if fallback else ""
        parts.append(f"a compiler's share is what it converts{off}")
    return "; ".join(parts)


def confidence(level: str) -> str:
    """How sure a finding is."""
    return f"{level} confidence"


def layer(origin: str) -> str:
    """Who says something, of layers of which the last one holds."""
    return f"then {origin}:" if origin else "the database:"


def torch_range(first: str, last: str) -> str:
    """The torch versions that have an overload."""
    return f"has it in {first}" if first == last else f"has it from {first} to {last}"


def and_more(count: int, noun: str) -> str:
    """What was left out."""
    return f"and {plural(count, f'more {noun}')}"


def more(count: int, noun: str) -> str:
    """What was left out, and how to see it."""
    return f"{and_more(count, noun)}; --verbose lists all"


def fine(native: int, decomposed: int, elsewhere: str = "") -> str:
    """How many operators need no reader."""
    how = "converted" if elsewhere else "native"
    parts = [f"{native:,} {how}"] if native else []
    if decomposed:
        parts.append(f"{decomposed:,} decomposed into {how} ones")
    return f"{' and '.join(parts)}; --verbose lists all"


def outcome(runs: bool | None, ended: str, refused: int, unknown: int, on_host: int) -> str:
    """How a run on an emulated device went, in a few words; ``ended``: how, if not at its end."""
    if ended == STOPPED:
        return ended
    if ended or runs is False:
        found = ended or RUNS[False]
        return f"{found}, {_operators(refused)} refused" if refused else found
    if runs is None:
        return f"{RUNS[None]}, {_operators(unknown)} unknown" if unknown else RUNS[None]
    return f"{RUNS[True]}, {_operators(on_host)} on the host" if on_host else RUNS[True]


def moved(amount: str) -> str:
    """What host calls move."""
    return f"{amount} moved"


def compared(count: int, largest: str) -> str:
    """How many were compared, and how far the furthest is off."""
    return f"{count:,} compared, the largest is {largest} in"


def no_number(count: int) -> str:
    """That a difference cannot be told."""
    return f"{count:,} with {NO_NUMBER}:"


def all_equal(count: int) -> str:
    """That nothing is off."""
    return f"{count:,} compared, {ALL_EQUAL}"


def agree(native: int, missing: int, refused: int) -> str:
    """That the prediction came true."""
    return f"as predicted, counts included: {_kernel_counts(native, missing, refused)}"


def held_until(error: str) -> str:
    """That a run ended before all of a prediction could come true."""
    return f"not confirmed: the run that it is compared with ended early, with {error}"


def disagree(counts: int, native: int, missing: int, refused: int) -> str:
    """How much of the prediction did not come true."""
    return (
        f"{plural(counts, 'count')} not as predicted, of {_kernel_counts(native, missing, refused)}"
    )


def _kernel_counts(native: int, missing: int, refused: int) -> str:
    parts = [plural(native, "native kernel"), f"{missing:,} missing"]
    if refused:
        parts.append(f"{refused:,} refused by a condition")
    return ", ".join(parts)


def _operators(count: int) -> str:
    return plural(count, "operator")
