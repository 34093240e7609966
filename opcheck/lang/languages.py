"""The languages that opcheck speaks, and which of them was asked for."""

from collections.abc import Mapping
from enum import StrEnum

from opcheck.errors import UsageError


class Language(StrEnum):
    """A language; each but English has its catalogue beside this file."""

    ENGLISH = "en"
    CHINESE = "zh"


_LETTERS = {Language.ENGLISH: "", Language.CHINESE: "算子：可以运行"}
"""What an encoding must have for a language to be written in it."""
VARIABLES = ("OPCHECK_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
"""Where the language is looked for, the first that is set holds."""


def language_named(name: str) -> Language:
    """The language of ``--lang``."""
    try:
        return Language(name.lower())
    except ValueError as error:
        known = ", ".join(Language)
        raise UsageError(f"unknown language: {name!r}", f"known languages: {known}") from error


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
