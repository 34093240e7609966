"""The pages that lead to the others: the first one, a list for each kind, and the comparison."""

from collections.abc import Mapping, Sequence
from typing import Any

from opcheck.commands.targets.values import TargetRow
from opcheck.commands.targets.views.json import targets_document
from opcheck.model.database import VendorStatus
from opcheck.model.plan import RuleInfo
from opcheck.model.verdict import Verdict
from tools.site import words
from tools.site.dtypes import DTYPES
from tools.site.histories import History
from tools.site.known import LETTERS, Known
from tools.site.others import Model, in_groups
from tools.site.pages import LANGUAGES, Pages


def write(
    pages: Pages,
    known: Known,
    histories: Mapping[str, History],
    rows: Sequence[TargetRow],
    vendors: Sequence[VendorStatus],
    rules: Sequence[RuleInfo],
    advisories: Sequence[Any],
    models: Sequence[Model],
) -> None:
    """Write the first page and the list of each kind."""
    counts = {
        "operators": len(known.bases),
        "targets": len(rows),
        "vendors": len(vendors),
        "models": len(models),
        "rules": len(rules),
        "advisories": len(advisories),
    }
    pages.write("index", "home.html", counts=counts, overloads=len(known.overloads))
    pages.write(
        "operators/index",
        "operators.html",
        document={"operators": {base: list(ops) for base, ops in known.bases.items()}},
        groups=[*in_groups(known.bases)],
        bases=known.bases,
    )
    pages.write(
        "targets/index",
        "targets.html",
        document=targets_document(rows),
        rows=rows,
        shares={name: _shares(history) for name, history in histories.items()},
    )
    pages.write("vendors/index", "vendors.html", vendors=vendors)
    pages.write("rules/index", "rules.html", rules=rules)
    pages.write("advisories/index", "advisories.html", advisories=[one.data for one in advisories])
    pages.write("models/index", "models.html", models=models)
    pages.write("compare", "compare.html", dtypes=DTYPES)
    pages.put("index.html", _ways_in())


def _shares(history: History) -> Sequence[tuple[Verdict, int]]:
    """How many of PyTorch's own overloads fare in each way, in the newest release."""
    letters = [said[-1] for op, said in history.verdicts.items() if op.startswith("aten::")]
    return [(verdict, letters.count(letter)) for verdict, letter in LETTERS.items()]


def _ways_in() -> str:
    """The page at the root, which leads to a language."""
    links = "".join(
        f'<p><a lang="{one.value}" href="{one.value}/index.html">{words.LANGUAGE_NAMES[one.value]}'
        "</a></p>"
        for one in LANGUAGES
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>opcheck</title>'
        '<link rel="icon" href="data:,"><script>location.replace((/^zh/.test(navigator.language)'
        ' ? "zh" : "en") + "/index.html" + location.search)</script></head>'
        f"<body><h1>opcheck</h1>{links}</body></html>\n"
    )
