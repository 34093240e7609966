"""The language of this run, and texts told in it.

The rooms speak English: their sentences are values that are kept in reports, cross processes and
are compared in tests. Where a text is written for people it is told in the language of the run: a
:class:`~opcheck.lang.sentence.Sentence` by its template, any other text as the catalogue recognises
it; so a report that was saved in one language is read in any other.

The language is a context variable, as the precision of ``decimal`` is: it is asked for wherever a
word is written, and the command line alone sets it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files

from opcheck.lang.catalogue import Catalogue
from opcheck.lang.languages import Language
from opcheck.lang.po import read_po

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


@cache
def catalogue(language: Language) -> Catalogue:
    """What is known of a language; read once a process, and only where it is spoken."""
    name = f"{language.value}.po"
    text = files("opcheck.lang").joinpath(name).read_text(encoding="utf-8")
    return Catalogue(read_po(text, name))
