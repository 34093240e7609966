"""Every page is there, leads to pages that are there, and is HTML in both languages."""

import json
from pathlib import Path

import pytest

from opcheck.commands.models.answer import models
from opcheck.commands.rules.answer import rules
from opcheck.commands.targets.answer import targets
from opcheck.db.by_hand.advice import documents
from opcheck.lang.speech import Language
from opcheck.pipeline.database import open_database
from tests.commands.fleet import made
from tests.site.small import OPERATORS
from tools.site.check import pages_of, share_of, wrong_html, wrong_links
from tools.site.fleet import outcomes
from tools.site.others import models_of, slug_of, write_model
from tools.site.pages import Pages
from tools.site.scans import scanned_models

pytestmark = pytest.mark.slow
pytest.importorskip("html5lib", reason="the test extra is not installed")


def _names(site: Path, kind: str, language: str = "en") -> set[str]:
    return {path.stem for path in (site / language / kind).glob("*.html")} - {"index"}


def test_there_is_a_page_for_everything(site: Path) -> None:
    database = open_database()
    plain = [row.target for row in targets() if row.target.mode is None]
    names, vendors = {one.name for one in plain}, {one.vendor for one in plain}
    advisories = {
        str(one.data["id"]) for layer in database.layers for one in documents(layer, database.cache)
    }
    listed = {slug_of(row.name) for row in models().rows}
    scanned = {slug_of(name) for name in scanned_models()}
    assert len(names) > 60
    assert len(advisories) > 600
    assert len(scanned) > 60
    assert _names(site, "operators") == {name.replace("::", ".") for name in OPERATORS}
    assert _names(site, "targets") == names
    assert _names(site, "vendors") == vendors
    assert _names(site, "rules") == {rule.name for rule in rules()}
    assert _names(site, "advisories") == advisories
    assert _names(site, "models") == listed | scanned


def test_both_languages_have_the_same_pages(site: Path) -> None:
    english, chinese = (
        {path.relative_to(site / one.value) for path in (site / one.value).rglob("*.html")}
        for one in Language
    )
    assert english == chinese


def test_each_page_has_its_json(site: Path) -> None:
    for path in (site / "json").rglob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
        assert (site / "en" / path.relative_to(site / "json")).with_suffix(".html").is_file()
    for kind in ("operators", "targets", "vendors", "rules", "advisories", "models"):
        documented = {path.stem for path in (site / "json" / kind).glob("*.json")}
        assert documented - {"index"} == _names(site, kind)


def test_every_link_leads_somewhere(site: Path) -> None:
    pages = pages_of(site)
    assert len(pages) > 3000
    of_many = [path for path in pages if path.parent.name in ("advisories", "models", "rules")]
    others = [path for path in pages if path not in set(of_many)]
    assert [*wrong_links(site, [*others, *share_of(of_many, 150)])] == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    page = tmp_path / "en" / "a.html"
    page.write_text('<p id="x"></p><p id="x"></p><a href="b.html">b</a><a href="#y">y</a>')
    assert [*wrong_links(tmp_path, [page])] == [
        "en/a.html: the identifier x is there twice",
        "en/a.html: b.html leads nowhere",
        "en/a.html: #y leads nowhere",
    ]


def test_pages_are_html(site: Path, tmp_path: Path) -> None:
    every = [site / language / f"operators/{name.replace('::', '.')}.html"
             for name in OPERATORS[:3] for language in ("en", "zh")]  # fmt: skip
    for kind in ("targets", "vendors", "rules", "advisories", "models"):
        every += share_of(sorted((site / "zh" / kind).glob("*.html")), 2)
    every += [site / "index.html", *(site / "en").glob("*.html")]
    assert {path.name: wrong_html(path) for path in every if wrong_html(path)} == {}
    odd = tmp_path / "odd.html"
    odd.write_text("<!doctype html><p><ul></ul></p>")
    assert wrong_html(odd)


def test_an_advisory_says_which_calls_it_is_of(site: Path) -> None:
    text = (site / "en/advisories/cuda-topk-large.html").read_text(encoding="utf-8")
    assert "positions in a row of above 2147483647 elements" in text
    every = (path.read_text(encoding="utf-8") for path in (site / "en/advisories").glob("*.html"))
    assert [place for one in every for place in ("{actual}", "{argument}") if place in one] == []


def test_the_documentation_can_stand_beside_it(site: Path) -> None:
    """Pages link to docs/, which `make site` builds there."""
    assert 'href="../docs/index.html"' in (site / "en/index.html").read_text(encoding="utf-8")


def test_a_model_of_a_fleet_says_what_its_run_found(tmp_path: Path) -> None:
    """Targets on which it comes to the same stand together, with what keeps it off."""
    path = tmp_path / "fleet.db"
    first, second = (
        made.target("ascend-910b@26.1.0+torch2.12"),
        made.target("amd-mi210@2.15.0+torch2.15"),
    )
    blocked = made.kernel("aten::gelu")
    results = (made.result(first, blocked), made.result(second))
    made.filled(path, {"nano": made.scanned(*results)}, (first, second))
    (model,) = models_of((), {}, outcomes(path))
    assert [(one.targets, one.runs, [b.op for b in one.blockers]) for one in model.outcomes] == [
        (("ascend-910b",), False, ["aten::gelu"]), (("amd-mi210",), True, []),
    ]  # fmt: skip
    write_model(Pages(tmp_path / "site", ["aten::gelu"], "built"), model)
    text = (tmp_path / "site/en/models/nano.html").read_text(encoding="utf-8")
    assert 'href="../operators/aten.gelu.html#default"' in text
    assert outcomes(None) == {}
