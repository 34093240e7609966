"""Nested values come back with the same structure, and what was given stays as it was."""

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence

from opcheck.runtime.batching import mapped, placed, tensors

Point = namedtuple("Point", ["x", "y"])


@dataclass(frozen=True)
class Frozen:
    image: Tensor
    name: str
    parts: tuple[Any, ...] = ()
    made: list[Tensor] = field(default_factory=list, init=False)


def one() -> Tensor:
    return torch.ones(2)


VALUES = [
    one(),
    (one(), [one(), "text"], None),
    Point(one(), 3),
    {"a": one(), "b": {"c": (one(),)}},
    OrderedDict(z=one(), a=one()),
    defaultdict(list, a=[one()]),
    Frozen(one(), "name", (one(), 1)),
    "no tensor at all",
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_every_tensor_is_replaced_and_nothing_else(value: Any) -> None:
    before = len(list(tensors(value)))
    made = mapped(value, lambda tensor: tensor + 1)
    assert type(made) is type(value)
    assert all(bool((tensor == 2).all()) for tensor in tensors(made))
    assert all(bool((tensor == 1).all()) for tensor in tensors(value))
    assert len(list(tensors(made))) == before


def test_what_is_no_tensor_stays_the_same_object() -> None:
    thing = object()
    made = mapped(Frozen(one(), "name", (thing,)), lambda tensor: tensor)
    assert made.parts[0] is thing
    kept = mapped(defaultdict(list, a=one()), lambda tensor: tensor)
    assert kept["missing"] == []


def test_what_knows_how_to_move_moves_itself() -> None:
    packed = pack_sequence([torch.ones(3), torch.ones(2)])
    made = placed({"packed": packed, "plain": one()}, torch.device("meta"))
    assert made["packed"].data.device.type == "meta"
    assert made["packed"].batch_sizes.device.type == "cpu"
    assert made["plain"].device.type == "meta"
    assert packed.data.device.type == "cpu"
