"""Numbers that a graph computes from sizes are those that the file says, or it is refused."""

from typing import Any

import pytest

from opcheck.source.pt2.arithmetic import check_computed, stated

ROWS: dict[str, Any] = {"as_sym_int": {"as_name": "rows"}}
KNOWN = {"rows": 6, "result": 12}


def whole(number: int) -> dict[str, Any]:
    return {"as_int": number}


@pytest.mark.parametrize(
    ("target", "inputs", "why"),
    [
        ("_operator.mul", [ROWS, whole(2)], ""),
        ("_operator.add", [ROWS, ROWS], ""),
        ("_operator.mul", [{"as_sym_int": {"as_name": "u0"}}, whole(3)], ""),
        ("_operator.truediv", [ROWS, whole(5)], ""),  # no whole number; not looked at
        ("_operator.truediv", [ROWS, whole(0)], "it divides by zero"),
        ("math.sqrt", [ROWS], ""),
        ("math.sqrt", [whole(-1000)], "it takes the root of -1000"),
        ("torch._sym_sqrt", [whole(-1)], "it takes the root of -1"),
        ("_operator.lshift", [ROWS, whole(-1)], "it shifts by -1"),
        ("_operator.mul", [ROWS, whole(3)], "it computes 18, where the file says 12"),
        ("_operator.sub", [ROWS, whole(1000)], "it computes -994, where the file says 12"),
        ("_operator.mod", [ROWS, whole(0)], "it divides by zero"),
        ("_operator.floordiv", [{"as_sym_int": {"as_name": "u0"}}, whole(0)], "it divides by zero"),
        ("_operator.mul", [ROWS], "_operator.mul takes 2 numbers, and gets 1"),
        ("_operator.mul", [ROWS, whole(2**62)], "it computes a number of more than 64 bits"),
        ("_operator.pow", [ROWS, whole(10**9)], "it raises a number to the power of 1000000000"),
    ],
)
def test_what_is_computed_is_what_the_file_says(
    target: str, inputs: list[dict[str, Any]], why: str
) -> None:
    if not why:
        check_computed(target, inputs, "result", KNOWN)
        return
    with pytest.raises(ValueError, match=f"^{why}$"):
        check_computed(target, inputs, "result", KNOWN)


def test_numbers_at_export_are_hints() -> None:
    graph = {
        "sym_int_values": {
            "a": {"as_expr": {"expr_str": "s0", "hint": {"as_int": 4}}},
            "b": {"as_expr": {"expr_str": "u0", "hint": None}},
            "c": {"as_int": 3},
        }
    }
    assert stated(graph) == {"a": 4, "c": 3}
    assert stated({}) == {}
