"""Every sentence of the page of a plan."""

from opcheck.model.plan import AfterTier, Label, Measured, RuleCheck, Suggestion, Tier
from opcheck.views.terminal.notation import percent, plural, size
from opcheck.views.terminal.words import RUNS_CELL

TIERS = {
    Tier.SWAP: "native swap",
    Tier.COMPAT: "vendor compat layer",
    Tier.STRUCTURAL: "structural rewrite",
    Tier.CUSTOM: "custom operator, once built",
}
NOTHING = "every call stays on the device"
STEPS = ("Step by step", "what the target does once everything up to a tier is followed")
WAYS = ("Suggestions", "the cheapest that works for each finding")
OWN = ("Kernels of one's own", "nothing else was found, and only its test will prove what is built")
STUCK = ("No fix", "nothing was found that the target runs")
HARMED = ("Better written otherwise", "it runs on the device, with wrong values or slowly")
STEP_COLUMNS = ("tier", "", "share", "runs", "brings to the device")
TODAY = "today"
WAY = "fix"
ADVICE = "advice"
RUNS_AS = "runs as"
BACKWARD = "backward"
FIGURES = "max error"
CODE = "code"
GIVES_UP = "trade-off"
DECLINED = "not by"
NO_WAY = "none that the target runs"
TIER = "tier"
CLOSE = "values"
REPLACES = "replaces"
WRITTEN = "written"
ONE_RULE = "opcheck rules NAME shows what a rule writes, and why that is equal"
IN_ENGLISH = "the description is in English:"
EQUAL = "equal to the last bit"


def verdict(findings: int, stuck: int, own: int) -> str:
    """How many findings need a fix, how many have none, or none but a kernel of one's own."""
    have = "each has one" if not stuck else f"{stuck:,} without"
    if own:
        some = "" if own == stuck else f", {own:,} of them"
        have = f"{have}{some} but for a kernel of one's own"
    return f"{plural(findings, 'finding')} {'needs' if findings == 1 else 'need'} a fix, {have}"


def unplanned(findings: int) -> str:
    """That the run ended before suggestions were looked for."""
    return f"{plural(findings, 'finding')} so far; it ended before fixes were looked for"


def nothing(harmed: int) -> str:
    """That no finding needs a fix, and how many calls are better written otherwise."""
    if not harmed:
        return f"{NOTHING}, so there is nothing to change"
    are = "is" if harmed == 1 else "are"
    return f"{NOTHING}; {plural(harmed, 'finding')} {are} better written otherwise"


def step(after: AfterTier) -> tuple[str, str]:
    """Share and whether it runs, in a table."""
    rate = "" if after.support_rate is None else percent(after.support_rate)
    return rate, RUNS_CELL[after.runs]


def named(way: Suggestion, op: str) -> str:
    """What a suggestion is called, and inside what it works."""
    inside = f" for {way.replaces} inside it" if way.replaces != op else ""
    return f"{way.rule}{inside}"


def kind(way: Suggestion) -> str:
    """Tier and label."""
    return f"tier {int(way.tier)}, {way.label.value}"


def host(way: Suggestion) -> str:
    """A word for what does not stay on the device."""
    return "" if way.on_device else "runs on the host"


def hand(way: Suggestion) -> str:
    """A word for what no command writes."""
    return "to be written by hand" if way.by_hand else ""


def tried(one: RuleCheck) -> str:
    """How a rule fared."""
    if not one.compared:
        return f"refuses all of {plural(one.calls, 'call')}, so nothing was compared"
    wrong = f"{one.wrong:,} off" if one.wrong else "none off"
    return f"{plural(one.compared, 'call')} compared, {wrong}"


def cost(way: Suggestion) -> str:
    """Kernels and memory of one call."""
    more = f", {size(way.memory)} beside the result" if way.memory else ""
    return f"({plural(way.calls, 'kernel')} a call{more})"


def figures(way: Suggestion) -> str:
    """What was measured, or why nothing was."""
    found = way.measured
    if found is None:
        return f"not measured: {way.unmeasured}" if way.unmeasured else ""
    if way.label is Label.EXACT:
        both = "" if found.backward is None else ", forward and backward"
        told = f"{EQUAL}{both}"
    else:
        told = _off(found)
    return f"{told}; {way.unmeasured}" if way.unmeasured else told


def _off(found: Measured) -> str:
    sides = [("forward", found.forward)]
    sides += [("backward", found.backward)] if found.backward else []
    far = ", ".join(f"{side} {away.relative:.1e}" for side, away in sides if away.absolute)
    equal = [f"{side} equal" for side, away in sides if not away.absolute]
    return ", ".join([*([f"{far} of the largest value"] if far else []), *equal])
