"""Every name that a plan gives to a suggestion has a page."""

import pytest

from opcheck.errors import UsageError
from opcheck.model.plan import Tier
from opcheck.rewrite.candidates import candidates
from opcheck.rewrite.custom.suggest import RULE
from opcheck.rewrite.listing import described
from tests.rewrite.reasons import reads


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


PAGES = (
    ("custom-operator",
     "Build a kernel of your own, from a project that opcheck fix --custom-op writes",
     "A kernel to build and to maintain"),
    ("pytorch-decomposition", "Use PyTorch's own decomposition of an overload", ""),
    ("optimizer-without-fused", "Make the optimizer without fused=True", ""),
    ("where-instead-of-mask",
     "Compute every element, and choose by where those that the mask names",
     "Every element is computed, also those that the mask leaves out"),
    ("fixed-size", "Choose a size, and mark which results are there",
     "A size has to be chosen, and what comes after has to heed the marks"),
    ("branch-by-where", "Compute both values, and choose between them by torch.where",
     "Both branches are computed"),
    ("branch-by-cond", "Put the branches into functions, and call torch.cond",
     "Both branches give tensors of the same sizes and dtypes"),
    ("loop-of-fixed-length",
     "Make a fixed number of turns, and keep what was there once the loop would have ended",
     "Every turn is made, and their number is chosen"),
    ("check-outside", "Check values before the model is called", "The check"),
    ("number-stays-a-tensor", "Keep a tensor of no dimension, and give sizes an upper bound",
     "What is padded is computed as well, and every size in use is compiled once"),
    ("complex-as-parts", "Compute complex tensors on their real and imaginary parts",
     "Complex tensors, those that the model takes, keeps or returns too"),
    ("float32-instead-of-float64", "Compute one overload in float32 instead of float64",
     "All digits of float64 beyond the seventh"),
    ("float16-instead-of-float32", "Compute one overload in float16 instead of float32",
     "All digits of float32 beyond the third, and numbers beyond 65,504"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "summary", "gives_up"), PAGES)
def test_a_page_says_what_to_do_and_what_it_costs(name: str, summary: str, gives_up: str) -> None:
    (page,) = described(name)
    reads(page.summary, summary)
    if gives_up:
        reads(page.gives_up, gives_up)
    else:
        assert page.gives_up == ""
