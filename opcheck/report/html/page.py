"""The page put together: templates filled in, style, script and data inside."""

import base64
import hashlib
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from opcheck.lang.speech import spoken, tell
from opcheck.model.report import Report
from opcheck.model.text import printable
from opcheck.report.html import words
from opcheck.report.html.data import embedded
from opcheck.report.html.head import cards, headline, tone, unseen
from opcheck.report.html.heat import heat_map
from opcheck.report.html.rest import facts, parts
from opcheck.report.order import WORST_FIRST
from opcheck.report.terminal import words as common

_TEMPLATES = Path(__file__).parent / "templates"
STYLES = ("base.css", "parts.css", "narrow.css")
SCRIPTS = ("core.js", "tree.js", "picture.js", "table.js", "detail.js", "main.js")
"""In the order in which they stand; each uses what comes before it."""


def html_page(report: Report) -> str:
    """The whole page; nothing in it is asked for elsewhere, and a browser is told so.

    ASCII only, as style and script are: a pipe that spoiled a letter would spoil their hashes.
    """
    style, script = _joined(STYLES), _joined(SCRIPTS)
    ended = report.trace.ended
    text: str = (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            language=spoken(),
            words=words,
            verdicts=WORST_FIRST,
            headline=headline(report),
            tone=tone(report),
            unseen=unseen(report),
            cards=cards(report),
            heat=heat_map(report.targets),
            parts=parts(report),
            facts=facts(report),
            partial="" if ended is None else tell(common.partial(ended.where)),
            policy=_policy(style, script),
            style=Markup(style),  # our own files
            script=Markup(script),
            data=Markup(embedded(report)),  # escaped for a script element
        )
    )
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
        finalize=_safe,
    )
    environment.filters["tell"] = tell
    environment.filters["figure"] = lambda count: f"{count:,}"
    return environment


def _safe(value: Any) -> Any:
    """Texts of the report with what cannot be seen spelled out; our own files as they are."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(str(value), kept="\n")
    return value


def _policy(style: str, script: str) -> str:
    """What a browser may do for this page: run and apply what stands in it, and nothing else."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _joined(names: tuple[str, ...]) -> str:
    return "\n" + "\n".join((_TEMPLATES / name).read_text(encoding="utf-8") for name in names)
