"""The written site looked at: links that lead nowhere, identifiers twice, HTML that is no HTML.

``python -m tools.site.check FOLDER`` looks at every page (``make site-check``).
"""

import random
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Collects identifiers and addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            elif name in ("href", "src", "action") and value is not None:
                self.addresses.append(value)


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def pages_of(folder: Path) -> Sequence[Path]:
    """Every page of the site itself, without those of the documentation."""
    return sorted(
        [folder / "index.html", *folder.glob("en/**/*.html"), *folder.glob("zh/**/*.html")]
    )


def wrong_links(folder: Path, pages: Collection[Path]) -> Iterator[str]:
    """What is wrong with links and identifiers of pages, a line each."""
    docs = (folder / "docs").is_dir()
    for path in pages:
        page = _read(path)
        where = path.relative_to(folder).as_posix()
        twice = {one for one in page.ids if page.ids.count(one) > 1} if page.ids else set()
        yield from (f"{where}: the identifier {one} is there twice" for one in sorted(twice))
        for address in page.addresses:
            if (docs or "docs/" not in address) and not _leads(path, address):
                yield f"{where}: {address} leads nowhere"


def _leads(path: Path, address: str) -> bool:
    """Whether a link within the site leads to a page, and to a place that this has."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return parts.scheme in ("https", "data")
    there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not there.is_file():
        return False
    return not parts.fragment or unquote(parts.fragment) in _ids(there)


@cache
def _ids(path: Path) -> frozenset[str]:
    return frozenset(_read(path).ids)


def wrong_html(path: Path) -> list[str]:
    """What a strict parser of HTML complains of in a page."""
    import html5lib

    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    parser.parse(path.read_text(encoding="utf-8"))
    return [f"{path.name}:{place}: {code} {about}" for place, code, about in parser.errors]


def share_of(pages: Sequence[Path], count: int, seed: int = 0) -> Sequence[Path]:
    """So many of the pages, the same ones for a seed."""
    return random.Random(seed).sample(list(pages), min(count, len(pages)))


def main() -> None:
    """Look at every page; exit with 1 where something is wrong."""
    folder = Path(sys.argv[1])
    pages = pages_of(folder)
    found = [*wrong_links(folder, pages), *(one for path in pages for one in wrong_html(path))]
    for line in found[:200]:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{len(pages):,} pages looked at, {len(found):,} wrong\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
