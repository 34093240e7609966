"""The recorded table of what composites run as, against what models' composites run as."""

from collections import defaultdict
from collections.abc import Mapping

import pytest
import torch
from torch import nn

from opcheck.composites import text
from opcheck.db.store import Database
from opcheck.trace import composites
from opcheck.trace.calls.modules import ModuleStack
from opcheck.trace.calls.tree import CallTreeRecorder
from opcheck.trace.composites import plain_arguments
from opcheck.trace.device.tensors import prepare
from opcheck.trace.running.model_state import on_device, swapped
from tests.trace.small_models import ready

_TORCH = ".".join(torch.__version__.split(".")[:2])


@pytest.fixture(scope="module")
def shipped() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    table = Database.open().composites(_TORCH, "npu")
    if not table:
        pytest.skip(f"no table was recorded for torch {_TORCH}")
    return table


def seen(name: str) -> dict[str, set[tuple[str, ...]]]:
    """Branches that the composites of one model take."""
    model, args, kwargs = ready(name)
    device = prepare("npu")
    tree = CallTreeRecorder(device, {}, ModuleStack(model))
    with swapped(model, device), tree.running():
        model(*on_device(args, device), **on_device(kwargs, device))
    found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    composites._collect(tree, found)
    return {op: ways for op, ways in found.items() if "|" not in op}


@pytest.mark.parametrize("name", ["conv", "recurrent", "attention", "values", "encoder-layer"])
def test_every_branch_that_a_model_takes_is_in_the_table(
    name: str, shipped: Mapping[str, tuple[tuple[str, ...], ...]]
) -> None:
    found = seen(name)
    assert found
    missing = {
        op: sorted(ways - set(shipped.get(op, ())))
        for op, ways in found.items()
        if not ways <= set(shipped.get(op, ()))
    }
    assert missing == {}


def test_branches_are_recorded_by_overload_and_by_class_of_dtypes() -> None:
    device = prepare("npu")
    tree = CallTreeRecorder(device, {}, ModuleStack(nn.Module()))
    with tree.running():
        x = on_device(torch.ones(2, 3), device)
        torch.nn.functional.linear(x, x)
        torch.mean(x)
    found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    composites._collect(tree, found)
    assert found["aten::linear"] == {("aten::matmul", "aten::t")}
    assert found["aten::linear|float"] == found["aten::linear"]
    assert "aten::linear|integer" not in found


def test_arguments_without_defaults_are_made_from_their_types() -> None:
    args, kwargs = plain_arguments(torch.ops.aten.addmm.default, torch.float32, (2, 3))
    assert ([tuple(a.shape) for a in args], kwargs) == ([(2, 3)] * 3, {})
    args, _ = plain_arguments(torch.ops.aten.select.int, torch.bool, (4,))
    assert ([str(args[0].dtype), *args[1:]]) == ["torch.bool", 1, 1]


def test_the_table_is_the_same_text_for_the_same_branches() -> None:
    table = {"aten::b": [["aten::c"]], "aten::a": [[], ["aten::b", "aten::c"]]}
    written = text(table, "2.13", "npu")
    assert written == text(dict(reversed(table.items())), "2.13", "npu")
    assert written.endswith(
        "composites:\n  aten::a: [[], [aten::b, aten::c]]\n  aten::b: [[aten::c]]\n"
    )
