"""Ten questions that users ask, and the way to each answer: what is clicked or typed, what is seen.

``python -m tests.site.questions FOLDER`` times them on a whole site.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.views.html.chromium import Browser, browser

SEEN = "document.querySelector('main').innerText"
SHOWN = (
    "[...document.querySelectorAll('.grid tbody tr:not([hidden])')].map(r => r.innerText).join()"
)


@dataclass(frozen=True)
class Question:
    """One of them."""

    asked: str
    ways: Sequence[str]
    """``search TEXT`` types and presses Enter; ``filter NAME=VALUE`` sets one; anything else is the
    selector of what is clicked. Each counts as a click."""
    answer: str
    """A text that is then seen."""
    where: str = SEEN


QUESTIONS = (
    Question("Does gelu run on an Ascend 910B?", ("search gelu 910b",), "native", SHOWN),
    Question("Since when does an H100 have _grouped_mm?", ("search _grouped_mm h100",),
             "nvidia-h100", SHOWN),
    Question("Does gelu take float64 on an H100?", ("search gelu h100", "filter dtype=float64"),
             "native", SHOWN),
    Question("Where is conv2d no kernel of its own?", ("search conv2d",), "decomposed", SHOWN),
    Question("What does conv2d run as?", ("search conv2d",), "aten::convolution"),
    Question("Which file says that gelu runs on Apple's M1?",
             ("search gelu m1", "[id='default'] .group:not([hidden]) .cited a"), "",
             "document.querySelector('#default .group:not([hidden]) .cited a').href"
             ".includes('native_functions.yaml#L')"),
    Question("Which CANN goes with torch_npu 26.1.0?", ("search ascend-910b",), "cann 9.1.0"),
    Question("What is wrong with topk of long rows?", ("search cuda-topk-large",), "torch 2.12.0"),
    Question("What do I write instead of special.airy_ai?",
             ("search airy_ai", "#fixes a"), "aten::special_airy_ai"),
    Question("What differs between an H100 and a Rebellions ATOM?",
             ("nav a[href$='compare.html']", "filter targets=nvidia-h100,rebellions-atom"),
             "rebellions-atom", "document.querySelector('#table').innerText"),
)  # fmt: skip
MOST = 3
"""Clicks that an answer may take, at most."""


def answered(found: Browser, site: Path, question: Question) -> bool:
    """Go the way from the first page, and look whether the answer is seen."""
    found.open(site / "en" / "index.html")
    for way in question.ways:
        kind, _, rest = way.partition(" ")
        if kind == "search":
            _search(found, rest)
        elif kind == "filter":
            _set(found, *rest.split("=", 1))
        elif ".cited" not in way:  # a source is elsewhere: that it is named is enough
            follow(found, f"document.querySelector({way!r}).href")
    seen = str(found.value(question.where))
    return question.answer in seen if question.answer else seen.lower() == "true"


def _search(found: Browser, text: str) -> None:
    found.press("/")
    found.type(text)
    found.until("document.querySelector('#results a') !== null")
    follow(found, "document.querySelector('#results [aria-selected=true]').href")


def follow(found: Browser, expression: str) -> None:
    """Open the page that a link leads to."""
    parts = urlsplit(str(found.value(expression)))
    query = f"?{parts.query}" if parts.query else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    found.open(Path(unquote(parts.path)), f"{query}{fragment}")


def _set(found: Browser, name: str, value: str) -> None:
    field = f"document.querySelector('.filters').elements[{name!r}]"
    found.value(f"{field}.value = {value!r}")
    found.value(f"{field}.dispatchEvent(new Event('input', {{bubbles: true}}))")


def main() -> None:
    """Answer each on a whole site, and say how long that took."""
    site = Path(sys.argv[1])
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        browser(Path(profile)) as found,
    ):
        for question in QUESTIONS:
            began = time.monotonic()
            good = answered(found, site, question)
            took = time.monotonic() - began
            line = f"| {question.asked} | {len(question.ways)} | {took:.1f} s | {good} |\n"
            sys.stdout.write(line)


if __name__ == "__main__":
    main()
