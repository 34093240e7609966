"""The report as a web page: one self-contained file to open, send and keep."""

from opcheck.lang.speech import tell
from opcheck.model.report import Report
from opcheck.views.formats import PLAIN, Page
from opcheck.views.html import words
from opcheck.views.html.data import embedded
from opcheck.views.html.facts import facts, parts
from opcheck.views.html.head import Told, cards, headline, tone, unseen
from opcheck.views.html.heat_map import heat_map
from opcheck.views.html.template import whole_page
from opcheck.views.order import WORST_FIRST, arranged
from opcheck.views.terminal import words as common

STYLES = ("base.css", "parts.css", "narrow.css")
SCRIPTS = (
    *("elements.js", "theme.js", "core.js", "tree.js", "picture.js", "table.js", "detail.js"),
    *("viewing.js", "main.js"),
)
"""In the order in which they stand; each uses what comes before it."""


def html_page(report: Report, run: Told | None = None) -> str:
    """The whole page; nothing in it is asked for elsewhere, and a browser is told so.

    ``run``: what is said beside the findings, of a script that was run.
    """
    ended = report.trace.ended
    partial = "" if ended is None else tell(common.partial(ended.where))
    told = run or Told(headline(report), partial=partial)
    return whole_page(
        "page.html",
        STYLES,
        SCRIPTS,
        report=report,
        words=words,
        verdicts=WORST_FIRST,
        headline=told.headline,
        failure=told.failure,
        tone=tone(report),
        unseen=unseen(report),
        cards=cards(report),
        heat=heat_map(report.targets),
        parts=(*told.parts, *parts(report)),
        facts=facts(report),
        partial=told.partial,
        data=embedded(report),
    )


def render(report: Report, page: Page = PLAIN) -> str:
    """Give the page: picture, heat map, and every finding to search."""
    return html_page(arranged(report))
