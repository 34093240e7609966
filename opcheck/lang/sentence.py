"""A sentence as a value: English text with the template and arguments that it is made of."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

_PLACE = re.compile(r"\{([A-Za-z_]\w*)\}")


class Sentence(str):
    """An English text that keeps what it was made of, and is used wherever a text is.

    The text is the template with its places filled in. Other languages look the template up, so
    that nothing has to be read back from the text. It is equal to its text, and hashes as it.
    """

    __slots__ = ("arguments", "template")
    template: str
    """English, with named places: ``{vendor} registers no kernel for {op}``."""
    arguments: Mapping[str, str]
    """What stands in each place: a text, or another sentence."""

    def __new__(cls, template: str, /, **arguments: str | int) -> "Sentence":
        """Fill a template in; numbers are written as digits."""
        texts = {
            name: value if isinstance(value, str) else str(value)
            for name, value in arguments.items()
        }
        made = super().__new__(cls, filled(template, texts))
        made.template = template
        made.arguments = MappingProxyType(texts)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle the parts, from which the text is made again."""
        return _made, (self.template, dict(self.arguments))


def filled(template: str, arguments: Mapping[str, str]) -> str:
    """The template with its places filled in; a place without an argument stays as it is.

    Nothing but whole names is replaced, and what was filled in is not looked at again.
    """
    return _PLACE.sub(lambda place: arguments.get(place[1], place[0]), template)


def place_names(template: str) -> frozenset[str]:
    """The names of the places in a template."""
    return frozenset(_PLACE.findall(template))


def sentences(text: str) -> Iterator[Sentence]:
    """Every sentence of which a text is made, itself included, from the outside in."""
    if isinstance(text, Sentence):
        yield text
        for value in text.arguments.values():
            yield from sentences(value)


def changed(text: str, change: Callable[[str], str]) -> str:
    """The text after a change; of a sentence, one that still has parts, where that comes out equal.

    ``change`` is made to the template and to each argument. A change that looks beyond them gives
    another text than that of the whole sentence does: then the result is plain text.
    """
    whole = change(str(text))
    if not isinstance(text, Sentence):
        return whole
    found = _changed(text, change)
    return found if found == whole else whole


def with_arguments(sentence: Sentence, arguments: Mapping[str, str]) -> Sentence:
    """The sentence with other arguments for some of its places."""
    return Sentence(sentence.template, **{**sentence.arguments, **arguments})


def _changed(text: str, change: Callable[[str], str]) -> str:
    if not isinstance(text, Sentence):
        return change(text)
    parts = {name: _changed(value, change) for name, value in text.arguments.items()}
    return Sentence(change(text.template), **parts)


def _made(template: str, arguments: Mapping[str, str]) -> Sentence:
    return Sentence(template, **arguments)
