"""Which suggestions of a plan are followed, and what is said to be left."""

from msgspec.structs import replace

from opcheck.commands.fix.suggestions import Chosen, choose, choose_by_place
from opcheck.lang.speech import tell
from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.model.report import Report
from opcheck.model.verdict import Verdict
from tests.views.samples import finding, place, report, target

OP = "aten::scaled_dot_product_attention"
ADVICE = Suggestion(
    "attention-by-an-option", Tier.SWAP, Label.TOLERANCE, OP, "Set an option",
    by_hand=True, places=(0,),
)  # fmt: skip
INSIDE = Suggestion(
    "float16-instead-of-float32", Tier.STRUCTURAL, Label.TOLERANCE, "aten::matmul", "In float16",
    code="def matmul(self, other): ...", function="matmul", places=(0,),
)  # fmt: skip


def planned(*ways: Suggestion) -> Report:
    """A plan with one call of attention that its target refuses."""
    use = place("model.py", 3, "attention")
    found = finding(OP, Verdict.UNSUPPORTED, "dtype-not-supported", "self is float32", use)
    return report(target("310b", (replace(found, suggestions=ways),)))


def told(chosen: Chosen) -> list[tuple[str, str]]:
    return [(left.replaces, tell(left.reason)) for left in chosen.left]


def test_advice_beside_a_fix_of_what_is_inside_leaves_nothing() -> None:
    """The call runs once its product does, whether or not anyone takes the advice."""
    plan = planned(ADVICE, INSIDE)
    assert choose(plan, Label.APPROXIMATE) == Chosen(((OP, INSIDE),), ())
    by_place = choose_by_place(plan, Label.APPROXIMATE, bool)
    assert [(one.op, one.way) for one in by_place.ways] == [(OP, INSIDE)]
    assert by_place.left == ()


def test_advice_alone_is_left_to_the_user() -> None:
    chosen = choose(planned(ADVICE), Label.APPROXIMATE)
    said = "attention-by-an-option changes more than the call, so it is left to you"
    assert (chosen.ways, told(chosen)) == ((), [(OP, said)])
