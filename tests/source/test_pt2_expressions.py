"""The grammar of sizes takes what torch writes, with limits, and gives sympy nothing else."""

import pytest
import sympy  # type: ignore[import-untyped]  # it has none
from torch.utils._sympy import functions

from opcheck.source.pt2.expression_reader import DEEPEST, LONGEST, MOST_SIGNS, read
from opcheck.source.pt2.expressions import value, written

S0 = "Symbol('s0', positive=True, integer=True)"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("s0*s0", 36),
        ("-s0 + 2*s0**2 - -3", 69),
        ("(s0 - 1)//2 + 1", 3),
        ("2**3**2", 512),
        ("-2**2", -4),
        ("10 - 4 - 3", 3),
        ("s0 % 4", 2),
        (f"Add(Integer(-1), Mul(Integer(4), {S0}))", 23),
        (f"Mul(Rational(1, 2), {S0})", 3),
        (f"FloorDiv({S0}, Integer(4))", 1),
        (f"TruncToInt(Mul(Float('2.5', precision=53), ToFloat({S0})))", 15),
        (f"Max(Integer(1), {S0}, Pow({S0}, Integer(2)))", 36),
        ("CeilToInt(IntTrueDiv(s0, 4))", 2),
    ],
)
def test_a_size_is_computed_and_written_so_that_sympy_gives_the_same(
    text: str, number: int
) -> None:
    found = read(text)
    assert value(found, lambda _: 6) == number
    assert read(written(found)) == found
    names = {name: made for name, made in vars(functions).items() if isinstance(made, type)}
    by_sympy = sympy.sympify(written(found), locals=names)
    assert int(by_sympy.subs(dict.fromkeys(by_sympy.free_symbols, 6))) == number


@pytest.mark.parametrize(
    "text", ["u0 <= 3", "(s0 > 1) & ~(s1 < 3)", "Eq(Mod(s0, 8), 0)", "True", "Not(Eq(s0, 1))"]
)
def test_a_comparison_is_read_and_is_no_size(text: str) -> None:
    assert written(read(text))
    with pytest.raises(ValueError, match="a size is"):
        value(read(text), lambda _: 6)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "a", "s0 s1", "s0.real", "s0[0]", "s0()", "f(1)", "Add()", "Max(1", "'s0'", "1_0",
        "Symbol('__class__')", "Symbol(s0)", "Symbol('s0', evil=True)", "lambda: 1",
        "s0 if 1 else 2", "[1]", "{1}", "s0; s1", "@", "__import__('os')", "Float('nan')", "nan",
        "Ā0", "0x1", "1e999", "LShift(1, 999999999)", "Pow(-1, Rational(1, 2))", "Pow(0, -1)",
        "Mod(s0, Integer(0))",
        "s0/0", "Rational(1, 0)", "Pow(s0, 65)", "(9*s0)**64**2", "9"*20,
        "(" * DEEPEST + "(1)" + ")" * DEEPEST, "1" + "+1" * (MOST_SIGNS + 1), "1" * (LONGEST + 1),
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a size is"):
        read(text)


def test_the_deepest_expression_is_read() -> None:
    text = "(" * (DEEPEST - 1) + "s0" + ")" * (DEEPEST - 1)
    assert written(read(text)) == "s0"
    chain = "s0" + " + 1" * MOST_SIGNS
    assert value(read(chain), lambda _: 6) == 6 + MOST_SIGNS
