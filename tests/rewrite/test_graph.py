"""Calls in exported programs replaced: those alone, wherever they stand."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.model.jobs import Replacement
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.draw import Draw
from opcheck.rewrite.graph import rewritten
from tests.rewrite.reasons import reads

ROLL = Replacement("aten::roll", "roll-by-joining")


class Moves(nn.Module):
    """One call is an output, one is used twice, one stands beside calls that write."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y = x.roll(1, 1)
        z = torch.zeros_like(x)
        z.add_(y).mul_(2)
        return torch.roll(y, 2, -1), z, y * y


class Branches(nn.Module):
    """Calls in the branches of a condition."""

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = torch.cond(x.sum() > 0, lambda x: x.roll(1, 1), lambda x: x.roll(2, 1), [x])
        return found


def exported(module: nn.Module, x: Tensor) -> Any:
    rows = torch.export.Dim("rows", min=2, max=64)
    return torch.export.export(module, (x,), dynamic_shapes=({0: rows},))


def calls(program: Any) -> list[str]:
    graphs = [m.graph for m in program.graph_module.modules() if hasattr(m, "graph")]
    return [str(n.target) for graph in graphs for n in graph.nodes if n.op == "call_function"]


@pytest.mark.parametrize("module", [Moves(), Branches()], ids=lambda m: type(m).__name__)
def test_only_those_calls_are_replaced(module: nn.Module) -> None:
    before = exported(module, torch.rand(5, 4))
    found = rewritten(exported(module, torch.rand(5, 4)), [ROLL])
    assert found.left == {}
    assert "aten.roll.default" in calls(before)
    assert "aten.roll.default" not in calls(found.program)
    others = [call for call in calls(before) if call != "aten.roll.default"]
    assert [call for call in others if call not in calls(found.program)] == []
    for rows in (2, 5, 9):
        x = torch.rand(rows, 4)
        torch.testing.assert_close(found.program.module()(x), before.module()(x), rtol=0, atol=0)


def test_a_program_without_such_calls_stays() -> None:
    module = nn.Linear(4, 4)
    before = exported(module, torch.rand(5, 4))
    found = rewritten(exported(module, torch.rand(5, 4)), [ROLL])
    assert str(found.program.graph) == str(before.graph)


class MovesRows(nn.Module):
    """A call along a size that is left open."""

    def forward(self, x: Tensor) -> Tensor:
        return x.roll(1, 0)


def test_what_would_hold_for_some_sizes_alone_is_left() -> None:
    module = MovesRows()
    before = exported(module, torch.rand(5, 4))
    found = rewritten(exported(module, torch.rand(5, 4)), [ROLL])
    assert str(found.program.graph) == str(before.graph)
    assert list(found.left) == ["aten::roll"]
    assert "decides by a size that the program leaves open" in found.left["aten::roll"]
    x = torch.rand(2, 4)
    torch.testing.assert_close(found.program.module()(x), before.module()(x), rtol=0, atol=0)


def again(self: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    return torch.roll(self, shifts, dims)


class Again(Rule):
    """The call itself."""

    name = "again"
    replaces = ("aten::roll",)
    summary = "Call it again"
    replace = staticmethod(again)

    def example(self, op: str, draw: Draw) -> Arguments:
        return (draw.tensor([3]), [1], [0]), {}


def test_a_rule_that_calls_what_it_replaces_is_left() -> None:
    program = exported(Moves(), torch.rand(5, 4))
    found = rewritten(program, [Replacement("aten::roll", "again")], [Again()])
    assert list(found.left) == ["aten::roll"]
    reads(found.left["aten::roll"], "its replacement asks for the same again")
