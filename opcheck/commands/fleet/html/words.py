"""Every sentence of the web page of a fleet; the script's as well."""

from collections.abc import Mapping

from opcheck.commands.fleet.answers.values import Goal, Standing
from opcheck.views.html import words

SIGNS: Mapping[Standing, str] = {
    Standing.DEVICE: "✔",
    Standing.FALLBACK: "◐",
    Standing.UNKNOWN: "?",
    Standing.BROKEN: "✘",
    Standing.NO_ANSWER: "–",
}
STANDINGS: Mapping[Standing, str] = {
    Standing.DEVICE: "runs on the device",
    Standing.FALLBACK: "runs, in part on the host",
    Standing.UNKNOWN: "cannot tell",
    Standing.BROKEN: "will not run",
    Standing.NO_ANSWER: "no answer",
}
SKIP = "Skip to the models"
TARGETS = "Targets"
TARGETS_ARE = "How many models run on each. Choose one to see the models on it alone."
MISSING = "What would unblock most"
MISSING_IS = (
    "Kernels, conditions and unknowns in steps: each is what unblocks most for each thing in it, "
    "once the steps before it are done. Choose an operator to see the models that meet it."
)
GOALS: Mapping[Goal, str] = {
    Goal.RUNS: "so that models run",
    Goal.DEVICE: "so that they run on the device alone",
}
MODELS = "Models and targets"
MODELS_ARE = (
    "Choose a cell to see what is in the way there, and the head of a column to sort by it."
)
FAILURES = "Without an answer"
FAILURES_ARE = "Their scan did not come so far."
KEYS = "↑ ↓ ← → move, Enter opens, / searches, Esc closes"
NO_SCRIPT = (
    "The models are drawn by a script in this page, which this browser does not run. The same is "
    "in the text: opcheck fleet summary."
)
SHARE = "share"
STEP_COLUMNS = ("step", "models", "in all", "pairs", "needs")
TOGETHER = "only together"

FOR_SCRIPT: Mapping[str, object] = {
    "all_targets": "all targets",
    "all_vendors": "all vendors",
    "all_endings": "however it ended",
    "shown": "{shown} of {all} models",
    "none": "No model fits. Clear a filter to see more.",
    "models": "Models and targets",
    "model": "Model",
    "target": "Target",
    "vendor": "Vendor",
    "ending": "Ending",
    "runs_on": "Runs on",
    "runs_of": "{count} of {all}",
    "search": "Search models, sources, operators, reasons",
    "clear": "Clear",
    "calls": "{count} calls",
    "operators": "{count} operators",
    "gaps": "{count} places were not seen",
    "report": "The whole report",
    "command": "The whole report is written by",
    "unseen": "Parts of the model were not seen.",
    "on_device": "{rate} of its operators stay on the device",
    "sure": "{level} confidence",
    "previous": "Previous",
    "next": "Next",
    "close": "Close",
    "more": "{count} more",
    "themes": words.FOR_SCRIPT["themes"],
    "printed": "The first {shown} of {all} models that fit; the page itself holds all.",
}
"""What the script says; braces are filled in there."""


def title(manifest: str) -> str:
    """The name of the browser's tab."""
    return f"{manifest} – opcheck"
