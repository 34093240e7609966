"""What is advised where Python asks a tensor for a number."""

import pytest

from opcheck.rewrite.listing import described
from opcheck.rewrite.structural.lines import Site
from opcheck.rewrite.structural.suggest import PAGES, advised
from tests.rewrite.reasons import reads


@pytest.mark.parametrize(
    ("text", "line", "rule", "summary"),
    [
        ("if x.sum() > 0:\n    y = y + 1\nelse:\n    y = y - 1", 1, "branch-by-where",
         "Write y = torch.where(x.sum() > 0, y + 1, y - 1)"),
        ("if bool(c):\n    y += 1", 1, "branch-by-where", "Write y = torch.where(c, y + 1, y)"),
        ("y = a if c.item() else b", 1, "branch-by-where", "Write torch.where(c, a, b)"),
        ("if c:\n    y = self.big(x)\n    self.count += 1", 1, "branch-by-cond",
         "Put both branches into functions of the tensors that they take, and write "
         "torch.cond(c, if_true, if_false, operands)"),
        ("if c:\n    a = x\n    b = a + 1", 1, "branch-by-cond",
         "Put both branches into functions of the tensors that they take, and write "
         "torch.cond(c, if_true, if_false, operands)"),
        ("while e > 1:\n    e = f(e)", 1, "loop-of-fixed-length",
         "Make a fixed number of turns, as many as are ever needed, and keep by torch.where what "
         "was there once e > 1 does not hold"),
        ("assert x.min() > 0", 1, "check-outside",
         "Check x.min() > 0 before the model is called, or leave it out: torch._assert_async "
         "where it must stay"),
    ],
)  # fmt: skip
def test_a_branch_becomes_what_tensors_can_do(
    text: str, line: int, rule: str, summary: str
) -> None:
    way = advised("aten::is_nonzero", Site("model.py", line, text))
    assert (way.rule, way.summary) == (rule, summary)
    assert way.is_advice
    assert way.gives_up


@pytest.mark.parametrize("text", ["n = int(x.sum())", "", "not python ("])
def test_a_number_stays_a_tensor_or_a_size_with_a_bound(text: str) -> None:
    assert advised("aten::item", Site("model.py", 1, text)).rule == "number-stays-a-tensor"


NAMES = (*(page[0] for page in PAGES), "where-instead-of-mask", "fixed-size")


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_page(name: str) -> None:
    (page,) = described(name)
    assert (page.name, int(page.tier)) == (name, 3)
    assert page.gives_up


ADVICE = "it is advice: nothing was recorded or computed, and it counts for nothing"
SIZE = (
    "Leave it a tensor of no dimension and go on with tensors; where it is a size, choose an upper "
    "bound, or one of a few, pad to it and mask what is beyond"
)


@pytest.mark.parametrize(
    ("text", "costs"),
    [
        ("if c:\n    y += 1", "Both branches are computed"),
        ("if c:\n    a = x\n    b = a + 1",
         "Both branches give tensors of the same sizes and dtypes"),
        ("y = a if c.item() else b", "Both values are computed"),
        ("while e > 1:\n    e = f(e)", "Every turn is made, and their number is chosen"),
        ("assert x.min() > 0", "The check"),
        ("n = int(x.sum())",
         "What is padded is computed as well, and every size in use is compiled once"),
    ],
)  # fmt: skip
def test_advice_says_what_it_costs_and_that_it_is_no_proof(text: str, costs: str) -> None:
    way = advised("aten::is_nonzero", Site("model.py", 1, text))
    reads(way.gives_up, costs)
    reads(way.unmeasured, ADVICE)


def test_where_no_branch_is_found_a_tensor_or_a_bound_is_advised() -> None:
    reads(advised("aten::item", Site("model.py", 1, "n = int(x.sum())")).summary, SIZE)
