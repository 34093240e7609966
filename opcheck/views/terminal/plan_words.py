"""Every sentence of the page of a plan."""

from collections.abc import Mapping

from opcheck.lang.sentence import NOTHING as NO_WORDS
from opcheck.lang.sentence import Sentence, chained, in_brackets, verbatim
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


def verdict(findings: int, stuck: int, own: int) -> Sentence:
    """How many findings need a fix, how many have none, or none but a kernel of one's own."""
    need = "{said} needs a fix, {said_have}" if findings == 1 else "{said} need a fix, {said_have}"
    return Sentence(need, said=plural(findings, "finding"), said_have=_have(stuck, own))


def _have(stuck: int, own: int) -> Sentence:
    if not stuck:
        return Sentence("each has one")
    if not own:
        return Sentence("{count} without", count=f"{stuck:,}")
    if own == stuck:
        return Sentence("{count} without but for a kernel of one's own", count=f"{stuck:,}")
    return Sentence(
        "{count} without, {count_own} of them but for a kernel of one's own",
        count=f"{stuck:,}",
        count_own=f"{own:,}",
    )


def unplanned(findings: int) -> Sentence:
    """That the run ended before suggestions were looked for."""
    return Sentence(
        "{said} so far; it ended before fixes were looked for", said=plural(findings, "finding")
    )


def nothing(harmed: int) -> Sentence:
    """That no finding needs a fix, and how many calls are better written otherwise."""
    if not harmed:
        return Sentence("every call stays on the device, so there is nothing to change")
    template = (
        "every call stays on the device; {said} is better written otherwise"
        if harmed == 1
        else "every call stays on the device; {said} are better written otherwise"
    )
    return Sentence(template, said=plural(harmed, "finding"))


def step(after: AfterTier) -> tuple[str, str]:
    """Share and whether it runs, in a table."""
    rate = "" if after.support_rate is None else percent(after.support_rate)
    return rate, RUNS_CELL[after.runs]


def named(way: Suggestion, op: str) -> Sentence:
    """What a suggestion is called, and inside what it works."""
    if way.replaces == op:
        return verbatim(way.rule)
    return Sentence("{rule} for {op} inside it", rule=way.rule, op=way.replaces)


def kind(way: Suggestion) -> Sentence:
    """Tier and label."""
    return Sentence(f"tier {{count}}, {way.label.value}", count=int(way.tier))


def some_places(some: int, all_: int) -> Sentence:
    """In how many of its places an operator can be replaced so."""
    return Sentence("{count} of {said}", count=some, said=plural(all_, "place"))


def host(way: Suggestion) -> str:
    """A word for what does not stay on the device."""
    return "" if way.on_device else "runs on the host"


def hand(way: Suggestion) -> str:
    """A word for what no command writes."""
    return "to be written by hand" if way.by_hand else ""


def tried(one: RuleCheck) -> Sentence:
    """How a rule fared."""
    if not one.compared:
        calls = plural(one.calls, "call")
        return Sentence("refuses all of {said}, so nothing was compared", said=calls)
    calls = plural(one.compared, "call")
    if one.wrong:
        return Sentence("{said} compared, {count} off", said=calls, count=f"{one.wrong:,}")
    return Sentence("{said} compared, none off", said=calls)


def cost(way: Suggestion) -> Sentence:
    """Kernels and memory of one call."""
    kernels = plural(way.calls, "kernel")
    if way.memory:
        more = size(way.memory)
        told = Sentence("{said} a call, {text} beside the result", said=kernels, text=more)
        return in_brackets(told)
    return in_brackets(Sentence("{said} a call", said=kernels))


def figures(way: Suggestion) -> Sentence:
    """What was measured, or why nothing was."""
    found = way.measured
    if found is None:
        said = Sentence("not measured: {said}", said=way.unmeasured)
        return said if way.unmeasured else NO_WORDS
    if way.label is not Label.EXACT:
        told = _off(found)
    elif found.backward is None:
        told = Sentence(EQUAL)
    else:
        told = Sentence("equal to the last bit, forward and backward")
    return chained([told, way.unmeasured], "; ") if way.unmeasured else told


def _off(found: Measured) -> Sentence:
    sides = [("forward", found.forward)]
    sides += [("backward", found.backward)] if found.backward else []
    off = {side: f"{away.relative:.1e}" for side, away in sides if away.absolute}
    equal = [Sentence(f"{side} equal") for side, away in sides if not away.absolute]
    return chained([*([_far(off)] if off else []), *equal], ", ")


def _far(off: Mapping[str, str]) -> Sentence:
    """By how much each side is off."""
    if len(off) == 1:
        ((side, figure),) = off.items()
        return Sentence(f"{side} {{figure}} of the largest value", figure=figure)
    return Sentence(
        "forward {figure}, backward {figure_b} of the largest value",
        figure=off["forward"],
        figure_b=off["backward"],
    )
