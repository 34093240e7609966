"""PyTorch's own samples of every operator: the prediction is what the dispatcher asks for."""

import re

import pytest

from tests.emulate import agreement
from tests.emulate.agreement import (
    CONDITIONS,
    ELSEWHERE,
    KNOWN,
    NEWEST,
    OPERATOR_SHARE,
    REFUSED,
    SHARES,
    TARGETS,
    Operators,
    choice_of,
    compared,
    described,
    operators,
)
from tests.emulate.agreement_document import (
    OPERATORS_HEAD,
    PATH,
    operators_row,
    refused_rows,
    whole,
)
from tests.emulate.agreement_side import Outcome
from tests.emulate.operator_samples import operator_names
from tests.whole import WHOLE

LEAST_OPERATORS = 670
LEAST_CASES = 24_000
LEAST_REFUSALS = 1
"""Calls that conditions refuse on both sides: where none does, nothing was compared."""
SOME = 8
"""One operator in so many is taken in a quick loop."""


def check(found: Operators, share: int = 1) -> None:
    left = {case: both for case, both in found.differ.items() if not _known(case)}
    assert not left, described(left)
    assert found.operators >= LEAST_OPERATORS // share
    assert found.agree + sum(found.refused.values()) + len(found.differ) == found.cases


def _known(case: str) -> str:
    return next((cause for pattern, cause in KNOWN.items() if re.fullmatch(pattern, case)), "")


def test_the_first_sample_of_some_operators() -> None:
    some = operator_names()[::SOME]
    choice = {"dtypes": ["float32"], "first": 1, "operators": some, "conditions": True}
    (found,) = operators([NEWEST], **choice).values()
    check(found, share=SOME)


AUTOCAST = (
    ("ascend-910b", "bfloat16"), ("cambricon-mlu590", "float16"), ("moorethreads-s5000", "bfloat16")
)  # fmt: skip
"""Targets with lists of their own for autocast, and one with PyTorch's; each half type."""


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(AUTOCAST)))
def test_autocast_casts_the_same_inside_composites(number: int) -> None:
    target, dtype = AUTOCAST[number]
    some = operator_names()[number :: 2 * len(AUTOCAST)]
    choice = {"dtypes": ["float32"], "first": 1, "operators": some, "conditions": True}
    (plain,) = operators([target], **choice).values()
    (found,) = operators([target], **choice, autocast=dtype).values()
    assert not found.differ, described(found.differ)
    assert found.cases == plain.cases >= LEAST_OPERATORS // (2 * len(AUTOCAST))
    assert found.agree > 0.9 * found.cases


@pytest.mark.slow
@pytest.mark.parametrize("target", CONDITIONS)
def test_what_conditions_refuse_of_the_first_sample_of_every_operator(target: str) -> None:
    (found,) = operators([target], dtypes=["float32"], first=1, conditions=True).values()
    check(found)
    assert found.by_condition >= LEAST_REFUSALS


def test_a_condition_on_what_only_plain_tensors_ask_for() -> None:
    """C++ asks for no singular vectors where nothing needs them, which torch_mlu refuses."""
    names = ["linalg_svdvals", "linalg_eigvals"]
    choice = {"dtypes": ["float32"], "first": 1, "operators": names, "conditions": True}
    predicted, asked = agreement.sides(("predicted", "asked"), ["cambricon-mlu370"], choice)
    assert predicted == asked
    (answer,) = predicted.values()
    values, eigen = (answer[f"{name} float32 0 forward"] for name in names)
    assert values["refused"] == ["aten::_linalg_svd"]
    assert eigen["missing"] == {"forward aten::_linalg_eigvals": 1}


@pytest.mark.slow
def test_every_operator_and_dtype() -> None:
    (found,) = operators([NEWEST]).values()
    check(found)
    assert found.cases >= LEAST_CASES
    never = {refused.cause for refused in REFUSED} - set(found.refused)
    assert not never, f"nothing is refused any more because {never}"
    stale = [p for p in KNOWN if not any(re.fullmatch(p, case) for case in found.differ)]
    assert not stale, f"these agree now: {stale}"
    assert operators_row(NEWEST, found) in PATH.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("target", SHARES)
def test_another_release_chip_or_vendor(target: str) -> None:
    (found,) = operators([target], **choice_of(target)).values()
    check(found, share=1 if WHOLE else OPERATOR_SHARE)
    if WHOLE:
        assert operators_row(target, found) in PATH.read_text(encoding="utf-8").splitlines()


def test_every_operator_is_run_for_more_than_the_newest() -> None:
    shares = [choice_of(target).get("operators", operator_names()) for target in SHARES]
    assert {name for share in shares for name in share} == set(operator_names())


# --- the page ------------------------------------------------------------------------------------


def _rows(columns: int) -> list[list[str]]:
    rows = [line.strip("| ").split(" | ") for line in PATH.read_text("utf-8").splitlines()]
    return [row for row in rows if len(row) == columns]


def test_the_page_has_every_sample_of_every_target() -> None:
    head, _, *rows = _rows(len(OPERATORS_HEAD))
    assert head == list(OPERATORS_HEAD)
    assert [row[0] for row in rows] == [f"`{whole(target)}`" for target in TARGETS]
    assert len({tuple(row[1:4]) for row in rows}) == 1, "not all of them ran the same samples"
    for row in rows:
        ran, agree, refused, differ = (int(cell.replace(",", "")) for cell in row[3:7])
        assert (ran, differ) == (agree + refused, 0)


def test_the_page_gives_every_reason_for_refusing() -> None:
    head, _, *rows = _rows(1 + len(TARGETS))
    assert head == ["why", *(f"`{whole(target)}`" for target in TARGETS)]
    assert {row[0] for row in rows} == {refused.cause for refused in (*REFUSED, *ELSEWHERE)}


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


def test_a_process_that_ends_tells_where() -> None:
    choice = {"operators": ["neg"], "dtypes": ["float32"], "first": 1}
    with pytest.raises(AssertionError, match=r"ended with 1 at 'neg float32 0 backward'"):
        agreement.sides(["predicted"], [NEWEST, "ascend-none"], choice)
