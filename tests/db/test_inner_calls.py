"""What a kernel refuses because one that it calls does."""

from typing import Any

import pytest

from opcheck.db.importers.shared.facts import passed_on
from opcheck.errors import DatabaseError

LISTED = ("aten::det", "aten::lu")
CALL = {
    "ops": ["aten::det", "aten::absent"],
    "calls": "aten::lu",
    "passes": {"M": "A"},
    "at": ["a"],
}


def condition(*tests: dict[str, Any], op: str = "aten::lu") -> dict[str, Any]:
    return {"ops": [op, "aten::lu.out"], "text": "no {actual}", "at": ["b"], "tests": list(tests)}


def dtype(argument: str) -> dict[str, Any]:
    return {"subject": "dtype", "argument": argument, "one_of": ["complex64"]}


def test_a_condition_of_what_is_called_holds_for_the_argument_that_is_passed_on() -> None:
    (found,) = passed_on([CALL], [condition(dtype("M"))], LISTED)
    assert found == {
        "ops": ["aten::det"],
        "text": "it calls aten::lu: no {actual}",
        "at": ["b", "a"],
        "tests": [dtype("A")],
    }


def test_a_condition_on_any_argument_holds_for_each_that_is_passed_on() -> None:
    call = {**CALL, "passes": {"M": "A", "N": "B"}, "options": {"p": "p"}}
    found = passed_on([call], [condition(dtype("*"))], LISTED)
    assert [one["tests"] for one in found] == [[dtype("A")], [dtype("B")]]


def test_an_option_is_looked_at_by_its_name() -> None:
    value = {"subject": "value", "argument": "pivot", "one_of": ["False"]}
    call = {**CALL, "options": {"pivot": "q"}}
    (found,) = passed_on([call], [condition(value, dtype("M"))], LISTED)
    assert found["tests"] == [{**value, "argument": "q"}, dtype("A")]


@pytest.mark.parametrize("argument", ["N", "return"])
def test_what_is_not_passed_on_is_left_out(argument: str) -> None:
    assert not list(passed_on([CALL], [condition(dtype("M"), dtype(argument))], LISTED))


def test_conditions_of_other_overloads_stay_theirs() -> None:
    assert not list(passed_on([CALL], [condition(dtype("M"), op="aten::qr")], LISTED))


def test_a_call_of_what_has_no_kernel_is_a_mistake_of_the_table() -> None:
    with pytest.raises(DatabaseError, match="aten::det calls aten::lu, which has no kernel"):
        list(passed_on([CALL], [], ("aten::det",)))
    assert not list(passed_on([CALL], [], ()))
