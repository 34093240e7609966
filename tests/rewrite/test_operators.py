"""Operators of Python in a user's source, replaced by calls of functions."""

from typing import Any

import pytest
import torch

from opcheck.rewrite.source.changing import Form
from opcheck.rewrite.source.layers import forms_of
from opcheck.rewrite.source.swapping import Swap, Swapped, swapped
from tests.rewrite.reasons import reads

TWO = Form("def fn(a, b):\n    return a\n", "fn")
ONE = Form("def no(a):\n    return a\n", "no")
WRITING = Form(TWO.code, "fn", in_place=True)
NAMES = ("matmul", "pow", "floor_divide", "remainder", "bitwise_and", "bitwise_or", "bitwise_xor")
FORMS = {
    **{f"torch.{name}": TWO for name in NAMES},
    **{f"Tensor.{name}_": WRITING for name in NAMES},
    "torch.bitwise_not": ONE,
}


def swap(statement: str, line: int = 1) -> Swapped:
    return swapped(f"{statement}\n", [Swap(line, FORMS)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = a @ b", "y = fn(a, b)"),
        ("y = a@b  # a product", "y = fn(a, b)  # a product"),
        ("y = a @ b @ c", "y = fn(fn(a, b), c)"),
        ("y = x * (a @ b) + c", "y = x * fn(a, b) + c"),
        ("y = (a @ b.mT).sum()", "y = fn(a, b.mT).sum()"),
        ("y = (a + b) @ (c - d)", "y = fn(a + b, c - d)"),
        ("y = f(a @ b, -a)", "y = f(fn(a, b), -a)"),
        ("y = theta ** (2 * (i // 2) / n)", "y = fn(theta, 2 * fn(i, 2) / n)"),
        ("y = 10000 ** x", "y = fn(10000, x)"),
        ("y = x % 3", "y = fn(x, 3)"),
        ("m = a & b | c ^ d", "m = fn(fn(a, b), fn(c, d))"),
        ("m = ~a", "m = no(a)"),
        ("m = (~a).any()", "m = no(a).any()"),
        ("m = a & ~b", "m = fn(a, no(b))"),
        ("y = x[:, a @ b]", "y = x[:, fn(a, b)]"),
        ("y = [t @ w for t in (a @ b,)]", "y = [fn(t, w) for t in (fn(a, b),)]"),
        ("if(a & b).any(): pass", "if(fn(a, b)).any(): pass"),
        ("y = (\n    a\n    @ b\n)", "y = (\n    fn(a, b)\n)"),
        ("m &= a > b", "m.copy_(fn(m.clone(), a > b))"),
        ("self.m |= a; n = 1", "self.m.copy_(fn(self.m.clone(), a)); n = 1"),
    ],
)
def test_an_operator_becomes_a_call(before: str, after: str) -> None:
    found = swap(before, line=2 if "\n" in before else 1)
    assert found.left == {}
    assert found.text.endswith(f"\n\n{after}\n")


def test_an_operator_over_lines_is_found_by_each_of_them() -> None:
    text = "y = (a\n     @ b)\n"
    found = {swapped(text, [Swap(line, FORMS)]).text for line in (1, 2)}
    assert len(found) == 1
    assert found.pop().endswith("\ny = fn(a, b)\n")


@pytest.mark.parametrize(
    "before", ["y = 2 ** 3", "y = '%s' % x", "y = f'{x}' % y", "y = a * b", "y = -x", "y = not x"]
)
def test_numbers_and_texts_are_no_tensors(before: str) -> None:
    found = swap(before)
    assert found.text == f"{before}\n"
    assert set(found.left) == {0}


@pytest.mark.parametrize(
    "before", ["y = (a  # left\n     @ b)", "y = (  # both\n    a @ b)", "y = (a @  # of\n     b)"]
)
def test_a_comment_beside_an_operator_stays(before: str) -> None:
    line = 2 if "both" in before else 1
    found = swap(before, line)
    assert found.text == f"{before}\n"
    reads(found.left[0], f"torch.matmul on line {line} stays: a comment stands beside the operator")


def test_what_an_operator_writes_to_has_to_be_a_name() -> None:
    found = swap("m[0] &= a")
    reason = "what it writes to is no name, and would be computed twice"
    reads(found.left[0], f"Tensor.bitwise_and_ on line 1 stays: {reason}")


@pytest.mark.parametrize(
    ("rule", "statement"),
    [
        ("bits-of-truth-by-logic", "y = m & n"),
        ("bits-of-truth-by-logic", "y = i & 3"),
        ("bits-of-truth-by-logic", "y = m | n"),
        ("bits-of-truth-by-logic", "y = m ^ n"),
        ("bits-of-truth-by-logic", "y = ~m"),
        ("bits-of-truth-by-logic", "y = ~i"),
        ("bits-of-truth-by-logic", "y = m.clone(); y &= n"),
        ("pow-of-scalar-by-exp", "y = 100.0 ** x"),
        ("pow-of-scalar-by-filling", "y = x ** 2"),
        ("float16-after-scaling", "y = x.double() @ x.double()"),
    ],
)
def test_what_rules_put_in_place_of_operators_gives_the_same(rule: str, statement: str) -> None:
    text = f"import torch\n{statement}\n"
    found = swapped(text, [Swap(2, forms_of(rule))])
    assert found.left == {}
    values = [_run(source) for source in (text, found.text)]
    torch.testing.assert_close(*values)


def _run(source: str) -> Any:
    space: dict[str, Any] = {
        "m": torch.tensor([True, False, True]), "n": torch.tensor([True, True, False]),
        "i": torch.tensor([1, 2, 7]), "x": torch.tensor([[0.5, 1.5], [2.0, -1.0]]),
    }  # fmt: skip
    exec(source, space)
    return space["y"]
