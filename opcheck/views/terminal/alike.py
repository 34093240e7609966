"""Sentences that differ only in the operator or the tensor that they are about."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from opcheck.model.trace import DTYPE_BYTES
from opcheck.views.terminal import words

_RUNS_AS = re.compile(r"it runs as (?P<op>\S+): ")
_TENSOR = re.compile(r"(?P<name>the result|[a-z_]\w*)(?= (?:is|has) )")


@dataclass(frozen=True, slots=True)
class Sentence:
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
    plain = text[inner.end() :] if inner else text
    for name in filter(None, (runs_as, op)):
        plain = re.sub(rf"(?<![\w:.]){re.escape(name)}(?![\w:]|\.\w)", words.THE_OPERATOR, plain)
    tensor = _TENSOR.match(plain)
    if tensor is None or tensor["name"] in DTYPE_BYTES:
        return Sentence(text, plain, plain, runs_as)
    return Sentence(text, plain, f"{words.A_TENSOR}{plain[tensor.end() :]}", runs_as)


def shared(sentences: Sequence[Sentence]) -> str:
    """The most exact wording that is true of all; they must agree in ``of_any``."""
    first = sentences[0]
    if all(said.exact == first.exact for said in sentences):
        return first.exact
    if all(said.of_operator == first.of_operator for said in sentences):
        return first.of_operator
    return first.of_any
