"""Every link of README, changelog and docs leads somewhere, and so does what help names."""

from pathlib import Path

import pytest

from tests.console import ROOT
from tests.links import PAGES, Link, fault, links, mentions

_CITED = ("opcheck/db/importers/", "opcheck/rewrite/custom/toolchains/")
"""Where ``docs/x.md`` may be a file of a vendor's repository."""
_FOLDERS = ("opcheck", "handbook", "benchmarks", "ci", "examples", "tools")
_TEXTS = (".py", ".po", ".yml", ".yaml", ".j2", ".md", ".sh", ".toml")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    found = {link.to: fault(link) for link in links(page)}
    assert {to: why for to, why in found.items() if why} == {}


def test_pages_have_links() -> None:
    every = [link for page in PAGES for link in links(page)]
    assert len([link for link in every if not link.external]) > 400
    assert len([link for link in every if link.external]) > 1000


def _sources() -> list[Path]:
    inside = (path for name in _FOLDERS for path in sorted((ROOT / name).rglob("*")))
    return [*ROOT.glob("*.md"), *ROOT.glob("*.yml"), ROOT / "Makefile", *inside]


@pytest.mark.slow
def test_pages_that_code_and_help_name_are_there() -> None:
    named = {}
    for path in _sources():
        place = path.relative_to(ROOT).as_posix()
        readable = path.suffix in _TEXTS or path.name == "Makefile"
        if readable and path.is_file() and not place.startswith(_CITED):
            for name in mentions(path.read_text(encoding="utf-8")):
                named[place, name] = fault(Link("README.md", name))
    assert len(named) > 50
    assert {where: why for where, why in named.items() if why} == {}


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("docs/gate.md", ""),
        ("docs/reference/cli.md", ""),
        ("docs/limits.md#versions-of-torch", ""),
        ("#install", ""),
        ("docs/none.md", "there is no such file"),
        ("docs/limits.md#none", "there is no such heading"),
        ("http://pytorch.org", "http: is not https:"),
        ("https://pytorch", "'pytorch' is no host"),
        ("https://pytorch.org/get-started.", "it ends in punctuation"),
        ("https://pytorch.org/get-started", ""),
    ],
)
def test_what_a_link_lacks_is_found(to: str, why: str) -> None:
    assert fault(Link("README.md", to)) == why


def test_code_holds_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("`a[0](x)` [one](two.md)\n\n```\n[three](four.md)\n```\n<https://a.b/c>\n")
    monkeypatch.setattr("tests.links.ROOT", tmp_path)
    assert [link.to for link in links(page)] == ["two.md", "https://a.b/c"]
