"""Random numbers of an emulated device: its own stream, with and without values."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it
from torch.utils.checkpoint import checkpoint

from tests.emulate.conftest import opened


@pytest.fixture(scope="module", name="either", params=[True, False], ids=["values", "shapes"])
def open_for_all(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    yield from opened(request.param)


DRAWS: dict[str, Callable[[torch.device], Tensor]] = {
    "rand": lambda d: torch.rand(5, device=d),
    "randn": lambda d: torch.randn(3, 2, device=d),
    "randn in half": lambda d: torch.randn(4, device=d, dtype=torch.float16),
    "randint": lambda d: torch.randint(9, (5,), device=d),
    "randperm": lambda d: torch.randperm(7, device=d),
    "rand_like": lambda d: torch.rand_like(torch.ones(3, device=d)),
    "normal": lambda d: torch.normal(torch.ones(3, device=d), 2.0),
    "uniform_": lambda d: torch.empty(3, device=d).uniform_(1, 2),
    "exponential_": lambda d: torch.empty(3, device=d).exponential_(),
    "bernoulli": lambda d: torch.full((6,), 0.5, device=d).bernoulli(),
    "multinomial": lambda d: torch.ones(6, device=d).multinomial(3),
    "dropout": lambda d: F.dropout(torch.ones(8, device=d)),
    "kaiming": lambda d: torch.nn.init.kaiming_uniform_(torch.empty(2, 3, device=d)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_same_seed_gives_the_same_numbers(either: torch.device, name: str) -> None:
    npu: Any = getattr(torch, either.type)
    draw = DRAWS[name]
    torch.manual_seed(3)
    first, second = draw(either).cpu(), draw(either).cpu()
    npu.manual_seed(3)
    again = draw(either).cpu()
    state = npu.get_rng_state()
    one = draw(either).cpu()
    npu.set_rng_state(state)
    assert torch.equal(first, again)
    assert torch.equal(one, second)
    assert torch.equal(one, draw(either).cpu())
    assert not torch.equal(first, second) or name in ("bernoulli", "dropout", "multinomial")


@pytest.mark.parametrize("name", DRAWS)
def test_the_hosts_stream_is_left_alone(either: torch.device, name: str) -> None:
    before = torch.get_rng_state()
    DRAWS[name](either)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(1)
    assert not torch.equal(torch.get_rng_state(), before)


def test_a_forked_stream_is_put_back(either: torch.device) -> None:
    npu: Any = getattr(torch, either.type)
    state = npu.get_rng_state()
    with torch.random.fork_rng([0], device_type="npu"):
        torch.rand(3, device=either)
        assert not torch.equal(npu.get_rng_state(), state)
    assert torch.equal(npu.get_rng_state(), state)


def test_the_state_is_a_seed_and_an_offset(either: torch.device) -> None:
    npu: Any = getattr(torch, either.type)
    npu.manual_seed(3)
    first = torch.rand(3, device=either).cpu()
    state = npu.get_rng_state()
    assert state.tolist() == [3, *[0] * 7, 4, *[0] * 7]
    second = torch.rand(3, device=either).cpu()
    state[8:] = 0
    npu.set_rng_state(state)
    assert torch.equal(torch.rand(3, device=either).cpu(), first)
    assert torch.equal(torch.rand(3, device=either).cpu(), second)


def test_a_generator_of_the_device_has_such_a_state_too(either: torch.device) -> None:
    npu: Any = getattr(torch, either.type)
    generator = torch.Generator(either).manual_seed(5)
    before = npu.get_rng_state()
    first = torch.rand(3, device=either, generator=generator).cpu()
    assert generator.get_state().tolist() == [5, *[0] * 7, 4, *[0] * 7]
    assert torch.equal(npu.get_rng_state(), before)
    second = torch.rand(3, device=either, generator=generator).cpu()
    generator.set_offset(0)
    assert torch.equal(torch.rand(3, device=either, generator=generator).cpu(), first)
    assert torch.equal(torch.rand(3, device=either, generator=generator).cpu(), second)


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_layer_that_is_run_again_drops_the_same(either: torch.device, reentrant: bool) -> None:
    x = torch.ones(64, device=either, requires_grad=True)
    y: Any = checkpoint(lambda x: F.dropout(x) * 3, x, use_reentrant=reentrant)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad.cpu(), y.detach().cpu())
    assert {0.0, 6.0} == set(x.grad.tolist())
