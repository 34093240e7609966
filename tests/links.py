"""Links of the pages that people read: where each leads, and whether something is there.

``python -m tests.links`` lists the hosts that pages lead to; with ``--ask`` it asks each address,
as far as it is reachable from here, and fails for those that answer that there is no such page.
"""

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from msgspec import Struct

from handbook.base import Page, pages
from tests.console import ROOT

PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
_FENCE = re.compile(r"^(?P<mark>```+|~~~+).*?^(?P=mark)$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(`+).*?\1", re.DOTALL)
_LINK = re.compile(r"(?<!\\)\]\((?P<to>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
_REFERENCE = re.compile(r"^\[[^\]]+\]:\s+(?P<to>\S+)", re.MULTILINE)
_BARE = re.compile(r"<(?P<to>https?://[^\s>]+)>")
_HEADING = re.compile(r"^#{1,6}\s+(?P<text>.+?)(?:\s*\{\s*#(?P<id>[\w-]+)\s*\})?\s*$", re.MULTILINE)
_MENTION = re.compile(r"(?<![\w/.-])docs/[\w/.-]+\.md(?:#[\w-]+)?")
_GONE = (404, 410)


class Link(Struct, frozen=True, order=True):
    """One link of a page, as it is written there."""

    page: str
    to: str

    @property
    def external(self) -> bool:
        """Whether it leaves the repository."""
        return bool(urlsplit(self.to).scheme or self.to.startswith("//"))


def links(page: Path) -> Iterator[Link]:
    """Every link of a page; what stands in code is none."""
    text = _CODE.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
    for pattern in (_LINK, _REFERENCE, _BARE):
        for found in pattern.finditer(text):
            yield Link(page.relative_to(ROOT).as_posix(), found["to"])


def fault(link: Link) -> str:
    """What is wrong with a link; "" where it leads somewhere, as far as that is known here."""
    if link.external:
        return _malformed(link.to)
    name, _, anchor = link.to.partition("#")
    target = (ROOT / link.page).parent / unquote(name) if name else ROOT / link.page
    place = target.resolve()
    if place not in _generated() and not place.exists():
        return "there is no such file"
    if not anchor or place.suffix != ".md":
        return ""
    return "" if anchor in _anchors(place) else "there is no such heading"


def mentions(text: str) -> frozenset[str]:
    """Pages of docs that a text names: ``docs/gate.md``, with the heading if it names one."""
    return frozenset(_MENTION.findall(text))


def _malformed(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("https", "mailto"):
        return f"{parts.scheme or 'nothing'}: is not https:"
    if parts.scheme == "https" and not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc):
        return f"{parts.netloc!r} is no host"
    return "it ends in punctuation" if address[-1] in ".,;:" else ""


@cache
def _generated() -> Mapping[Path, Page]:
    """Pages that are made from the code when the site is built, by where they are then."""
    return {(ROOT / "docs" / page.path).resolve(): page for page in pages()}


@cache
def _anchors(place: Path) -> frozenset[str]:
    """What headings of a page are linked by, as GitHub and as the site makes it of them."""
    made = _generated().get(place)
    text = made.text() if made else place.read_text(encoding="utf-8")
    found: set[str] = set()
    for heading in _HEADING.finditer(_FENCE.sub("", text)):
        plain = re.sub(r"[`*]|\]\([^)]*\)|\[|\\", "", heading["text"]).strip().lower()
        github = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        site = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain, flags=re.ASCII).strip())
        found |= {heading["id"]} if heading["id"] else {github, site}
    return frozenset(found) | frozenset(re.findall(r'<a (?:id|name)="([\w-]+)"', text))


def _answer(address: str) -> str:
    """What a server says of an address: its status, or why there is none."""
    request = Request(address, method="HEAD", headers={"User-Agent": "opcheck links"})
    try:
        with urlopen(request, timeout=10) as reply:  # https alone, by _malformed
            return str(reply.status)
    except HTTPError as error:
        return str(error.code)
    except (OSError, HTTPException) as error:
        return f"not reachable: {error}"


def main() -> int:
    """List hosts; or ask, and fail where a page is gone."""
    parser = argparse.ArgumentParser(prog="python -m tests.links")
    parser.add_argument("--ask", action="store_true", help="ask each address whether it is there")
    asked = parser.parse_args().ask
    hosts: dict[str, set[str]] = defaultdict(set)
    for link in (link for page in PAGES for link in links(page) if link.external):
        hosts[urlsplit(link.to).netloc].add(link.to.partition("#")[0])
    gone = 0
    for host, addresses in sorted(hosts.items()):
        print(f"{host}: {len(addresses)}")
        for address in sorted(addresses) if asked else ():
            answer = _answer(address)
            gone += answer in map(str, _GONE)
            if not answer.startswith("2"):
                print(f"  {answer}  {address}", flush=True)
            if answer.startswith("not reachable"):
                break  # nor are the others of this host
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
