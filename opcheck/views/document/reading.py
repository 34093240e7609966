"""Reading documents back: JSON values that know where they stand, and what all documents share."""

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import NoReturn, TypeVar

from msgspec import Struct

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence, from_data
from opcheck.lang.speech import recognised
from opcheck.model.report import KernelCount, ModelInfo, Reason
from opcheck.model.trace import RUN_ENDED, Gap, Phase
from opcheck.model.verdict import Evidence, Method, Verdict

E = TypeVar("E", bound=StrEnum)

MOST = sys.float_info.max
"""JSON has whole numbers that no float can hold."""
MOST_COUNT = 2**63 - 1
"""Nothing that is counted comes to more."""


class Node(Struct, frozen=True):
    """A JSON value and the path to it, so that every complaint says where."""

    value: object
    path: str
    hint: Sentence
    """What the document should have been."""

    def fail(self, problem: Sentence) -> NoReturn:
        """Say what is wrong here."""
        raise UsageError(Sentence("{text}: {said}", text=self.path, said=problem), self.hint)

    def at(self, key: str) -> "Node":
        """The value of a key."""
        if not isinstance(self.value, Mapping):
            self.fail(Sentence("expected an object, got {arg_found}", arg_found=_kind(self.value)))
        if key not in self.value:
            self.fail(Sentence("the key {name} is missing", name=repr(key)))
        return Node(self.value[key], f"{self.path}.{key}", self.hint)

    def has(self, key: str) -> bool:
        """Whether an object has a key that it need not have."""
        return isinstance(self.value, Mapping) and key in self.value

    def keys(self) -> tuple[str, ...]:
        """The keys of an object, whatever they are."""
        if not isinstance(self.value, Mapping):
            self.fail(Sentence("expected an object, got {arg_found}", arg_found=_kind(self.value)))
        return tuple(self.value)

    def items(self, key: str) -> tuple["Node", ...]:
        """The items of an array."""
        node = self.at(key)
        if not isinstance(node.value, list):
            node.fail(Sentence("expected an array, got {arg_found}", arg_found=_kind(node.value)))
        return tuple(
            Node(item, f"{node.path}[{i}]", self.hint) for i, item in enumerate(node.value)
        )

    def as_text(self) -> str:
        """The value itself, a string."""
        if not isinstance(self.value, str):
            self.fail(Sentence("expected a string, got {arg_found}", arg_found=_kind(self.value)))
        return self.value

    def as_number(self) -> int:
        """The value itself, a count."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < 0:
            self.fail(
                Sentence(
                    "expected a whole number from 0 on, got {arg_found}",
                    arg_found=_kind(self.value),
                )
            )
        if self.value > MOST_COUNT:
            self.fail(
                Sentence(
                    "expected a whole number up to {count}, got a larger one", count=MOST_COUNT
                )
            )
        return self.value

    def as_rate(self) -> float:
        """The value itself, a share of one."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.fail(
                Sentence("expected a number from 0 to 1, got {arg_found}", arg_found=_kind(value))
            )
        return float(value)

    def as_size(self) -> float:
        """The value itself, how large something is."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST:
            self.fail(
                Sentence("expected a number from 0 on, got {arg_found}", arg_found=_kind(value))
            )
        return float(value)

    def as_bool(self) -> bool:
        """The value itself, a truth."""
        if not isinstance(self.value, bool):
            self.fail(
                Sentence("expected true or false, got {arg_found}", arg_found=_kind(self.value))
            )
        return self.value

    def text(self, key: str) -> str:
        """The string at a key."""
        return self.at(key).as_text()

    def texts(self, key: str) -> tuple[str, ...]:
        """The strings at a key."""
        return tuple(item.as_text() for item in self.items(key))

    def sentence(self, key: str) -> Sentence:
        """The string at a key, where it is a sentence of which the document has no parts."""
        return from_data(self.text(key))

    def sentences(self, key: str) -> tuple[Sentence, ...]:
        """The strings at a key, of which each is such a sentence."""
        return tuple(map(from_data, self.texts(key)))

    def truth(self, key: str) -> bool:
        """The truth at a key."""
        return self.at(key).as_bool()

    def number(self, key: str) -> int:
        """The count at a key."""
        return self.at(key).as_number()

    def optional(self, key: str) -> "Node | None":
        """The value of a key; None where it is null."""
        node = self.at(key)
        return None if node.value is None else node

    def member(self, key: str, kind: type[E]) -> E:
        """The member of an enum at a key."""
        node = self.at(key)
        text = node.as_text()
        if text not in set(kind):
            node.fail(
                Sentence(
                    "expected one of {list}, got {text}", list=", ".join(kind), text=repr(text)
                )
            )
        return kind(text)


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool() | int() | float():
            return json.dumps(value)
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


_RUN_ENDED = "the run ended here: "
_DEEPEST = 16
"""How many sentences may stand within each other."""


def opened(text: str, name: str, schema: str, hint: Sentence) -> Node:
    """The document that ``text`` holds, of this schema; ``name`` and ``hint`` are for messages."""
    return of_schema(parsed(text, name, hint), schema)


def parsed(text: str, name: str, hint: Sentence) -> Node:
    """The document that ``text`` holds, whatever it is."""
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            Sentence("{text} is not JSON: {text_why}", text=name, text_why=error), hint
        ) from error
    return Node(document, name, hint)


def of_schema(node: Node, schema: str) -> Node:
    """The same document, which has to be of this schema."""
    if (found := node.text("schema")) != schema:
        node.at("schema").fail(
            Sentence("expected {text}, got {text_b}", text=repr(schema), text_b=repr(found))
        )
    return node


def read_model(node: Node) -> ModelInfo:
    """What was run."""
    return ModelInfo(node.text("source"), node.text("kind"), node.text("digest"))


def read_reason(node: Node) -> Reason:
    """A code and a sentence."""
    return Reason(node.text("code"), from_data(_sentence(node, "text")))


def read_gap(node: Node) -> Gap:
    """What was not seen, and where."""
    reason = from_data(_sentence(node, "reason"))
    if node.has("code"):
        return Gap(node.text("where"), reason, node.text("code"))
    ended = reason.startswith(_RUN_ENDED)  # in reports of before gaps had codes
    return Gap(node.text("where"), reason, *([RUN_ENDED] if ended else []))


def read_kernel(node: Node) -> KernelCount:
    """How often the device was asked for an overload."""
    return KernelCount(
        op=node.text("op"),
        verdict=node.member("verdict", Verdict),
        count=node.number("count"),
        phase=node.member("phase", Phase),
    )


def read_evidence(node: Node) -> Evidence:
    """Where one fact was seen."""
    line = node.optional("line")
    return Evidence(
        method=node.member("method", Method),
        source=node.text("source"),
        path=node.text("path"),
        line=None if line is None else line.as_number(),
        commit=node.text("commit"),
        date=node.text("date"),
        origin=node.text("origin") if node.has("origin") else "",
    )


def _sentence(node: Node, key: str, deepest: int = _DEEPEST) -> str:
    """The text at a key; a sentence again where a message that is known gives it.

    A report may come from anywhere, so nothing that stands in it is taken for a template.
    """
    text = node.text(key)
    if not node.has("arguments"):
        return text
    given = node.at("arguments")
    arguments = {name: _argument(given.at(name), deepest - 1) for name in given.keys()}  # noqa: SIM118
    return recognised(text, arguments)


def _argument(node: Node, deepest: int) -> str:
    """A text, or a sentence in a sentence; what is deeper than any is taken for a text."""
    if not isinstance(node.value, Mapping):
        return node.as_text()
    return _sentence(node, "text", deepest) if deepest > 0 else node.text("text")


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")
