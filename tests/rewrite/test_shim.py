"""What a shim leaves out."""

from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.rewrite.shim import shim
from tests.resolve.made import NONE, matrix
from tests.rewrite.reasons import reads


def test_a_suggestion_without_code_is_no_kernel() -> None:
    way = Suggestion("made-on-the-device", Tier.SWAP, Label.EXACT, "aten::mul.Tensor", "Make it")
    made = shim(matrix("aten::ones", fallback=NONE), [way])
    assert (made.text, made.registered) == ("", ())
    (skipped,) = made.skipped
    assert skipped.suggestion == way
    reads(skipped.reason, "it is nothing that code could stand for")
