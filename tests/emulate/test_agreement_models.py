"""Real models, a forward and a training step: the prediction is what the dispatcher asks for."""

from collections.abc import Mapping

import pytest

from tests.emulate import agreement
from tests.emulate.agreement import MODEL_SHARES, Answer, every_run, runs_of
from tests.emulate.agreement_document import MODELS_HEAD, PATH, models_row, whole
from tests.whole import WHOLE
from tests.zoo import TRAINABLE, ZOO

LEAST_MODELS = 40
LEAST_TRAINED = 10
LEAST_KERNELS = 500
"""Distinct kernels in all runs together, each counted anew: a run that asks for nothing agrees."""


@pytest.fixture(scope="module")
def answers() -> Mapping[str, Answer]:
    pytest.importorskip("transformers")
    return agreement.models(every_run(tuple(ZOO)))


@pytest.mark.slow
@pytest.mark.parametrize("target", MODEL_SHARES)
def test_models_agree(target: str, answers: Mapping[str, Answer]) -> None:
    found = answers[target]
    assert agreement.failures(found) == []
    assert list(found) == runs_of(every_run(tuple(ZOO))[target], TRAINABLE)
    assert sum(outcome["native"] for outcome in found.values()) >= LEAST_KERNELS // 2
    if WHOLE:
        assert models_row(target, found) in PATH.read_text(encoding="utf-8").splitlines()


def test_there_are_models() -> None:
    assert len(ZOO) >= LEAST_MODELS
    assert len(TRAINABLE) >= LEAST_TRAINED


@pytest.mark.skipif(WHOLE, reason="nothing is shared out")
def test_every_model_is_run_for_one_target() -> None:
    shares = every_run(tuple(ZOO)).values()
    assert sorted(name for share in shares for name in share) == sorted(ZOO)
    assert all(any(name in TRAINABLE for name in share) for share in shares)


@pytest.mark.parametrize("target", MODEL_SHARES)
def test_the_page_has_every_run(target: str) -> None:
    rows = [line.split(" | ") for line in PATH.read_text(encoding="utf-8").splitlines()]
    (row,) = [
        row for row in rows if row[0] == f"| `{whole(target)}`" and len(row) == len(MODELS_HEAD)
    ]
    runs = len(runs_of(tuple(ZOO), TRAINABLE))
    assert row[1:5] == [f"{len(ZOO)}", f"{len(TRAINABLE)}", f"{runs}", "0"]


def test_a_model_that_fails_or_differs_is_told() -> None:
    fine = {"error": "", "differ": []}
    failed = {"error": "RuntimeError: no", "differ": []}
    differs = {"error": "", "differ": [["native", "forward aten::add.Tensor", 1, 2]]}
    found = agreement.failures({"one": fine, "two": failed, "three": differs})
    assert [text.partition(":")[0] for text in found] == ["two", "three"]
