"""A page put together: templates filled in, style, script and data inside."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from opcheck.lang.speech import spoken, tell
from opcheck.model.text import printable
from opcheck.views.terminal.canvas import COLUMN_CONTEXT

TEMPLATES = Path(__file__).parent / "templates"


def whole_page(
    template: str, styles: Sequence[str], scripts: Sequence[str], *, data: str, **values: Any
) -> str:
    """The template with its values, the style and script of some files, and data for the script.

    ``data`` is JSON that is escaped for a script element. The page is ASCII only, as style and
    script are: a pipe that spoiled a letter would spoil their hashes.
    """
    style, script = _joined(styles), _joined(scripts)
    text: str = (
        _environment()
        .get_template(template)
        .render(
            language=spoken(),
            policy=_policy(style, script),
            style=Markup(style),  # our own files
            script=Markup(script),
            data=Markup(data),  # escaped by whoever made it
            **values,
        )
    )
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
        finalize=_safe,
    )
    environment.filters["tell"] = tell
    environment.filters["column"] = lambda name: tell(name, COLUMN_CONTEXT)
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


def _joined(names: Sequence[str]) -> str:
    return "\n" + "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)
