"""What is large has no values, what is small is real, and mixing the two works."""

import time
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from opcheck.source.building.weightless import LARGE_FLOATS, LARGE_INTEGERS, is_large, weightless


@pytest.mark.parametrize(
    ("make", "device"),
    [
        (lambda: torch.empty(LARGE_FLOATS), "cpu"),
        (lambda: torch.empty(LARGE_FLOATS + 1), "meta"),
        (lambda: torch.zeros(300, 300), "meta"),
        (lambda: torch.rand(300, 300), "meta"),
        (lambda: torch.full((300, 300), 2.0), "meta"),
        (lambda: torch.full((300, 300), 2), "cpu"),
        (lambda: torch.ones(300, 300, dtype=torch.complex64), "meta"),
        (lambda: torch.ones(LARGE_INTEGERS, dtype=torch.bool), "cpu"),
        (lambda: torch.ones(LARGE_INTEGERS + 1, dtype=torch.bool), "meta"),
        (lambda: torch.linspace(0, 1, 20), "cpu"),
        (lambda: torch.linspace(0, 1, LARGE_FLOATS + 1), "meta"),
        (lambda: torch.arange(2.0 * LARGE_FLOATS), "meta"),
        (lambda: torch.eye(300), "meta"),
        (lambda: torch.tril(torch.ones(300, 300)), "meta"),
        (lambda: torch.rand(300, 1) * torch.rand(1, 300), "meta"),
        (lambda: torch.outer(torch.rand(300), torch.rand(300)), "meta"),
        (lambda: torch.rand(300).repeat(300), "meta"),
        (lambda: torch.rand(2) * torch.rand(2), "cpu"),
        (lambda: torch.rand(300, 300) + torch.rand(300), "meta"),
        (lambda: torch.rand(300) @ torch.rand(300, 300), "meta"),
        (lambda: torch.rand(300, 300).sum() + torch.tensor(1.0), "meta"),
        (lambda: torch.rand(2).new_zeros(300, 300), "meta"),
        (lambda: torch.tensor([1.0, 2.0]), "cpu"),
    ],
)
def test_where_a_tensor_is_made(make: Callable[[], Tensor], device: str) -> None:
    with weightless():
        assert make().device.type == device


def test_a_layer_of_any_size_is_made_at_once() -> None:
    started = time.perf_counter()
    with weightless():
        layer = nn.Linear(200_000, 200_000)
    assert time.perf_counter() - started < 5
    assert layer.weight.is_meta
    assert isinstance(layer.weight, nn.Parameter)


def test_a_constructor_may_read_small_values() -> None:
    with weightless():
        rates = [x.item() for x in torch.linspace(0, 1, 3)]
    assert rates == [0.0, 0.5, 1.0]


def test_a_small_tensor_written_from_a_large_one_keeps_its_values() -> None:
    with weightless():
        small = torch.ones(2)
        small.copy_(torch.rand(300, 300)[0, :2])
        small[0] = torch.rand(300, 300).max()
        assert small.tolist() == [1.0, 1.0]


def test_a_large_tensor_written_in_place_stays_itself() -> None:
    with weightless():
        large = torch.empty(300, 300)
        assert large.normal_() is large
        assert large.copy_(torch.ones(300, 300)) is large
        assert large[:2].zero_().shape == (2, 300)
        assert large.unsqueeze_(0).shape == (1, 300, 300)


def test_two_builds_are_equal_and_leave_the_generator_alone() -> None:
    def build() -> list[Tensor]:
        with weightless():
            return [torch.rand(3), torch.empty(3), nn.Linear(3, 4).weight.detach()]

    state = torch.get_rng_state()
    first = build()
    torch.empty(1000).fill_(7)
    second = build()
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert torch.equal(torch.get_rng_state(), state)


def test_a_forward_in_the_constructor_works() -> None:
    with weightless(), torch.no_grad():
        body = nn.Sequential(nn.Conv2d(3, 64, 7), nn.BatchNorm2d(64), nn.Flatten())
        assert body(torch.zeros(1, 3, 64, 64)).shape == (1, 64 * 58 * 58)


def test_nothing_stays_switched_on() -> None:
    with weightless():
        pass
    assert not torch.empty(300, 300).is_meta


def test_a_limit_each_for_floats_and_integers() -> None:
    assert is_large(LARGE_FLOATS + 1, torch.bfloat16)
    assert not is_large(LARGE_FLOATS + 1, torch.int32)


def test_how_large_is_told_for_integers_and_for_others() -> None:
    with weightless(integers=4, floats=8):
        made = [
            torch.zeros(size, dtype=dtype).is_meta
            for dtype in (torch.int32, torch.float16)
            for size in (4, 5, 8, 9)
        ]
    assert made == [False, True, True, True, False, False, False, True]
