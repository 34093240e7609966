"""Conditions of ExecuTorch's targets, as files of the database have them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from opcheck.db.importers.shared import converters
from opcheck.db.importers.shared.converters import Functions

Listed = Mapping[str, Mapping[str, Any]]
"""Overload -> what was extracted of it."""
Facts = Iterable[Mapping[str, Any]]


def told(names: list[str], code: str, verdict: str, text: str, at: list[str]) -> dict[str, Any]:
    """What ExecuTorch's code says of overloads."""
    return {
        "ops": names, "code": code, "verdict": verdict, "confidence": "high",
        "method": "registered", "text": text, "at": at,
    }  # fmt: skip


def left(chip: str, names: list[str], text: str, at: list[str]) -> dict[str, Any]:
    """What a chip's partitioner leaves to the portable kernels."""
    found = told(names, "left-to-portable-kernels", "fallback", text, at)
    return {**found, "chips": [chip]}


def left_by_facts(chip: str, facts: Facts, operators: Listed) -> Iterator[dict[str, Any]]:
    """A condition for each case of the facts that were read in a partitioner's code."""
    for fact in facts:
        for tests in fact.get("cases", [[]]):
            names = [name for name in fact["ops"] if name in operators]
            found = left(chip, names, fact["text"], fact["at"])
            said = {**found, "code": fact.get("code", found["code"])}
            yield said | ({"tests": tests} if tests else {})


def argument_of(name: str, known: Functions) -> str:
    """The tensor of a call whose dtype was noted."""
    return "self" if name == "aten::where.self" else converters.argument_of(name, known)
