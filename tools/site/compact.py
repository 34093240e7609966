"""The small files that scripts read: targets, verdicts of everything, and what is searched."""

from collections.abc import Mapping, Sequence
from typing import Any

from opcheck.commands.targets.values import TargetRow
from opcheck.model.plan import RuleInfo
from tools.site.histories import History
from tools.site.known import ABSENT, Known
from tools.site.others import Model
from tools.site.pages import as_script

MIXED = "m"
"""Of an operator whose overloads fare in several ways."""


def targets_script(
    known: Known, histories: Mapping[str, History], rows: Sequence[TargetRow]
) -> str:
    """Target -> vendor, releases from the oldest on."""
    return as_script(
        "opcheckTargets",
        {row.target.name: [row.target.vendor, list(histories[row.target.name].releases)]
         for row in rows},
    )  # fmt: skip


def matrix_script(known: Known, histories: Mapping[str, History]) -> str:
    """Every overload with its letter on each target, and what was otherwise in older releases."""
    ops = known.overloads
    found = {}
    for name, history in histories.items():
        absent = ABSENT * len(history.releases)
        columns = ["".join(one) for one in zip(*(history.verdicts.get(op, absent) for op in ops),
                                               strict=True)]  # fmt: skip
        *older, newest = columns
        found[name] = [newest, {
            release: _otherwise(column, newest)
            for release, column in zip(history.releases, older, strict=False)
        }]  # fmt: skip
    return as_script("opcheckMatrix", {"ops": ops, "targets": found})


def _otherwise(column: str, newest: str) -> str:
    """The letters that are other ones, each behind the distance from the one before."""
    parts: list[str] = []
    last = 0
    for place, (then, now) in enumerate(zip(column, newest, strict=True)):
        if then != now:
            parts.append(f"{place - last or ''}{then}")
            last = place
    return "".join(parts)


def search_script(
    known: Known,
    histories: Mapping[str, History],
    rows: Sequence[TargetRow],
    rules: Sequence[RuleInfo],
    advisories: Sequence[Any],
    models: Sequence[Model],
) -> str:
    """Everything that has a page, with the words that find it."""
    return as_script("opcheckSearch", {
        "operators": [*known.bases],
        "letters": {name: _by_operator(known, history) for name, history in histories.items()},
        "targets": [
            [row.target.name, row.device_name, row.target.vendor,
             " ".join((*row.also, *row.vendor_also))]
            for row in rows
        ],
        "vendors": sorted({row.target.vendor for row in rows}),
        "rules": [[rule.name, str(rule.summary)] for rule in rules],
        "advisories": [[one.data["id"], one.data["title"]] for one in advisories],
        "models": [[model.slug, model.name] for model in models],
    })  # fmt: skip


def _by_operator(known: Known, history: History) -> str:
    letters = []
    for ops in known.bases.values():
        some = {history.verdicts[op][-1] for op in ops if op in history.verdicts} - {ABSENT}
        letters.append(ABSENT if not some else some.pop() if len(some) == 1 else MIXED)
    return "".join(letters)
