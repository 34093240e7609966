"""Sizes in an exported graph become numbers, and say where the numbers are from."""

import pytest

from opcheck.source.pt2.symbols import Sizes

U0 = "Symbol('u0', integer=True)"
S1 = "Symbol('s1', positive=True, integer=True)"


def open_size(text: str, hint: int | None = None) -> dict[str, object]:
    return {"as_expr": {"expr_str": text, "hint": None if hint is None else {"as_int": hint}}}


def test_a_hint_is_taken() -> None:
    sizes = Sizes({})
    assert sizes.resolve(open_size(S1, 6)) == 6
    assert sizes.resolve(open_size(f"Mul(Integer(2), {S1})", 12)) == 12
    assert (sizes.exported, sizes.assumed) == ({"s1": 6}, {})


def test_a_bare_hint_of_old_schemas_is_taken() -> None:
    assert Sizes({}).resolve({"as_expr": {"expr_str": "s0", "hint": 5}}) == 5


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (U0, 2),
        ("u0 + 1", 3),
        (f"Add(Integer(-1), Mul(Integer(4), {U0}))", 7),
        (f"Max(Integer(1), {U0})", 2),
        (f"FloorDiv(Add({U0}, Integer(3)), Integer(2))", 2),
        (f"Pow({U0}, Integer(3))", 8),
        (f"ModularIndexing({U0}, Integer(1), Integer(2))", 0),
        ("-u0", 0),
    ],
)
def test_a_size_that_depends_on_data_is_computed_from_an_assumption(text: str, number: int) -> None:
    sizes = Sizes({})
    assert sizes.resolve(open_size(text)) == number
    assert sizes.assumed == {"u0": 2}
    assert sizes.depends_on_data(open_size(text))


@pytest.mark.parametrize(
    ("limits", "size"), [((0, None), 2), ((8, None), 8), ((0, 1), 1), ((None, None), 2)]
)
def test_an_assumption_respects_the_range(limits: tuple[int | None, int | None], size: int) -> None:
    assert Sizes({"u0": limits}).resolve(open_size(U0)) == size


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('false')",
        "open('x')",
        "Pow(Integer(9), Pow(Integer(9), Integer(9)))",
        "[].append(1)",
    ],
)
def test_nothing_but_arithmetic_is_computed(text: str) -> None:
    with pytest.raises(ValueError, match="a size is"):
        Sizes({}).resolve(open_size(text))
