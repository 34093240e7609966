"""Pages written in both languages: templates filled in, with links that work from a folder."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from msgspec.structs import replace

from opcheck.commands.db.terminal import otherwise
from opcheck.lang.sentence import Sentence, changed, filled, from_data
from opcheck.lang.speech import Language, speaking, tell, wording
from opcheck.model.text import printable
from opcheck.model.verdict import Evidence, Verdict
from opcheck.views.html.data import escaped
from opcheck.views.html.words import SIGNS
from opcheck.views.terminal import plan_words
from opcheck.views.terminal import words as terminal
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, LABEL_CONTEXT
from opcheck.views.terminal.evidence import web_address
from opcheck.views.terminal.notation import source
from tools.site import words
from tools.site.dtypes import DTYPES
from tools.site.known import VERDICTS, base_of, overload_of, slug

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = "assets"
JSON = "json"
LANGUAGES = tuple(Language)
_INDENT = re.compile(r"(?m)^ +")
_KEPT = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL)


class Pages:
    """The folder that the site is written to."""

    def __init__(self, folder: Path, bases: Iterable[str], built: str) -> None:
        self._folder = folder
        self._built = built
        self._known = frozenset(bases)
        self._environment = _environment(self._known)

    def write(self, path: str, template: str, *, document: object = None, **values: Any) -> None:
        """Write a page in each language, and ``document`` beside it as JSON.

        ``path`` is that of the page without its ending, ``operators/aten.gelu``.
        """
        root = "../" * path.count("/")
        for language in LANGUAGES:
            other = next(one for one in LANGUAGES if one is not language)
            with speaking(language):
                text = self._environment.get_template(template).render(
                    language=language.value,
                    other=other.value,
                    here=f"{path}.html",
                    root=root,
                    top=f"{root}../",
                    document=f"{root}../{JSON}/{path}.json" if document is not None else "",
                    built=self._built,
                    **values,
                )
            self._put(f"{language.value}/{path}.html", _flush(text))
        if document is not None:
            self._put(f"{JSON}/{path}.json", as_json(document))

    def put(self, path: str, text: str) -> None:
        """Write a file that is the same in every language."""
        self._put(path, text)

    def _put(self, path: str, text: str) -> None:
        place = self._folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def _flush(text: str) -> str:
    """A page without the indents of its lines, but for text that keeps its spaces."""
    parts = _KEPT.split(text)
    parts[::2] = (_INDENT.sub("", part) for part in parts[::2])
    return "".join(parts)


def as_json(value: object) -> str:
    """A document without what no program needs."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False) + "\n"


def as_script(name: str, value: object) -> str:
    """A value as a script that can be read from a folder, too, where JSON cannot be fetched."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return f"window.{name}={text};\n"


def script_words() -> Mapping[str, str]:
    """The words of the script, and the form that it adds: a file for each language."""
    found, filters = {}, _environment(frozenset()).get_template("filters.html")
    for language in LANGUAGES:
        with speaking(language):
            said = {**_worded(words.FOR_SCRIPT), "filters": filters.render(dtypes=DTYPES)}
            found[language.value] = as_script("opcheckWords", said)
    return found


def _worded(said: Mapping[str, object]) -> Mapping[str, object]:
    return {
        key: _worded(text) if isinstance(text, Mapping) else wording(str(text))
        for key, text in said.items()
    }


def _environment(known: frozenset[str]) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
        finalize=_safe,
    )
    environment.filters |= {
        "tell": tell,
        "figure": lambda count: f"{count:,}",
        "sign": lambda verdict: SIGNS[verdict],
        "cited": _cited,
        "overload": overload_of,
        "slug": slug,
        "base": base_of,
        "script": _in_script,
        "column": lambda name: tell(name, COLUMN_CONTEXT),
        "label": lambda name: tell(name, LABEL_CONTEXT),
    }
    environment.globals |= {
        "words": words,
        "terminal": terminal,
        "plan_words": plan_words,
        "otherwise": otherwise,
        "about_chip": about_chip,
        "in_words": in_words,
        "verdicts": VERDICTS,
        "order": tuple(Verdict),
        "operator_link": lambda op, root: _operator_link(op, root, known),
    }
    return environment


def in_words(text: str) -> str:
    """A sentence of an advisory: its message is recognised by itself, and then filled in.

    As a whole it may have long lists, which the catalogue would compare with every message.
    """
    if not isinstance(text, Sentence):
        return tell(text)
    places = {name: tell(value) for name, value in text.arguments.items()}
    return filled(tell(text.template), places)


def about_chip(text: str, chip: str) -> str:
    """What is said of a whole target, with its chip where that is named."""
    return changed(from_data(text), lambda part: part.replace("{chip}", chip))


def _in_script(value: object) -> Markup:
    """JSON that can stand in a script element, as in the web page of a report."""
    return Markup(escaped(value))  # escaped has nothing left that ends the element


def _safe(value: Any) -> Any:
    """Texts with what cannot be seen spelled out; markup of ours as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(str(value), kept="\n")
    return value


def _operator_link(op: str, root: str, known: frozenset[str]) -> Markup:
    """The overload, with a link to its place where it has a page."""
    base = base_of(op)
    if base not in known:
        return Markup("<code>{}</code>").format(op)
    place = f"{root}operators/{slug(base)}.html#{overload_of(op)}"
    return Markup('<a href="{}"><code>{}</code></a>').format(place, op)


@cache
def _citation(fact: Evidence) -> Markup:
    address, text = web_address(replace(fact, commit=fact.commit[:12])), source(fact, verbose=False)
    if not address:
        return Markup("<span>{}</span>").format(text)
    return Markup('<a href="{}">{}</a>').format(address, text)


def _cited(fact: Evidence) -> Markup:
    """Where a fact was seen, with how it is known, as a link to the file and line."""
    return Markup("<b>{}</b> {}").format(tell(fact.method.value), _citation(fact))
