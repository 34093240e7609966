"""Reading documents back: what every one of them has in common."""

import json
from collections.abc import Mapping
from typing import NoReturn

from opcheck.errors import UsageError
from opcheck.lang.speech import recognised
from opcheck.model.report import KernelCount, ModelInfo, Reason
from opcheck.model.trace import RUN_ENDED, Gap, Phase
from opcheck.model.verdict import Evidence, Method, Verdict
from opcheck.views.document.node import Node

_RUN_ENDED = "the run ended here: "
_DEEPEST = 16
"""How many sentences may stand within each other."""


def opened(text: str, name: str, schema: str, hint: str) -> Node:
    """The document that ``text`` holds, of this schema; ``name`` and ``hint`` are for messages."""
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}", hint) from error
    root = Node(document, name, hint)
    if (found := root.text("schema")) != schema:
        root.at("schema").fail(f"expected {schema!r}, got {found!r}")
    return root


def read_model(node: Node) -> ModelInfo:
    """What was run."""
    return ModelInfo(node.text("source"), node.text("kind"), node.text("digest"))


def read_reason(node: Node) -> Reason:
    """A code and a sentence."""
    return Reason(node.text("code"), _sentence(node, "text"))


def read_gap(node: Node) -> Gap:
    """What was not seen, and where."""
    reason = _sentence(node, "reason")
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
