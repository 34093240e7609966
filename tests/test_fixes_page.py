"""The page of suggestions says what was found, and a model that is fixed is really fixed."""

import pytest
from msgspec.structs import replace

from benchmarks.fixes_page import Tally, page
from benchmarks.zoo_fixes import Outcome, fixed, outcome
from opcheck.commands.fix.values import Left
from opcheck.model.plan import Compared
from tests.views.fixes import FIXES
from tests.zoo import ZOO

ONE, TWO = "vendor-a@1.0+torch2.1", "vendor-b@2.0+torch2.9"
TALLIES = {
    ONE: Tally({"aten::roll": [2, 0], "aten::sort": [1, 2]}, 3, ["bert", "sam"], 2),
    TWO: Tally({"aten::sort": [0, 1]}, 3, ["bert"], 3),
}
NEAR = Compared(1, "output", "float32", 1e-7, 4e-7)
OUTCOMES = [
    Outcome("sam", ONE, "", whole=False, why=("`aten::sort`: nothing was found",)),
    Outcome("bert", ONE, "tolerance", True, NEAR, Compared(2), newer=("aten::new",)),
    Outcome("bert", TWO, "tolerance", True, NEAR, Compared(2)),
]


def test_the_page_tells_models_today_planned_and_fixed() -> None:
    text = page(TALLIES, OUTCOMES, "2.9.9")
    head, heading, rest = text.partition("| target | missing")
    assert head.startswith("# Fixes\n")
    models, between, each = rest.partition("### Each model")
    assert (
        heading + models.replace(models[models.index("Of 3 models") : models.index("| target")], "")
        == """\
| target | missing overloads | all calls have one | some | share |
| --- | ---: | ---: | ---: | ---: |
| vendor-a@1.0+torch2.1 | 2 | 1 | 1 | 50.0% |
| vendor-b@2.0+torch2.9 | 1 | 0 | 0 | 0.0% |

## Models

| target | today | planned | fixed and run |
| --- | ---: | ---: | ---: |
| vendor-a@1.0+torch2.1 | 1 | 2 | 2 |
| vendor-b@2.0+torch2.9 | 2 | 3 | 3 |

"""
    )
    assert between
    assert (
        each[each.index("| model") :]
        == """\
| model | on | followed | wholly there once fixed | results | gradients |
| --- | --- | --- | --- | --- | --- |
| bert | vendor-a@1.0, vendor-b@2.0 | tolerance | yes | 1.0e-07 of 4.0e-07 | equal |
| sam | vendor-a@1.0 |  | no: `aten::sort`: nothing was found | not compared | not compared |

Torch 2.9.9, which they ran with, asks on some for what the target's own does not: `aten::new`.

## Without a fix

| overload | on |
| --- | --- |
| `aten::sort` | all |
"""
    )


def test_a_model_is_whole_where_the_proof_holds_and_nothing_remains() -> None:
    proved = FIXES["proved"]
    assert proved.proof is not None
    all_there = replace(proved, left=(), proof=replace(proved.proof, remaining=()))
    assert outcome("bert", all_there).whole
    stays = replace(proved.proof, remaining=("aten::sort",))
    made = outcome("bert", replace(proved, left=(), proof=stays))
    assert (made.whole, made.why) == (False, ("`aten::sort` is still asked for",))
    wrong = replace(proved.proof, remaining=(), holds=False)
    made = outcome("bert", replace(proved, left=(), proof=wrong))
    assert (made.whole, made.why) == (False, ("the proof does not hold",))


def test_what_could_not_be_changed_is_told() -> None:
    left = (Left("aten::sort", "aten::sort.stable", "nothing was found"),) * 2
    found = replace(FIXES["proved"], followed=(), left=left, proof=None, unproven="no matter")
    made = outcome("bert", found)
    assert (made.whole, made.allowed) == (False, "")
    assert made.why == ("`aten::sort.stable`: nothing was found",)


@pytest.mark.slow
def test_a_model_of_the_zoo_is_fixed_and_run() -> None:
    pytest.importorskip("transformers")
    assert "language-llama-generate" in ZOO
    made = fixed("language-llama-generate", "ascend-910b@5.0.0")
    assert (made.whole, made.allowed, made.why) == (True, "exact", ())
    assert made.forward is not None
    assert made.forward.difference == 0.0
