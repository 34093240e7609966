"""Every sentence of the web page that the terminal's report has not; the script's as well."""

from collections.abc import Mapping

from opcheck.lang.sentence import Sentence
from opcheck.model.verdict import Verdict
from opcheck.views.terminal.notation import plural

SIGNS = {
    Verdict.UNSUPPORTED: "✘",
    Verdict.UNKNOWN: "?",
    Verdict.FALLBACK: "◐",
    Verdict.DECOMPOSED: "✔",
    Verdict.NATIVE: "✔",
}
"""A sign a verdict, for those who do not tell the colours apart."""
RUNS_SIGNS = {True: "✔", False: "✘", None: "?"}

SKIP = "Skip to the findings"
THEME = "Light or dark"
PICTURE = "The model"
PICTURE_IS = (
    "Modules from the outside in, their operators below them, as wide as they have calls; in the "
    "colour of the worst in them. Choose one to go into it, and to see its findings alone."
)
DEPTH = "Along the run"
DEPTH_IS = "From the first call to the last, as wide as a part of the run has calls."
RUN_LEGEND = {
    Verdict.NATIVE: "stays on the device",
    Verdict.FALLBACK: "falls back to the host",
    Verdict.UNKNOWN: "unknown",
    Verdict.UNSUPPORTED: "does not run",
}
"""What the colours along the run mean."""
HEAT = "Targets and kinds of operators"
HEAT_IS = (
    "How many operators of a kind need a look, or all of them where none does; in the colour of "
    "the worst. Choose a cell to see its findings."
)
FINDINGS = "Findings"
KEYS = "↑ ↓ move, Enter opens, / searches, Esc closes"
NO_SCRIPT = (
    "The picture of the model and the findings are drawn by a script in this page, which this "
    "browser does not run. The same is in the text report: opcheck scan --format text."
)
REST = "What it rests on"
STEPS = "Step by step"
TARGET, RUNS, SHARE, OPERATORS, CALLS = "target", "runs", "share", "operators", "calls"
TIER, PARTITIONS, MOVED, BREAKS = "tier", "partitions", "moved", "breaks"
NOTHING_SEEN = "–"

FOR_SCRIPT: Mapping[str, object] = {
    "all_targets": "all targets",
    "all_families": "all kinds",
    "shown": "{shown} of {all} findings",
    "none": "No finding fits. Clear a filter to see more.",
    "no_calls": "No calls to draw.",
    "more": "{count} more",
    "calls": "{count} calls",
    "call": "1 call",
    "model": "the model",
    "itself": "the model itself",
    "in": "in",
    "target": "Target",
    "kind": "Kind",
    "verdict": "Verdict",
    "operator": "Operator",
    "count": "Calls",
    "where": "Where",
    "confidence": "Confidence",
    "sure": "{level} confidence",
    "findings": FINDINGS,
    "search": "Search operators, reasons, modules, files",
    "clear": "Clear",
    "why": "Why",
    "evidence": "Evidence",
    "no_evidence": "None is given.",
    "plan": "Suggestions",
    "no_plan": "None was looked for: opcheck plan does.",
    "declined": "Considered, and no fix",
    "inputs": "inputs",
    "runs_as": "runs as",
    "gives_up": "trade-off",
    "off": "max error, of the largest value",
    "unmeasured": "not measured",
    "equal": "equal to the last bit",
    "proof": "proof",
    "holds": {"true": "holds", "false": "does not hold"},
    "on_host": "runs on the host",
    "by_hand": "to be written by hand",
    "tier": "tier {tier}",
    "code": "code",
    "previous": "Previous",
    "next": "Next",
    "close": "Close",
    "forward": "forward",
    "backward": "backward",
    "themes": {"auto": "Theme: as the system", "light": "Theme: light", "dark": "Theme: dark"},
    "printed": "The first {shown} of {all} findings that fit; the page itself holds all.",
}
"""What the script says; braces are filled in there."""


def title(source: str) -> str:
    """The name of the browser's tab."""
    return f"{source} – opcheck"


def cell(trouble: int, total: int, name: str, kind: str, verdict: Verdict) -> Sentence:
    """What a cell of the heat map says to those who cannot see it."""
    return Sentence(
        "{target}, {said_kind}: {count} of {said} off, worst {said_worst}",
        target=name,
        said_kind=kind,
        count=f"{trouble:,}",
        said=plural(total, "operator"),
        said_worst=verdict.value,
    )
