"""Real models, a forward and a training step: the prediction is what the dispatcher asks for."""

from collections.abc import Mapping

import pytest

from tests.emulate import agreement
from tests.emulate.agreement import MODEL_TARGETS, PLAIN, Answer
from tests.emulate.agreement_document import PATH, models_row
from tests.zoo import TRAINABLE, ZOO

LEAST_MODELS = 40
LEAST_TRAINED = 10
LEAST_KERNELS = 500
"""Distinct kernels in all runs together, each counted anew: a run that asks for nothing agrees."""


@pytest.fixture(scope="module")
def answers() -> Mapping[str, Answer]:
    pytest.importorskip("transformers")
    return agreement.models(MODEL_TARGETS)


@pytest.mark.slow
@pytest.mark.parametrize("target", MODEL_TARGETS)
def test_every_model_agrees(target: str, answers: Mapping[str, Answer]) -> None:
    found = answers[target]
    assert agreement.failures(found) == []
    assert list(found) == [
        f"{name} {mode}"
        for name in ZOO
        for mode in (("inference", "training") if name in TRAINABLE else ("inference",))
    ]
    assert len(ZOO) >= LEAST_MODELS
    assert len(TRAINABLE) >= LEAST_TRAINED
    assert sum(outcome["native"] for outcome in found.values()) >= LEAST_KERNELS
    assert models_row(target, found) in PATH.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_plain_tensors_differ_only_where_that_is_known(answers: Mapping[str, Answer]) -> None:
    found, unexplained = agreement.plainly(answers[MODEL_TARGETS[0]])
    assert unexplained == []
    stale = [cause for cause in PLAIN.values() if not found[cause][0]]
    assert not stale, f"these no longer differ: {stale}"


def test_a_model_that_fails_or_differs_is_told() -> None:
    fine = {"error": "", "differ": []}
    failed = {"error": "RuntimeError: no", "differ": []}
    differs = {"error": "", "differ": [["native", "forward aten::add.Tensor", 1, 2]]}
    found = agreement.failures({"one": fine, "two": failed, "three": differs})
    assert [text.partition(":")[0] for text in found] == ["two", "three"]


def test_what_plain_tensors_do_otherwise_has_a_cause() -> None:
    answers = {
        "bert training": {
            "plain": [
                ["native", "forward aten::view", 3, 1],
                ["native", "backward aten::_reshape_alias", 0, 2],
                ["missing", "forward aten::mm", 1, 0],
            ]
        }
    }
    found, unexplained = agreement.plainly(answers)
    cases, predicted, asked, names = found[PLAIN["view|_reshape_alias"]]
    assert (cases, predicted, asked) == ({"bert training"}, 3, 3)
    assert names == {"view", "_reshape_alias"}
    assert unexplained == ["bert training: missing forward aten::mm: predicted 1, asked 0"]
