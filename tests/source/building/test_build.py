"""Building with and without values, and giving weights up afterwards."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.build import build, light_copy, shed, shed_values


class Tied(nn.Module):
    steps: Tensor
    table: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(300, 300)
        self.two = nn.Linear(300, 300)
        self.two.weight = self.one.weight
        self.register_buffer("steps", torch.arange(4))
        self.register_buffer("table", torch.rand(300, 300))

    def forward(self, x: Tensor) -> Tensor:
        return self.two(self.one(x))  # type: ignore[no-any-return]  # of nn.Module.__call__


def test_a_factory_that_needs_values_gets_them_with_a_note() -> None:
    def factory() -> nn.Module:
        return nn.Linear(3, int(torch.ones(300, 300).sum().item()) // 30_000)

    module, notes = build(Sentence("factory()"), factory)
    assert isinstance(module, nn.Linear)
    assert module.out_features == 3
    assert notes == (
        "factory() needs the values of its weights (Tensor.item() cannot be called on meta "
        "tensors): built with them",
    )


def test_a_factory_that_fails_is_called_once() -> None:
    calls = []

    def factory() -> nn.Module:
        calls.append(1)
        raise ValueError("two\nlines")

    with pytest.raises(SourceError) as caught:
        build(Sentence("factory()"), factory)
    here = Path(__file__).relative_to(Path.cwd())
    line = factory.__code__.co_firstlineno + 2
    assert caught.value.message == f"factory() raised ValueError: two lines (at {here}:{line})"
    assert calls == [1]


def test_memory_running_out_is_no_error_of_the_source() -> None:
    def factory() -> nn.Module:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried …")

    with pytest.raises(MemoryError):
        build(Sentence("factory()"), factory)


def test_shedding_keeps_what_is_small_and_what_is_shared() -> None:
    module = Tied()
    shed(module)
    assert module.one.weight is module.two.weight
    assert module.one.weight.is_meta
    assert module.table.is_meta
    assert not module.one.bias.is_meta
    assert module.steps.tolist() == [0, 1, 2, 3]


def test_a_light_copy_leaves_the_original_alone() -> None:
    module = Tied()
    copied = light_copy(module)
    assert isinstance(copied, Tied)
    assert copied.one.weight is copied.two.weight
    assert copied.one.weight.is_meta
    assert copied.one.weight.requires_grad
    assert copied.one.bias is not module.one.bias
    assert not module.one.weight.is_meta
    assert not module.table.is_meta


def test_inputs_are_shed_in_any_nesting() -> None:
    large, small = torch.rand(300, 300), torch.ones(2)
    args, kwargs = shed_values((([large, small],), {"x": {"y": large}}))
    assert args[0][0].is_meta
    assert args[0][1] is small
    assert kwargs["x"]["y"] is args[0][0]
