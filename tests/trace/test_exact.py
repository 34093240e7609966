"""Exact kernels, held set by set and count by count against a device really registered."""

import json
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from opcheck.db.store import Database
from opcheck.model.target import TargetSpec
from tests.preloaded import python
from tests.trace.small_models import LOADED, MODELS

pytestmark = pytest.mark.slow

_TAKEN_AWAY = (
    "addmm", "baddbmm", "bmm", "conv2d", "convolution", "gelu", "layer_norm", "linear", "matmul",
    "mean", "mm", "native_layer_norm", "scaled_dot_product_attention", "silu", "softmax",
    "_softmax", "batch_norm", "native_batch_norm", "lstm", "gru", "cat", "where", "clone",
)  # fmt: skip
_HARDLY_ANY = frozenset(
    {"aten::empty.memory_format", "aten::empty_strided", "aten::as_strided", "aten::view",
     "aten::_copy_from", "aten::add.Tensor"}
)  # fmt: skip


def registered(target: str) -> frozenset[str]:
    database = Database.open()
    return frozenset(database.matrix(database.resolve(TargetSpec.parse(target))).entries)


def _sets() -> Mapping[str, frozenset[str]]:
    newest = registered("ascend-910b")
    return {
        "newest": newest,
        "6.0.0": registered("ascend-910b@6.0.0"),
        "reduced": frozenset(op for op in newest if _base(op) not in _TAKEN_AWAY),
        "hardly any": _HARDLY_ANY,
    }


def _base(op: str) -> str:
    return op.partition("::")[2].partition(".")[0]


SETS = _sets()
Answers = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def traced() -> Answers:
    return _side("traced", SETS)


@pytest.fixture(scope="module")
def real() -> Answers:
    answers: dict[str, dict[str, Any]] = {name: {} for name in MODELS}
    for label, ops in SETS.items():
        for name, found in _side("real", {label: ops}).items():
            answers[name] |= found
    return answers


def _side(side: str, sets: Mapping[str, frozenset[str]]) -> Answers:
    request = {"sets": {name: sorted(ops) for name, ops in sets.items()}, "models": [*MODELS]}
    done = subprocess.run(
        [*python(*LOADED), "-m", "tests.trace.exact_side", side],
        input=json.dumps(request), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]  # as exact_side writes it


@pytest.mark.parametrize("label", SETS)
@pytest.mark.parametrize("name", MODELS)
def test_the_dispatcher_is_asked_for_just_these(
    name: str, label: str, traced: Answers, real: Answers
) -> None:
    assert traced[name][label] == real[name][label]


def test_the_sets_differ_in_what_they_ask_for(real: Answers) -> None:
    asked = {label: sum(real["bert"][label][0].values()) for label in SETS}
    assert len(set(asked.values())) == len(SETS)
    assert real["bert"]["newest"][1] == {}
    assert real["bert"]["hardly any"][1] != {}
