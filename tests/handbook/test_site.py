"""The site is built without a warning, has every page, and asks for nothing from elsewhere."""

import json
import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from handbook.base import pages
from handbook.schema import FILES, published
from opcheck.site import GATE, REASONS, RUN, SCHEMAS, SITE
from tests.console import ROOT

pytest.importorskip("mkdocs", reason="the docs extra is not installed")
pytest.importorskip("material", reason="the docs extra is not installed")
pytest.importorskip("mkdocstrings", reason="the docs extra is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder


class _Asked(HTMLParser):
    """Collects what a browser fetches by itself for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "link" and found.get("rel") not in ("canonical", "prev", "next"):
            self.addresses.append(found.get("href") or "")
        elif tag in ("script", "img", "iframe", "source"):
            self.addresses.append(found.get("src") or "")


@pytest.mark.slow
def test_every_page_is_built(site: Path) -> None:
    docs = (path.relative_to(ROOT / "docs").with_suffix("") for path in ROOT.glob("docs/**/*.md"))
    wanted = {path.as_posix() for path in docs} | {
        page.path.removesuffix(".md") for page in pages()
    }
    built = {path.parent.relative_to(site).as_posix() for path in site.glob("**/index.html")}
    assert wanted - {"index"} - built == set()


@pytest.mark.slow
def test_no_page_asks_for_anything_from_elsewhere(site: Path) -> None:
    asked = _Asked()
    for path in site.glob("**/*.html"):
        asked.feed(path.read_text(encoding="utf-8"))
    assert asked.addresses
    assert [one for one in asked.addresses if re.match(r"(?:\w+:)?//", one)] == []
    styles = [path.read_text(encoding="utf-8") for path in site.glob("**/*.css")]
    assert [
        found for text in styles for found in re.findall(r"url\(['\"]?https?:[^)]*\)", text)
    ] == []


@pytest.mark.slow
def test_schemas_are_linked(site: Path) -> None:
    assert 'href="../schema/opcheck.policy-1.json"' in (site / "gate" / "index.html").read_text(
        "utf-8"
    )


@pytest.mark.slow
def test_the_site_has_each_schema_at_its_address(site: Path) -> None:
    assert FILES
    for path in FILES:
        address = json.loads(path.read_text(encoding="utf-8"))["$id"]
        assert address == f"{SCHEMAS}{path.name}"
        assert address.startswith(SITE)
        assert (site / address.removeprefix(SITE)).read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_the_site_has_the_pages_that_reports_lead_to(site: Path) -> None:
    for address in (REASONS, GATE, RUN):
        assert (site / address.removeprefix(SITE) / "index.html").is_file()


def test_the_address_of_the_site_is_said_once() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    assert urls == {"Documentation": SITE}
    assert [
        path.name for path in FILES if published(path) != path.read_text(encoding="utf-8")
    ] == []
