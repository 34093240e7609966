"""Every sentence of that page."""

from opcheck.commands.tune.values import ChipFigure, Gain, TunedTarget
from opcheck.costs.roofline import Limit, MemoryNeed
from opcheck.model.text import duration, number, percent, plural, rate, size

WORK, BOUND, MEMORY, CHIP = "work", "bound", "memory", "chip"
WHERE, WHY, GAIN, DO, FROM = "where", "why", "gain", "do", "from"
OPERATORS = ("Where the time goes", "the least time of each operator's calls")
BY_BYTES = ("What it runs", "nothing bounds its time")
ADVICE = ("Advice", "each by itself, what brings most first")
UNKNOWN = ("Left open", "what is not known, or not counted")
NOTHING = "nothing in the trace gives reason for advice"
NO_FIGURES = "what needs no figure of the chip's gives no reason for advice"
NEEDED = "needed"
NOT_KNOWN = "not known"
NEVER = "times are bounds by the chip's figures, never forecasts"
ROOM = "{total} of {has}"
LIMITS = {
    Limit.COMPUTE: "compute",
    Limit.BANDWIDTH: "bandwidth",
    Limit.HOST: "host",
    Limit.UNKNOWN: "?",
}
HEADS = {
    True: "{model} on {target}",
    False: "{model} on {target}, where it does not run as it is",
    None: "{model} on {target}, where it is not known to run",
}


def bound(target: TunedTarget) -> str:
    """The least time of the run, and what most of it waits for."""
    seconds = target.bound.seconds
    if seconds is None:
        return "no figure of the chip tells how long it takes at least"
    if target.bound.limit is Limit.COMPUTE:
        text = f"{duration(seconds)} at least, most of which is computing"
    else:
        text = f"{duration(seconds)} at least, most of which is moving bytes"
    return text if target.bound.whole else f"{text}; some of it is not known"


def product(target: TunedTarget) -> str:
    """Whose figures are taken."""
    if not target.product:
        return f"{target.title}: no figures are known"
    if not target.others:
        return target.product
    return f"{target.product}, one of {len(target.others) + 1} products; --product names another"


def figure(one: ChipFigure) -> str:
    """One figure of the chip's."""
    value = one.value or 0.0
    match one.name:
        case "memory":
            return size(value)
        case "bandwidth":
            return f"{size(value)}/s"
        case _:
            return f"{rate(value, 'OP' if one.name.startswith('int') else 'FLOP')} {one.name}"


def elements(count: int) -> str:
    """What is computed beside products."""
    return f"{number(count)} element operations"


def moved(nbytes: int) -> str:
    """What is read and written."""
    return f"{size(nbytes)} read and written"


def memory(need: MemoryNeed) -> list[tuple[str, str]]:
    """What the memory goes to, and how much of it."""
    parts = [
        ("weights", need.weights), ("buffers", need.buffers), ("inputs", need.inputs),
        ("activations", need.activations), ("gradients", need.gradients),
        ("optimizer states", need.states),
    ]  # fmt: skip
    return [(name, size(nbytes)) for name, nbytes in parts if nbytes]


def capacity(target: TunedTarget) -> str:
    """How much memory the chip has; "" where that is not known."""
    has = next((f.value for f in target.figures if f.name == "memory"), None)
    return "" if has is None else size(has)


def largest(target: TunedTarget) -> str:
    """The largest batch that fits; "" where it is not known, or not even one fits."""
    most, batch = target.largest_batch, target.memory.batch
    if not most or batch is None:
        return ""
    return f"a batch of {most:,} may fit; the run has {batch:,}"


def gain(one: Gain) -> str:
    """How much less, and how that was computed."""
    return one.text or NOT_KNOWN


def less(share: float) -> str:
    """How much less time it takes at most."""
    return f"{percent(share)} less time"


def more(count: int, noun: str) -> str:
    """What is left out."""
    return f"and {plural(count, noun)} more (--verbose lists them)"
