"""Conditions that a curated file of facts states, as one release's file writes them.

A fact names its operators, code, verdict and text, and ``seen``: by file, the line of each release
that says so. A release that is not named does not say it. ``cases`` are alternatives, each a list
of tests of which all must bite; ``tests`` is the only one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

Fact = Mapping[str, Any]


def conditions(
    facts: Iterable[Fact], release: str, source: str, listed: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Conditions of one release, whose ``source`` id stands for the commit of the cited files."""
    for fact in facts:
        if cited := citation(fact["seen"], release, source):
            yield from cases(fact, listed, [cited])


def citation(seen: Mapping[str, Mapping[str, int]], release: str, source: str) -> str:
    """Where a release says something: ``source:path:line``; "" where it does not."""
    found = ((path, lines[release]) for path, lines in seen.items() if release in lines)
    return next((f"{source}:{path}:{line}" for path, line in found), "")


def cases(fact: Fact, listed: Collection[str], at: list[str]) -> Iterator[dict[str, Any]]:
    """A condition for each case of a fact, about those of its operators that are listed."""
    ops = [op for op in fact["ops"] if op == "*" or op in listed]
    for tests in fact.get("cases", [fact.get("tests", [])]) if ops else ():
        condition = {
            "ops": ops,
            "code": fact["code"],
            "verdict": fact["verdict"],
            "confidence": fact.get("confidence", "high"),
            "method": fact.get("method", "registered"),
            "text": fact["text"],
            "at": at,
        }
        condition |= {"chips": fact["chips"]} if "chips" in fact else {}
        yield condition | ({"tests": tests} if tests else {})


def for_every_form(
    conditions: Iterable[dict[str, Any]], served: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """The conditions, each for the overloads too that one of its operators serves."""
    forms: dict[str, list[str]] = {}
    for op, by in served.items():
        forms.setdefault(by, []).append(op)
    for condition in conditions:
        ops = [form for op in condition["ops"] for form in (op, *forms.get(op, ()))]
        yield {**condition, "ops": ops}
