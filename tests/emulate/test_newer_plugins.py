"""PyTorch's samples on Biren's, Enflame's and Rebellions' devices: a scan predicts what they are
asked for, but for how autograd adds up gradients, which is not compared.
"""

from collections.abc import Mapping

import pytest

from tests.emulate.agreement import operators
from tests.emulate.agreement_side import Outcome
from tests.emulate.operator_samples import operator_names
from tests.whole import WHOLE

TARGETS = ("biren-br2xx", "enflame-s60", "rebellions-atom")
SHARE = 1 if WHOLE else 36
ADDED_UP = frozenset(
    f"backward aten::{op}"
    for op in ("add_.Tensor", "add.Tensor", "add.out", "empty.memory_format", "empty_strided")
)
"""In place in C++ and not on an emulated device, and what either runs as without a kernel."""


def differing(said: Outcome, asked: Outcome) -> set[str]:
    """The overloads that are not asked for as often as predicted, each with its phase."""
    found: set[str] = set()
    for kind in ("native", "missing"):
        ours: Mapping[str, int] = said.get(kind, {})
        theirs: Mapping[str, int] = asked.get(kind, {})
        found |= {op for op in {*ours, *theirs} if ours.get(op) != theirs.get(op)}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_the_scan_predicts_what_the_device_is_asked_for(target: str) -> None:
    first = TARGETS.index(target)
    choice = {
        "dtypes": ["float16", "float32", "int64"],
        "first": 1,
        "operators": operator_names()[first::SHARE],
    }
    (found,) = operators([(target, choice)])
    assert found.agree > 600 // SHARE
    assert {
        case for case, both in found.differ.items() if "raised" in {*both[0], *both[1]}
    } == set()
    assert {op for both in found.differ.values() for op in differing(*both)} <= ADDED_UP
