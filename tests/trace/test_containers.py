"""Inputs within objects: what holds them, and that their tensors are on the device."""

from collections import UserDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from opcheck.trace.device.containers import with_tensors
from tests.trace.look import calls, traced


@dataclass
class Batch:
    image: Tensor
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Frozen:
    image: Tensor


class Step(NamedTuple):
    batch: Batch
    reward: float = 1.0


class Graph(dict[str, Any]):
    """A dictionary whose items are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


class Rows(list[Any]):
    """A list of its own class."""


Point = namedtuple("Point", "image")  # as much code has it


class Sees(nn.Module):
    """Needs its input where its weight is."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, image: Tensor) -> Tensor:
        assert image.device == self.layer.weight.device
        return self.layer(torch.split(image, 1)[0])  # type: ignore[no-any-return]  # untyped


IMAGE = torch.ones(2, 3)
HOLDERS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "dataclass": (Batch(IMAGE), lambda held: held.image),
    "inside": (Step(Batch(IMAGE, {"x": [IMAGE]})), lambda held: held.batch.more["x"][0]),
    "frozen": (Frozen(IMAGE), lambda held: held.image),
    "dict": (Graph(image=IMAGE), lambda held: held.image),
    "user-dict": (UserDict(image=IMAGE), lambda held: held["image"]),
    "list": (Rows([IMAGE]), lambda held: held[0]),
    "tuple": (Point(IMAGE), lambda held: held.image),
    "object": (SimpleNamespace(image=IMAGE), lambda held: held.image),
    "object-in-list": ([SimpleNamespace(image=IMAGE)], lambda held: held[0].image),
    "distribution": (torch.distributions.Normal(IMAGE, 1.0), lambda held: held.loc),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_tensors_that_an_input_holds_are_on_the_device(name: str) -> None:
    holder, image_of = HOLDERS[name]
    sees = Sees()

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = sees

        def forward(self, held: Any) -> Tensor:
            return self.inner(image_of(held))  # type: ignore[no-any-return]  # untyped

    trace = traced(Model(), holder)
    assert calls(trace) == ["aten::split.Tensor", "aten::linear"]
    assert trace.gaps == ()
    assert image_of(holder).device.type == "cpu"


def test_a_packed_sequence_keeps_its_batch_sizes_on_the_host() -> None:
    packed = pack_sequence([torch.ones(2, 5), torch.ones(4, 5)], enforce_sorted=False)
    seen: list[str] = []

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rows = nn.GRU(5, 4)

        def forward(self, rows: PackedSequence) -> Tensor:
            seen.extend(str(part.device.type) for part in rows if part is not None)
            return self.rows(rows)[0].data  # type: ignore[no-any-return]  # untyped

    trace = traced(Model(), packed)
    assert seen == ["npu", "cpu", "npu", "npu"]
    assert "aten::gru.data" in calls(trace)
    assert trace.gaps == ()


def test_an_object_without_tensors_is_itself_and_one_that_is_met_twice_stays_one() -> None:
    plain = SimpleNamespace(name="x", inner=SimpleNamespace(size=3))
    plain.itself = plain
    shared = Batch(IMAGE)
    first, second, same = with_tensors(lambda tensor: tensor + 1, [shared, {"b": shared}, plain])
    assert same is plain
    assert first is second["b"]
    assert first is not shared
    assert bool((first.image == 2).all()) and bool((shared.image == 1).all())
