"""Of several rules for an overload, which comes first."""

from opcheck.rewrite.candidates import candidates
from opcheck.rewrite.rules.pointwise.rounding import HeavisideByWhere


class Yours(HeavisideByWhere):
    name = "zz-yours"


def _names(*extra: HeavisideByWhere) -> list[str]:
    return [candidate.rule for candidate in candidates("aten::heaviside", extra)]


def test_of_equals_the_rule_that_the_user_brings_comes_first() -> None:
    first, second = _names(Yours())[:2]
    assert (first, second) == ("zz-yours", "heaviside-by-where")


def test_without_one_the_order_is_that_of_names() -> None:
    assert _names()[0] == "heaviside-by-where"
