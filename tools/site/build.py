"""The whole site: what takes long in processes of their own, then every page."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from opcheck.commands.targets.answer import targets as targets_answer
from opcheck.db.by_hand.advice import documents
from opcheck.db.status import status
from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Remedy, RuleInfo
from opcheck.model.target import mode_of
from opcheck.version import __version__
from opcheck.views.html.template import TEMPLATES as REPORT_TEMPLATES
from tools.site import indexes, words
from tools.site.compact import matrix_script, search_script, targets_script
from tools.site.fleet import outcomes
from tools.site.histories import History, Tables, history
from tools.site.known import Known
from tools.site.operator_page import Around, write_operator
from tools.site.operators import Operators
from tools.site.others import (
    Model,
    models_of,
    write_advisory,
    write_model,
    write_rule,
    write_vendor,
)
from tools.site.pages import ASSETS, JSON, LANGUAGES, TEMPLATES, Pages, script_words
from tools.site.scans import scanned_models
from tools.site.target_page import write_target

_COPIED = ("site.js", "theme.js", "operator.js", "compare.js")
_AT_ONCE = 24
"""Operators that a process writes before it asks for more."""
_given: dict[str, Any] = {}
"""What processes that are forked find, by name."""


def build(
    folder: Path,
    jobs: int,
    only: Sequence[str] = (),
    *,
    release_histories: bool = True,
    store: Path | None = None,
) -> int:
    """Write the site into a folder; the number of pages, both languages together.

    ``only``: operators that get a page, for a quick look; the others are left out everywhere.
    ``release_histories``: whether older releases are looked at. ``store``: of opcheck fleet, whose
    last run is told on the pages of models.
    """
    for name in (*(one.value for one in LANGUAGES), JSON, ASSETS):
        shutil.rmtree(folder / name, ignore_errors=True)
    known = Known(frozenset(only))
    pages = Pages(folder, known.bases, _built(known))
    histories = _histories(known, jobs if release_histories else 0)
    rules, advisories = _rules(), [*_advisories(known)]
    around = _around(known, rules, frozenset(str(one.data["id"]) for one in advisories))
    _write_operators(pages, known, around, histories, jobs)
    _write_targets(pages, known, around, histories, jobs)
    for rule in rules:
        write_rule(pages, rule)
    for one in advisories:
        write_advisory(pages, one, known.database.vendors)
    rows = [row for row in targets_answer() if row.target.mode is None]
    vendors = _vendors(known)
    for vendor in vendors:
        own = [row for row in rows if row.target.vendor == vendor.vendor]
        write_vendor(pages, vendor, own)
    models = models_of(known.database.model_rows, scanned_models(), outcomes(store))
    for model in models:
        write_model(pages, model)
    indexes.write(pages, known, histories, rows, vendors, rules, advisories, models)
    _write_assets(pages, known, histories, rules, advisories, models, rows)
    return sum(1 for _ in folder.glob("??/**/*.html"))


def _built(known: Known) -> Sentence:
    matrices = [known.matrix(target) for target in known.targets]
    date = max(matrix.database_date for matrix in matrices)
    return words.built(__version__, date, known.database.tables.digest[:16])


def _histories(known: Known, jobs: int) -> Mapping[str, History]:
    """Every target through its releases; of the newest ones alone for no jobs."""
    names = [target.name for target in known.targets]
    if not jobs:
        tables = Tables(known)
        return {name: history(name, known, tables, newest_alone=True) for name in names}
    known.read()
    _given["known"] = known
    # a process ends after a few, since the matrices of all releases together are large
    with get_context("fork").Pool(jobs, maxtasksperchild=4) as pool:
        found = pool.map(_one_history, names, chunksize=1)
    return {one.target: one for one in found}


def _one_history(name: str) -> History:
    known: Known = _given["known"]
    return history(name, known, Tables(known))


def _rules() -> tuple[RuleInfo, ...]:
    from opcheck.commands.rules.answer import rules

    return rules()


def _advisories(known: Known) -> Iterable[Any]:
    for layer in known.database.layers:
        yield from sorted(documents(layer, known.database.cache), key=lambda one: one.data["id"])


def _vendors(known: Known) -> Sequence[Any]:
    from datetime import date

    every = status(known.database, date.today()).vendors
    return [vendor for vendor in every if mode_of(vendor.vendor)[1] is None]


def _around(known: Known, rules: Sequence[RuleInfo], advisories: frozenset[str]) -> Around:
    by_op: dict[str, list[RuleInfo]] = {}
    for rule in rules:
        for op in rule.replaces:
            by_op.setdefault(op, []).append(rule)
    remedies: list[tuple[str, Remedy]] = [
        (target.name, remedy)
        for target in known.targets
        for remedy in known.database.remedies(target)
        if remedy.ops
    ]
    return Around(
        rules={op: tuple(some) for op, some in by_op.items()},
        remedies=remedies,
        advisories=advisories,
        run_by=_run_by(known),
    )


def _run_by(known: Known) -> Mapping[str, tuple[str, ...]]:
    """Overload -> composites that were seen to run as it, on any device type."""
    found: dict[str, set[str]] = {}
    for target in {one.device_type: one for one in known.targets}.values():
        for op, ways in known.branches(target).items():
            for part in {part for way in ways for part in way}:
                found.setdefault(part, set()).add(op.partition("|")[0])
    return {op: tuple(sorted(some)) for op, some in found.items()}


def _write_operators(
    pages: Pages, known: Known, around: Around, histories: Mapping[str, History], jobs: int
) -> None:
    known.read()
    _given.update(pages=pages, known=known, around=around)
    _given["operators"] = Operators(known, histories)
    _in_processes(_one_operator, [*known.bases], jobs, _AT_ONCE)


def _one_operator(base: str) -> None:
    operator = _given["operators"].operator(base)
    write_operator(_given["pages"], _given["known"], _given["around"], operator)


def _write_targets(
    pages: Pages, known: Known, around: Around, histories: Mapping[str, History], jobs: int
) -> None:
    _given.update(histories=histories, rows={row.target.name: row for row in targets_answer()})
    _in_processes(_one_target, [target.name for target in known.targets], jobs, 1)


def _one_target(name: str) -> None:
    row, histories = _given["rows"][name], _given["histories"]
    advisories = _given["around"].advisories
    write_target(_given["pages"], _given["known"], row, histories[name], advisories)


def _in_processes(work: Any, names: Sequence[str], jobs: int, at_once: int) -> None:
    if jobs == 1:
        for name in names:
            work(name)
        return
    with get_context("fork").Pool(jobs) as pool:
        for _ in pool.imap_unordered(work, names, chunksize=at_once):
            pass


def _write_assets(
    pages: Pages,
    known: Known,
    histories: Mapping[str, History],
    rules: Sequence[RuleInfo],
    advisories: Sequence[Any],
    models: Sequence[Model],
    rows: Sequence[Any],
) -> None:
    for name in _COPIED:
        pages.put(f"{ASSETS}/{name}", (TEMPLATES / name).read_text(encoding="utf-8"))
    base = (REPORT_TEMPLATES / "base.css").read_text(encoding="utf-8")
    pages.put(f"{ASSETS}/site.css", base + (TEMPLATES / "site.css").read_text(encoding="utf-8"))
    for language, text in script_words().items():
        pages.put(f"{ASSETS}/words-{language}.js", text)
    pages.put(f"{ASSETS}/targets.js", targets_script(known, histories, rows))
    pages.put(f"{ASSETS}/matrix.js", matrix_script(known, histories))
    search = search_script(known, histories, rows, rules, advisories, models)
    pages.put(f"{ASSETS}/search.js", search)
