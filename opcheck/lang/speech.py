"""The language of this run, and texts told in it.

The rooms speak English: their sentences are values that are kept in reports, cross processes and
are compared in tests. Where a text is written for people it is told in the language of the run: a
:class:`~opcheck.lang.sentence.Sentence` by its template, any other text as the catalogue recognises
it; so a report that was saved in one language is read in any other.

The language is a context variable, as the precision of ``decimal`` is: it is asked for wherever a
word is written, and the command line alone sets it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from opcheck.lang.languages import Language
from opcheck.lang.sentence import Sentence, filled, place_names

if TYPE_CHECKING:
    from opcheck.lang.catalogue import Catalogue

_spoken: ContextVar[Language] = ContextVar("language", default=Language.ENGLISH)


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """What is told meanwhile is told in ``language``."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def spoken() -> Language:
    """The language of this run."""
    return _spoken.get()


def tell(text: str, context: str = "") -> str:
    """An English text in the language of this run; one that its catalogue lacks stays English."""
    language = _spoken.get()
    if language is Language.ENGLISH:
        return text
    return catalogue(language).tell(text, context)


def wording(template: str) -> str:
    """A sentence whose places are still open, in the language of this run."""
    language = _spoken.get()
    return template if language is Language.ENGLISH else catalogue(language).wording(template)


def recognised(text: str, arguments: Mapping[str, str]) -> str:
    """The text as a sentence, where a message that is known has these places and gives it.

    Any other text is given back as it is: what stands in it is never used as a template.
    """
    for template in _by_places().get(frozenset(arguments), ()):
        if text.startswith(template.partition("{")[0]) and filled(template, arguments) == text:
            return Sentence(template, **arguments)
    return text


@cache
def _by_places() -> Mapping[frozenset[str], Sequence[str]]:
    """The messages that are known, by the names of their places."""
    found: dict[frozenset[str], list[str]] = {}
    for language in Language:
        if language is not Language.ENGLISH:
            for template in catalogue(language).templates:
                found.setdefault(place_names(template), []).append(template)
    return found


@cache
def catalogue(language: Language) -> "Catalogue":
    """What is known of a language; read once a process, and only where it is spoken."""
    from opcheck.lang.catalogue import Catalogue
    from opcheck.lang.po import read_po

    name = f"{language.value}.po"
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return Catalogue(read_po(text, name))
