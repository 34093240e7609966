"""Kernels that call other overloads: what those refuse, they refuse."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from opcheck.errors import DatabaseError

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
                f"{ops[0]} calls {call['calls']}, which has no kernel there",
                "say in which releases it does: since, until",
            )
        for condition in known if ops else ():
            if call["calls"] in condition["ops"]:
                for tests in _renamed(condition.get("tests", []), call):
                    yield {**_said(condition, call), "ops": ops, "tests": tests}


def _said(condition: Mapping[str, Any], call: Call) -> dict[str, Any]:
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
