"""A fleet as its page has it: few models, of every standing."""

from msgspec.structs import replace

from opcheck.commands.fleet.answers.values import (
    BlockedBy,
    Cell,
    FleetPage,
    Missing,
    ModelRow,
    Standing,
    Summary,
)
from opcheck.commands.fleet.values import Cause, Ending
from opcheck.model.verdict import Confidence, Verdict
from tests.views.fleets import FLEETS

summary, missing = FLEETS["summary"], FLEETS["missing"]
assert isinstance(summary, Summary)
assert isinstance(missing, Missing)

CAUSES = (
    BlockedBy("aten::special_erfcx", Cause.KERNEL, "no-kernel", Verdict.UNSUPPORTED,
              "ascend registers no kernel for aten::special_erfcx", Confidence.HIGH),
    BlockedBy("aten::sort", Cause.KERNEL, "host-fallback", Verdict.FALLBACK,
              "ascend runs aten::sort on the host", Confidence.HIGH),
    BlockedBy("aten::mm", Cause.CONDITION, "dtype-not-supported", Verdict.UNSUPPORTED,
              "float64 is not listed", Confidence.MEDIUM),
)  # fmt: skip
DEVICE = Cell(Standing.DEVICE, 1.0, ())
HOST = Cell(Standing.FALLBACK, 0.9871, (1,))
BROKEN = Cell(Standing.BROKEN, 0.75, (0, 1))
DOUBLE = Cell(Standing.BROKEN, 0.8, (2,))
UNSEEN = Cell(Standing.UNKNOWN, 0.9, ())
NONE = Cell(Standing.NO_ANSWER, None, ())


def model(name: str, *cells: Cell, gaps: int = 0, report: str = "") -> ModelRow:
    return ModelRow(
        name, f"timm:{name}", "timm", Ending.SCANNED, "", "", 1234, 56, gaps, cells, report
    )


MODELS = (
    model("fine", DEVICE, DEVICE, DEVICE, report="reports/fine.html"),
    model("slow", HOST, DEVICE, DEVICE),
    model("odd", BROKEN, DOUBLE, DEVICE),
    model("hidden", UNSEEN, UNSEEN, UNSEEN, gaps=2),
    replace(
        model("late", NONE, NONE, NONE), ending=Ending.TIMED_OUT, kind="",
        reason="not over after 120 s", hint="give it more with --timeout",
    ),
)  # fmt: skip
PAGE = FleetPage("0.1.0", "fleet.db", summary, (missing,), CAUSES, MODELS)


def baited(bait: str) -> FleetPage:
    """The page with a text in every place that comes from outside."""
    causes = tuple(replace(cause, op=bait, text=bait, code=bait) for cause in CAUSES)
    models = tuple(
        replace(one, name=f"{bait}{at}", source=bait, kind=bait, reason=bait, hint=bait)
        for at, one in enumerate(MODELS)
    )
    run = replace(PAGE.summary.run, manifest=bait)
    failures = tuple(
        replace(one, reason=bait, hint=bait, models=(bait,)) for one in PAGE.summary.failures
    )
    rankings = tuple(
        replace(ranking, steps=tuple(
            replace(step, needs=tuple(replace(need, op=bait, text=bait) for need in step.needs))
            for step in ranking.steps
        ))
        for ranking in PAGE.missing[0].rankings
    )  # fmt: skip
    return replace(
        PAGE,
        store=bait,
        causes=causes,
        models=models,
        summary=replace(PAGE.summary, run=run, failures=failures),
        missing=(replace(PAGE.missing[0], rankings=rankings),),
    )
