"""A sentence as a value: English text with the template and arguments that it is made of."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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

    def __new__(cls, template: str, /, **arguments: object) -> "Sentence":
        """Fill a template in; what is no text is written as ``str`` does.

        An argument that the template has no place for is left out.
        """
        texts = {
            name: value if isinstance(value, str) else str(value)
            for name, value in arguments.items()
            if f"{{{name}}}" in template
        }
        made = super().__new__(cls, filled(template, texts))
        made.template = template
        made.arguments = MappingProxyType(texts)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle the parts, from which the text is made again."""
        return restored, (self.template, dict(self.arguments))


def filled(template: str, arguments: Mapping[str, str]) -> str:
    """The template with its places filled in; a place without an argument stays as it is.

    Nothing but whole names is replaced, and what was filled in is not looked at again.
    """
    return _PLACE.sub(lambda place: arguments.get(place[1], place[0]), template)


NOTHING = Sentence("")
"""No words."""


def verbatim(text: object) -> Sentence:
    """A text as a sentence: words of somebody else, such as a library, stay as they are."""
    return text if isinstance(text, Sentence) else Sentence("{text}", text=text)


def from_data(text: str) -> Sentence:
    """A text of the database or of a saved document: its message has to be recognised."""
    return text if isinstance(text, Sentence) else Sentence(text)


def chained(parts: Iterable[str], between: str) -> Sentence:
    """Sentences in a row, with a sign such as ``"; "`` between them."""
    named = {f"said_{place}": part for place, part in enumerate(parts, 1)}
    return Sentence(between.join(f"{{{name}}}" for name in named), **named)


def with_sign(text: str, sign: str) -> Sentence:
    """A sentence with a sign such as ``":"`` behind it."""
    return Sentence(f"{{said}}{sign}", said=text)


def in_brackets(text: str) -> Sentence:
    """A sentence in brackets."""
    return Sentence("({said})", said=text)


def sentence_of(error: BaseException) -> Sentence:
    """What an exception says: the sentence that it was made with, or somebody else's words."""
    first = error.args[0] if error.args else None
    return first if isinstance(first, Sentence) else verbatim(error)


def place_names(template: str) -> frozenset[str]:
    """The names of the places in a template."""
    return frozenset(_PLACE.findall(template))


def without_places(template: str) -> str:
    """What is fixed of a template."""
    return _PLACE.sub("", template)


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


def restored(template: str, arguments: Mapping[str, str]) -> Sentence:
    """A sentence of its parts, as a copy and a pickle make it."""
    return Sentence(template, **arguments)
