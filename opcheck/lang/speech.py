"""The languages that opcheck speaks, the one of this run, and texts in it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from opcheck.lang.sentence import Sentence, filled, place_names

if TYPE_CHECKING:
    from opcheck.lang.catalogue import Catalogue


class Language(StrEnum):
    """A language; each but English has its catalogue beside this file."""

    ENGLISH = "en"
    CHINESE = "zh"


_LETTERS = {Language.ENGLISH: "", Language.CHINESE: "算子：可以运行"}
"""What an encoding must have for a language to be written in it."""
VARIABLES = ("OPCHECK_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
"""Where the language is looked for, the first that is set holds."""


def language_of(environment: Mapping[str, str]) -> Language:
    """The language that the environment asks for: ``zh_CN.UTF-8`` is Chinese; else English."""
    wanted = next((environment[name] for name in VARIABLES if environment.get(name)), "")
    tongue = wanted.replace("-", "_").partition("_")[0].partition(".")[0].lower()
    return next((language for language in Language if language == tongue), Language.ENGLISH)


def writable(language: Language, encoding: str) -> bool:
    """Whether texts of the language can be written in ``encoding``."""
    try:
        _LETTERS[language].encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


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


def has_translation(text: str) -> bool:
    """Whether a text without places is in the language of this run; every one is in English."""
    language = _spoken.get()
    return language is Language.ENGLISH or text in catalogue(language).templates


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
    from opcheck.lang.catalogue import Catalogue, read_po

    name = f"{language.value}.po"
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return Catalogue(read_po(text, name))
