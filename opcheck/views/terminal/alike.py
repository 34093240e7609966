"""Sentences that differ only in the operator or the tensor that they are about."""

import re
from collections.abc import Sequence

from msgspec import Struct

from opcheck.lang.sentence import Sentence as Parts
from opcheck.lang.sentence import changed, with_arguments
from opcheck.model.trace import DTYPE_BYTES
from opcheck.views.terminal import words

_RUNS_AS = re.compile(r"it runs as (?P<op>\S+): ")
_TENSOR = re.compile(r"(?P<name>the result|[a-z_]\w*)(?= (?:is|has) )")

_FIRST = re.compile(r"\{(?P<name>\w+)\}")


class Sentence(Struct, frozen=True):
    """Why an operator fares as it does, from what names it alone to what others share."""

    exact: str
    of_operator: str
    """The same of whichever operator it is about."""
    of_any: str
    """The same of whichever tensor of whichever operator."""
    runs_as: str
    """The operator that it is about where that is another, which the call runs as; or empty."""


def sentence(text: str, op: str) -> Sentence:
    """Read the reason given for ``op``."""
    inner = _RUNS_AS.match(text)
    runs_as = inner["op"] if inner else ""
    plain = _inside(text, inner.end()) if inner else text
    for name in filter(None, (runs_as, op)):
        plain = _without(plain, name)
    tensor = _TENSOR.match(plain)
    if tensor is None or tensor["name"] in DTYPE_BYTES:
        return Sentence(text, plain, plain, runs_as)
    return Sentence(text, plain, _of_any_tensor(plain, tensor["name"]), runs_as)


def _inside(text: str, start: int) -> str:
    """What is said of the operator that the call runs as."""
    said = text.arguments.get("said", "") if isinstance(text, Parts) else ""
    return said if said == text[start:] else text[start:]


def _without(text: str, op: str) -> str:
    """The text without the name of an operator."""
    name = re.compile(rf"(?<![\w:.]){re.escape(op)}(?![\w:]|\.\w)")
    return changed(text, lambda part: name.sub(words.THE_OPERATOR, part))


def _of_any_tensor(text: str, name: str) -> str:
    """A text that begins with the name of a tensor, without that."""
    whole = f"{words.A_TENSOR}{text[len(name) :]}"
    place = _FIRST.match(text.template) if isinstance(text, Parts) else None
    if not isinstance(text, Parts) or place is None:
        return whole
    value = text.arguments.get(place["name"], "")
    found = with_arguments(text, {place["name"]: _of_any_tensor(value, name)})
    return found if found == whole else whole


def shared(sentences: Sequence[Sentence]) -> str:
    """The most exact wording that is true of all; they must agree in ``of_any``."""
    first = sentences[0]
    if all(said.exact == first.exact for said in sentences):
        return first.exact
    if all(said.of_operator == first.of_operator for said in sentences):
        return first.of_operator
    return first.of_any
