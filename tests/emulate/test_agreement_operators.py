"""PyTorch's own samples of every operator: the prediction is what the dispatcher asks for."""

import re
from collections.abc import Mapping
from functools import cache
from itertools import takewhile

import pytest
import torch

from tests.emulate import agreement
from tests.emulate.agreement import (
    AUTOCAST,
    AUTOCAST_SHARE,
    CONDITIONS,
    ELSEWHERE,
    KNOWN,
    NEWEST,
    OPERATOR_SHARE,
    REFUSED,
    SHARES,
    TARGETS,
    UNDER_AUTOCAST,
    Answer,
    Job,
    Operators,
    autocast_choice,
    choice_of,
    compared,
    conditions_choice,
    described,
)
from tests.emulate.agreement_document import (
    AUTOCAST_HEAD,
    OPERATORS_HEAD,
    PATH,
    autocast_columns,
    autocast_row,
    line,
    operators_row,
    page,
    refused_rows,
    whole,
)
from tests.emulate.agreement_side import Outcome
from tests.emulate.operator_samples import operator_names
from tests.whole import WHOLE

LEAST_OPERATORS = 660
LEAST_CAST = 600
"""Of them, those with a dtype that autocast casts."""
LEAST_CASES = 24_000
LEAST_REFUSALS = 1
"""Calls that conditions refuse on both sides: where none does, nothing was compared."""


def check(found: Operators, share: int = 1) -> None:
    left = {case: both for case, both in found.differ.items() if not _known(case)}
    assert not left, described(left)
    assert found.operators >= LEAST_OPERATORS // share
    assert found.agree + sum(found.refused.values()) + len(found.differ) == found.cases


def _known(case: str) -> str:
    return next((cause for pattern, cause in KNOWN.items() if re.fullmatch(pattern, case)), "")


@cache
def jobs() -> Mapping[tuple[str, str], Job]:
    """What the tests below compare, by kind and by what tells them apart."""
    return {
        **{("operators", target): (target, choice_of(target)) for target in SHARES},
        **{("conditions", target): (target, conditions_choice(target)) for target in CONDITIONS},
        **{
            ("autocast", str(number)): (
                target, {**autocast_choice(number), "conditions": not WHOLE},
            )
            for number, (target, _) in enumerate(AUTOCAST)
        },
        ("autocast", "half"): (
            NEWEST,
            {
                "operators": ["pinverse", "linalg_pinv"], "dtypes": ["float32"],
                "autocast": "bfloat16",
            },
        ),
        ("conditions", "plain tensors"): (
            "cambricon-mlu370",
            {
                "dtypes": ["float32"], "first": 1,
                "operators": ["linalg_svdvals", "linalg_eigvals"], "conditions": True,
            },
        ),
    }  # fmt: skip


def both_sides(kind: str, which: str) -> tuple[Answer, Answer]:
    """What is predicted of a job, and what is asked."""
    target, _ = jobs()[kind, which]
    return _all_of(target.partition("-")[0])[kind, which]


@cache
def _all_of(vendor: str) -> Mapping[tuple[str, str], tuple[Answer, Answer]]:
    """Every job of a vendor in one process a side: to load PyTorch takes longer than most."""
    of_it = {name: job for name, job in jobs().items() if job[0].startswith(f"{vendor}-")}
    predicted, asked = agreement.sides(("predicted", "asked"), [*of_it.values()])
    return dict(zip(of_it, zip(predicted, asked, strict=True), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(AUTOCAST)))
def test_autocast_casts_the_same_inside_composites(number: int) -> None:
    found = compared(*both_sides("autocast", str(number)))
    assert not found.differ, described(found.differ)
    assert found.operators >= LEAST_CAST // (1 if WHOLE else AUTOCAST_SHARE)
    assert found.agree > 0.9 * found.cases
    if WHOLE:
        assert autocast_row(number, found) in PATH.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_autocast_to_half_that_pytorch_itself_cannot_differentiate() -> None:
    found = compared(*both_sides("autocast", "half"))
    assert not found.differ, described(found.differ)
    assert list(found.refused.values()) == [5]


def test_that_refusal_is_of_the_host_too() -> None:
    matrix = torch.randn(5, 5, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        inverse = torch.linalg.pinv(matrix)
    assert inverse.dtype == torch.bfloat16
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        inverse.sum().backward()


@pytest.mark.slow
@pytest.mark.parametrize("target", CONDITIONS)
def test_what_conditions_refuse_of_the_first_sample_of_every_operator(target: str) -> None:
    found = compared(*both_sides("conditions", target))
    check(found, share=1 if WHOLE else len(CONDITIONS))
    assert found.by_condition >= LEAST_REFUSALS


@pytest.mark.slow
def test_a_condition_on_what_only_plain_tensors_ask_for() -> None:
    """C++ asks for no singular vectors where nothing needs them, which torch_mlu refuses."""
    predicted, asked = both_sides("conditions", "plain tensors")
    assert predicted == asked
    values = predicted["linalg_svdvals float32 0 forward"]
    eigen = predicted["linalg_eigvals float32 0 forward"]
    assert values["refused"] == ["aten::_linalg_svd"]
    assert eigen["missing"] == {"forward aten::_linalg_eigvals": 1}


@pytest.mark.slow
@pytest.mark.parametrize("target", SHARES)
def test_operators_agree(target: str) -> None:
    found = compared(*both_sides("operators", target))
    check(found, share=1 if WHOLE else OPERATOR_SHARE)
    if not WHOLE:
        return
    assert found.cases >= LEAST_CASES
    assert operators_row(target, found) in PATH.read_text(encoding="utf-8").splitlines()
    if target == NEWEST:
        never = {refused.cause for refused in REFUSED} - set(found.refused)
        assert not never, f"nothing is refused any more because {never}"
        stale = [p for p in KNOWN if not any(re.fullmatch(p, case) for case in found.differ)]
        assert not stale, f"these agree now: {stale}"


def test_every_operator_is_run_for_one_target() -> None:
    """And for one more, where what conditions refuse is compared."""
    for targets, choice in ((SHARES, choice_of), (CONDITIONS, conditions_choice)):
        shares = [choice(target).get("operators", operator_names()) for target in targets]
        assert {name for share in shares for name in share} == set(operator_names())


# --- the page ------------------------------------------------------------------------------------


def _rows(*head: str) -> list[list[str]]:
    """The cells below the first table of the page that has such a head."""
    lines = PATH.read_text("utf-8").splitlines()
    rows = takewhile(lambda row: row.startswith("|"), lines[lines.index(line(head)) + 2 :])
    return [row.strip("| ").split(" | ") for row in rows]


def test_the_page_has_every_sample_of_every_target() -> None:
    rows = _rows(*OPERATORS_HEAD)
    assert [row[0] for row in rows] == [f"`{whole(target)}`" for target in TARGETS]
    assert len({tuple(row[1:4]) for row in rows}) == 1, "not all of them ran the same samples"
    for row in rows:
        ran, agree, refused, differ = (int(cell.replace(",", "")) for cell in row[3:7])
        assert (ran, differ) == (agree + refused, 0)


def test_the_page_gives_every_reason_for_refusing() -> None:
    rows = _rows("why", *(f"`{whole(target)}`" for target in TARGETS))
    assert {row[0] for row in rows} == {refused.cause for refused in (*REFUSED, *ELSEWHERE)}


def test_the_page_shows_the_runs_under_autocast() -> None:
    (first, *others) = [
        Operators(4, 2, 1, 3, 0, {UNDER_AUTOCAST[0].cause: 1}, {}) for _ in range(len(AUTOCAST))
    ]
    plain = dict.fromkeys(TARGETS, first)
    models = {NEWEST: {"vision-resnet inference": {"error": "", "differ": []}}}
    lines = page(plain, [first, *others], models).splitlines()
    assert line(AUTOCAST_HEAD) in lines
    assert autocast_row(0, first) in lines
    assert "| `cambricon-mlu590@r2.4_develop` | `float16` | 2 | 4 | 3 | 1 | 0 |" in lines
    assert line(("why", *autocast_columns())) in lines
    assert line((UNDER_AUTOCAST[0].cause, *(1 for _ in AUTOCAST))) in lines


def test_reasons_are_counted_by_target() -> None:
    def found(**refused: int) -> Operators:
        return Operators(9, 1, 1, 0, 0, refused, {})

    rows = refused_rows({"one": found(b=2), "two": found(a=1, b=3)})
    assert rows == [("a", 0, 1), ("b", 2, 3)]


# --- the comparison itself -----------------------------------------------------------------------

ADD = {"native": {"forward aten::add.Tensor": 2}, "missing": {}}
REFUSAL = {"raised": "AssertionError: Jiterator is only supported on CUDA and ROCm GPUs, none."}


@pytest.mark.parametrize(
    "asked",
    [
        {"native": {"forward aten::add.Tensor": 1}, "missing": {}},
        {"native": {"backward aten::add.Tensor": 2}, "missing": {}},
        {"native": {}, "missing": {"forward aten::add.Tensor": 2}},
        {"native": {"forward aten::add.Tensor": 2, "forward aten::t": 1}, "missing": {}},
        REFUSAL,
    ],
    ids=["count", "phase", "missing", "another", "refused by one"],
)
def test_anything_other_is_a_disagreement(asked: Outcome) -> None:
    case = "jiterator_unary float32 0 forward"
    found = compared({case: ADD}, {case: asked})
    assert (found.agree, found.refused, list(found.differ)) == (0, {}, [case])
    assert case in described(found.differ)


def test_a_condition_that_only_one_side_meets_is_a_disagreement() -> None:
    refused, runs = ({**ADD, "refused": ops} for ops in (["aten::add.Tensor"], []))
    found = compared({"add float32 0 forward": refused}, {"add float32 0 forward": runs})
    assert (found.agree, found.by_condition) == (0, 1)
    assert "refused aten::add.Tensor: predicted 1, asked 0" in described(found.differ)


def test_a_refusal_of_both_has_a_cause_or_is_a_disagreement() -> None:
    named, other = "jiterator_unary float32 0 forward", "add float32 0 forward"
    answers = {named: REFUSAL, other: REFUSAL}
    found = compared(answers, answers)
    assert found.refused == {"compiles for CUDA and ROCm alone": 1}
    assert list(found.differ) == [other]


def test_sides_that_ran_other_cases_are_not_compared() -> None:
    with pytest.raises(AssertionError, match="the same cases"):
        compared({"add float32 0 forward": ADD}, {})


@pytest.mark.slow
def test_a_process_that_ends_tells_where() -> None:
    choice = {"operators": ["neg"], "dtypes": ["float32"], "first": 1}
    with pytest.raises(AssertionError, match=r"ended with 1 at 'neg float32 0 backward'"):
        agreement.sides(["predicted"], [(NEWEST, choice), ("ascend-none", choice)])
