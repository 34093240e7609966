"""Sentences with places to fill in: read from a text that was made of one, and filled in again."""

import re
import string
from collections.abc import Callable, Mapping
from functools import cached_property

from msgspec import Struct

_ARGUMENT = r"(?:the|any|an?) \w+"
KINDS: Mapping[str, str] = {
    "count": r"\d[\d,]*",
    "percent": r"[\d.,]+%",
    "list": r"\S+(?:, \S+)*",
    "text": r".+?",
    "said": r".+?",
    "op": r"the operator|\S+?",
    "vendor": r"the vendor|\S+?",
    "arg": rf"(?:anything but )?(?:{_ARGUMENT}|\S+(?:, \S+)*)(?: or (?:{_ARGUMENT}|\S+))*",
}
"""What a place may hold, by the beginning of its name; a place of another name holds one word.

What a place named ``said`` holds is a message itself, and is told in the other language, too. One
named ``arg`` holds the name of an argument, or words for one, which alone are told; so does one
named ``op``, where a sentence is about several operators, and one named ``vendor``, which may hold
the words for any of them.
"""
_BETWEEN = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
"""A space that stood beside a place, and is now among Chinese characters."""
WORD = r"\S+?"
SAID, NAMED = "said", ("arg", "op", "vendor")


def places(template: str) -> tuple[str, ...]:
    """The names of a template's places, in their order."""
    return tuple(name for _, name, _, _ in string.Formatter().parse(template) if name is not None)


class Template(Struct, frozen=True, dict=True):
    """An English sentence with places."""

    english: str

    @cached_property
    def weight(self) -> int:
        """How much of it is fixed: of several that a text fits, the heaviest is meant."""
        return sum(len(literal) for literal, *_ in string.Formatter().parse(self.english))

    @cached_property
    def literal(self) -> str:
        """The longest of what is fixed: no text without it was made of this."""
        return max((part for part, *_ in string.Formatter().parse(self.english)), key=len)

    @cached_property
    def first(self) -> str:
        """The word that every text made of it begins with; "" where a place is in the first."""
        word = self.english.partition(" ")[0]
        return "" if "{" in word else word

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts: list[str] = []
        seen: set[str] = set()
        for literal, name, _, _ in string.Formatter().parse(self.english):
            parts.append(re.escape(literal))
            if name is not None:
                parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{_kind(name)})")
                seen.add(name)
        return re.compile("".join(parts), re.DOTALL)

    def read(self, text: str) -> Mapping[str, str] | None:
        """What stands in the places of a text made of it; None for any other text."""
        found = self._pattern.fullmatch(text)
        return None if found is None else found.groupdict()


def filled(template: str, values: Mapping[str, str], tell: Callable[[str], str]) -> str:
    """The template with its places filled in; ``tell`` translates what is a message itself."""
    told = {
        name: tell(value) if holds_message(name, value) else value for name, value in values.items()
    }
    return without_gaps(template.format_map(told))


def without_gaps(text: str) -> str:
    """The text without spaces that English has around places, where Chinese stands around them."""
    return _BETWEEN.sub("", text)


def holds_message(name: str, value: str) -> bool:
    """Whether what stands in a place is a message itself."""
    return name.startswith(SAID) or (name.startswith(NAMED) and " " in value)


def _kind(name: str) -> str:
    return next((kind for prefix, kind in KINDS.items() if name.startswith(prefix)), WORD)
