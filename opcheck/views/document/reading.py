"""Reading documents back: what every one of them has in common."""

import json
from typing import NoReturn

from opcheck.errors import UsageError
from opcheck.model.report import KernelCount, ModelInfo, Reason
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Evidence, Method, Verdict
from opcheck.views.document.node import Node


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
    return Reason(node.text("code"), node.text("text"))


def read_gap(node: Node) -> Gap:
    """What was not seen, and where."""
    return Gap(node.text("where"), node.text("reason"))


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


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")
