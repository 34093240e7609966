"""Every sentence of the site that the terminal's pages have not; those of its script as well."""

from collections.abc import Mapping

from opcheck.lang.sentence import Sentence
from opcheck.model.verdict import Verdict
from opcheck.views.terminal.notation import plural

OPERATORS, TARGETS, VENDORS = "Operators", "Targets", "Vendors"
RULES, ADVISORIES, MODELS, COMPARE = "Rules", "Advisories", "Models", "Compare"
DOCS = "Documentation"
SECTIONS: Mapping[str, str] = {
    "operators": OPERATORS,
    "targets": TARGETS,
    "vendors": VENDORS,
    "models": MODELS,
    "rules": RULES,
    "advisories": ADVISORIES,
}
"""Folder of the pages -> what the navigation calls it."""
LANGUAGE_NAMES: Mapping[str, str] = {"en": "English", "zh": "中文"}
"""Each language by its own name."""

SKIP = "Skip to the content"
THEME = "Light or dark"
SEARCH = "Search: gelu ascend"
SEARCH_HELP = (
    "Search for an operator, a target, or both: gelu ascend. / begins, ↑ ↓ choose, Enter opens."
)
QUESTION = "Can I use this operator there?"
LEAD = (
    "What each operator of PyTorch comes to on each accelerator: which releases have it, which "
    "dtypes it takes, what else it asks for, and the file and line that say so."
)
STARTS = "Where to begin"
START_OPERATOR = "All overloads of an operator, on every target and release"
START_TARGET = "One chip: its kernels, traps, releases and what goes with them"
START_COMPARE = "Targets side by side, in any of their releases"
START_VENDOR = "A vendor's chips, releases and sources"
START_RULE = "Rewrites for what a target does not run"
START_ADVISORY = "Known faults, with where they are mended"
START_MODEL = "Whole models that vendors list or that were scanned"
NOT_HERE = (
    "The site knows operators one at a time. What a model calls, with which shapes, a scan tells: "
    "opcheck scan MODEL -t TARGET."
)

DTYPE, RELEASE, ONLY_TARGETS = "dtype", "release", "only these targets"
ANY_DTYPE, ANY_RELEASE = "any dtype", "newest release"
CLEAR, SHARE = "Clear", "Copy the link"
NOTHING_LEFT = "No target fits these filters."
FILTER_IS = (
    "For a dtype, conditions on dtypes alone are looked at, in the newest release. Each filter "
    "stands in the address, so that a link keeps it."
)
OVERVIEW = "Where it runs"
OVERVIEW_IS = (
    "The newest release of each target, for floating-point tensors that meet no condition. Choose "
    "a cell for why."
)
TARGET = "target"
NOT_THERE = "nothing is said of it there"
CONDITIONS = "Conditions"
CONDITIONS_ARE = (
    "Calls that fare otherwise than the table says, in the words of whoever says so. Open one for "
    "the overloads and targets that have it, and for a source. What holds for every operator "
    "of a target stands on the target's page."
)
DTYPES_OTHERWISE = "By dtype"
DTYPES_ARE = (
    "Calls whose tensors all have one of these dtypes, where conditions on dtypes alone make "
    "another verdict of it. What a composite runs as may refuse more."
)
FIXES = "Fixes"
FIXES_ARE = "Rules of opcheck fix that replace it"
REMEDIES = "From the vendor"
RUN_BY = "Operators that run as it"
AS_JSON = "This page as JSON"
ON_COMMAND_LINE = "On the command line"
RELATED = "Related operators"

COVERAGE = "Coverage"
KERNELS_OF = "Overloads by how they fare"
CHANGED = "What changed"
CHANGED_IS = "Overloads whose verdict is another one than in the release before."
NOTHING_CHANGED = "no verdict changed"
GOES_WITH = "What goes with it"
TRAPS = "Known traps"
TRAPS_ARE = "Conditions by their code, and the overloads that have them."
OF_ALL = "For every operator"
SOURCES = "Sources"
ALSO_CALLED = "also called"
DATA_OF = "data of"
OTHERWISE = "otherwise"
CHIPS = "Chips"
RELEASES = "Releases"
INSTALL = "To install"

EFFECT, AFFECTS, FIXED_IN, WORKAROUND = "effect", "affects", "fixed in", "workaround"
REFERENCES, REASON = "references", "why we say so"
REPLACES, WRITTEN, GIVES_UP = "replaces", "written as", "trade-off"
WHY_EQUAL = "Why it is equal"
CODE = "Code"
EFFECTS: Mapping[str, str] = {
    "wrong-values": "wrong values",
    "wrong-shape": "a wrong shape",
    "memory-corruption": "memory is overwritten",
    "may-crash": "may crash",
    "may-hang": "may hang",
    "slow": "slow",
    "crash": "crashes",
    "hang": "hangs",
    "less-precise": "less precise",
}
"""What an advisory warns of, by its key."""
TIER = "tier"
CLOSE = "closeness"

LIST, SAYS, MODE = "list", "says", "mode"
SCANNED, LISTED = "Scanned", "Lists of vendors"
SCANNED_IS = "Scanned against every target, as the table of scanned models has it."
LISTED_IS = "Lists speak of other code than yours, and of the releases that they name."
CALLS, GAPS, RUNS_ON, NOT_ON = "calls", "gaps", "runs on", "not on"
LIBRARY = "library"
IN_FLEET = "In a run of opcheck fleet"

COMPARE_IS = (
    "Name targets, each in any of its releases: ascend-910b@7.1.0, nvidia-h100. Overloads that "
    "fare alike on all of them are left out unless you ask for them."
)
ALIKE_TOO, NAMED = "alike ones too", "name contains"
NO_SCRIPT = "This page needs its script; the pages of operators and targets do without."

FOR_SCRIPT: Mapping[str, object] = {
    "verdicts": {"n": "native", "d": "decomposed", "f": "fallback", "u": "unsupported",
                 "k": "unknown", "m": "by overload"},
    "kinds": {"o": "operator", "t": "target", "v": "vendor", "r": "rule", "a": "advisory",
              "m": "model"},
    "none": "Nothing of that name.",
    "since": "since {release}",
    "no_targets": NOTHING_LEFT,
    "copied": "Copied",
    "share": SHARE,
    "differ": "{count} of {all} overloads differ",
    "first": "the first {count}",
    "unknown_target": "no target {target}",
    "themes": {"auto": "Theme: as the system", "light": "Theme: light", "dark": "Theme: dark"},
    "of_newest": "dtypes are known of the newest release",
}  # fmt: skip
"""What the script says; braces are filled in there."""


def since(release: str) -> Sentence:
    """From which release on a verdict holds."""
    return Sentence("since {release}", release=release)


def on_targets(verdict: Verdict, count: int, of: int) -> Sentence:
    """On how many targets an overload fares in some way."""
    return Sentence(
        "{said} on {count} of {figure}", said=verdict.value, count=str(count), figure=of
    )


def like(op: str) -> Sentence:
    """That an overload fares as another one, for the same reasons."""
    return Sentence("as {op}, for the same reasons", op=op)


def counted(count: int, noun: str) -> Sentence:
    """So many of something."""
    return plural(count, noun)


def torch_has_it(first: str, last: str) -> Sentence:
    """In which releases of PyTorch there is an overload."""
    return Sentence("in torch {version} to {version_last}", version=first, version_last=last)


def dtype_fares(verdict: Verdict, dtypes: str) -> Sentence:
    """What becomes of a call with tensors of some dtypes."""
    return Sentence("{said}: {list}", said=verdict.value, list=dtypes)


def became(verdict: Verdict, count: int) -> Sentence:
    """How many overloads fare in some way that they did not in the release before."""
    return Sentence("{count} are now {said}", count=f"{count:,}", said=verdict.value)


def built(version: str, date: str, digest: str) -> Sentence:
    """What the site was made of."""
    return Sentence(
        "opcheck {version}, database of {date}, digest {digest}",
        version=version, date=date, digest=digest,
    )  # fmt: skip
