"""Texts that would do something where they are only to be shown."""

from msgspec.structs import replace

from opcheck.model.report import Reason, Report
from tests.views.samples import COMPLEX, place, report, target

TEXTS = (
    "</details><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\x1b[31mred\x1b[0m \u202etxt.exe \x00\x85\u2028",
    "a\r\n::error::not from here\n##[endgroup]",
    "100% of a,b:c::d",
    "]]> &amp; &#8203; <!-- -->",
    "@everyone #1 GH-1 :cat: www.example.org https://example.org a@b.org",
    "[click](https://example.org) ![x](y) {0} | `code` ``two`` $x$ **bold** ~~no~~",
    "=HYPERLINK(1)",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    " =1",
    "＝1",
    "\"quoted\", 'and' a,b",
    "/etc/passwd",
    "../../x",
    "C:\\x",
    "算子/é %20.py",
    "\ud800",
    "x" * 2_000,
)


def report_saying(text: str) -> Report:
    """A report in which everything that is free text is this one."""
    saying = replace(
        COMPLEX,
        id=text,
        op=text,
        reason=Reason(text, text),
        uses=(place(text, 3, text), place("", 0, text)),
    )
    one = replace(target("910a", (saying,)), target=text, advisories=(Reason("x", text),))
    return report(one, source=text, notes=(text,))


HOSTILE = tuple(map(report_saying, TEXTS))
