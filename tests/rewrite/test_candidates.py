"""Of several rules for an overload, which comes first."""

import pytest
import torch
from torch import Tensor

from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import candidates, not_in_another
from opcheck.rewrite.rules.pointwise.rounding import HeavisideByWhere
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.reasons import reads


class Yours(HeavisideByWhere):
    name = "zz-yours"


def _names(*extra: HeavisideByWhere) -> list[str]:
    return [candidate.rule for candidate in candidates("aten::heaviside", extra)]


def test_of_equals_the_rule_that_the_user_brings_comes_first() -> None:
    first, second = _names(Yours())[:2]
    assert (first, second) == ("zz-yours", "heaviside-by-where")


def test_without_one_the_order_is_that_of_names() -> None:
    assert _names()[0] == "heaviside-by-where"


WIDE = torch.ones(3, dtype=torch.float64)


@pytest.mark.parametrize(
    ("op", "args", "reason"),
    [
        ("aten::mul.Tensor", (WIDE, torch.ones(3)), "its arguments are not of float64 alone"),
        ("aten::view", (WIDE, [3, 1]), "it moves values and computes none"),
        ("aten::clone", (WIDE,), "it moves values and computes none"),
        ("aten::bernoulli", (WIDE,), "it draws random numbers"),
    ],
)
def test_what_is_not_computed_in_float32_says_why(
    op: str, args: tuple[Tensor, ...], reason: str
) -> None:
    reads(not_in_another(Call(overload_named(op), args, {}), torch.float64), reason)


def test_fewer_digits_are_told_and_more_cost_none() -> None:
    (narrow,) = (c for c in candidates("aten::sin", (), {"float64"}) if "float32-" in c.rule)
    (wide,) = (c for c in candidates("aten::sin", (), {"float16"}) if "float32-" in c.rule)
    reads(narrow.gives_up, "All digits of float64 beyond the seventh")
    assert wide.gives_up == ""
