"""Every name that a plan gives to a suggestion has a page."""

import pytest

from opcheck.errors import UsageError
from opcheck.model.plan import Tier
from opcheck.rewrite.candidates import candidates
from opcheck.rewrite.custom.suggest import RULE
from opcheck.rewrite.listing import described


@pytest.mark.parametrize("op", ["aten::_softmax", "aten::roll", "aten::mul.Tensor", "aten::std"])
def test_what_a_plan_names_has_a_page(op: str) -> None:
    for candidate in candidates(op):
        (page,) = described(candidate.rule)
        assert page.name == candidate.rule
        assert page.tier is candidate.tier


def test_a_kernel_of_ones_own_has_a_page_that_names_the_command() -> None:
    (page,) = described(RULE)
    assert (page.name, page.tier, page.replaces) == (RULE, Tier.CUSTOM, ())
    assert "opcheck fix SOURCE -t TARGET --custom-op" in page.page
    assert "ascend-c, bang-c" in page.page


def test_a_decomposition_is_shown_as_it_is_called() -> None:
    (page,) = described("pytorch-decomposition(_softmax)")
    assert page.replaces == ("aten::_softmax",)
    assert "decomposition_table[torch.ops.aten._softmax.default]" in page.code


@pytest.mark.parametrize("name", ["pytorch-decomposition(nope)", "float32-instead-of-int8"])
def test_a_rule_that_there_is_not_has_no_page(name: str) -> None:
    with pytest.raises(UsageError, match="no rule is called"):
        described(name)
