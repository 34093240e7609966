"""Conditions that curated files of facts state, and what kernels refuse through inner calls."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

Fact = Mapping[str, Any]


def conditions(
    facts: Iterable[Fact], release: str, source: str, listed: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Conditions of one release, whose ``source`` id stands for the commit of the cited files.

    ``at`` of a fact is a thread whose users saw what the cited code does.
    """
    for fact in facts:
        if cited := citation(fact["seen"], release, source):
            yield from cases(fact, listed, [*filter(None, (fact.get("at"), cited))])


def citation(seen: Mapping[str, Mapping[str, int]], release: str, source: str) -> str:
    """Where a release says something: ``source:path:line``; "" where it does not."""
    found = ((path, lines[release]) for path, lines in seen.items() if release in lines)
    return next((f"{source}:{path}:{line}" for path, line in found), "")


def cases(fact: Fact, listed: Collection[str], at: list[str]) -> Iterator[dict[str, Any]]:
    """A condition for each case of a fact, about those of its operators that are listed.

    ``composites`` says of a fact that they run in PyTorch's own code, so that no list has them.
    """
    ops = [op for op in fact["ops"] if op == "*" or op in listed or fact.get("composites")]
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


Call = Mapping[str, Any]
"""``ops`` that call the overload ``calls``; ``passes``: tensor argument there -> argument here, and
``options`` the same of the others."""


def passed_on(
    calls: Iterable[Call], conditions: Iterable[Mapping[str, Any]], listed: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The conditions of what is called, each for those that call it and are listed themselves.

    A condition on what the caller does not pass on is left out.
    """
    known = list(conditions)
    for call in calls:
        ops = [op for op in call["ops"] if op in listed]
        if ops and call["calls"] not in listed:
            raise DatabaseError(
                Sentence(
                    "{op} calls {called}, which has no kernel there",
                    op=ops[0],
                    called=call["calls"],
                ),
                Sentence("say in which releases it does: since, until"),
            )
        for condition in known if ops else ():
            if call["calls"] in condition["ops"]:
                for tests in _renamed(condition.get("tests", []), call):
                    yield {**_for_caller(condition, call), "ops": ops, "tests": tests}


def _for_caller(condition: Mapping[str, Any], call: Call) -> dict[str, Any]:
    text = f"it calls {call['calls']}: {condition['text']}"
    at = [*condition["at"], *(at for at in call["at"] if at not in condition["at"])]
    return {**condition, "text": text, "at": at}


def _renamed(tests: Iterable[Mapping[str, Any]], call: Call) -> Iterator[list[Any]]:
    """The tests on the caller's arguments; one list for each tensor that a ``*`` stands for."""
    anything = any(test["argument"] == "*" for test in tests)
    for every in sorted(set(call["passes"].values())) if anything else ("",):
        names = {**call["passes"], **call.get("options", {}), "*": every}
        if all(test["argument"] in names for test in tests):
            yield [{**test, "argument": names[test["argument"]]} for test in tests]
