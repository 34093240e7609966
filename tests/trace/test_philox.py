"""The random numbers of a device have the state that vendors' generators have."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from opcheck.trace.device.philox import DeviceGenerator
from opcheck.trace.device.state import DeviceState


@pytest.fixture
def generator() -> DeviceGenerator:
    return DeviceGenerator("npu:0").manual_seed(7)


def drawn(generator: DeviceGenerator) -> list[float]:
    with generator.drawing():
        numbers: list[float] = torch.rand(3).tolist()
        return numbers


def test_the_state_is_the_seed_and_the_offset(generator: DeviceGenerator) -> None:
    assert generator.get_state().tolist() == [7, *[0] * 15]
    drawn(generator)
    assert generator.get_state().tolist() == [7, *[0] * 7, 4, *[0] * 7]
    assert (generator.initial_seed(), generator.get_offset()) == (7, 4)
    assert generator.manual_seed(-1).get_state().tolist() == [*[255] * 8, *[0] * 8]
    assert generator.initial_seed() == 2**64 - 1


def test_an_offset_is_where_numbers_are_drawn_from(generator: DeviceGenerator) -> None:
    first, second, third = (drawn(generator) for _ in range(3))
    generator.set_offset(4)
    assert [drawn(generator), drawn(generator)] == [second, third]
    other = DeviceGenerator("npu:0")
    other.set_state(torch.tensor([7, *[0] * 7, 8, *[0] * 7], dtype=torch.uint8))
    assert drawn(other) == third
    other.set_state(torch.tensor([7, *[0] * 7], dtype=torch.uint8))
    assert drawn(other) == first
    assert len({tuple(numbers) for numbers in (first, second, third)}) == 3


def test_reading_the_state_changes_no_number(generator: DeviceGenerator) -> None:
    expected = [drawn(generator), drawn(generator)]
    generator.manual_seed(7)
    read = []
    for _ in expected:
        generator.set_state(generator.get_state())
        read.append(drawn(generator))
    assert read == expected


def test_a_random_seed_begins_anew(generator: DeviceGenerator) -> None:
    drawn(generator)
    seed = generator.seed()
    assert (generator.initial_seed(), generator.get_offset()) == (seed, 0)
    assert DeviceGenerator("npu:0").initial_seed() == torch.Generator().initial_seed()


STATES: dict[str, Callable[[], Tensor]] = {
    "RNG state must be a torch.ByteTensor": lambda: torch.zeros(16),
    "RNG state is wrong size": lambda: torch.Generator().get_state(),
    "offset must be a multiple of 4": lambda: torch.tensor([0] * 8 + [3] + [0] * 7).byte(),
}


@pytest.mark.parametrize("message", STATES)
def test_what_is_no_state_is_refused(generator: DeviceGenerator, message: str) -> None:
    with pytest.raises((TypeError, RuntimeError), match=f"^{message}$"):
        generator.set_state(STATES[message]())


def test_a_generator_that_is_given_draws_in_place_of_the_devices_own() -> None:
    state = DeviceState("npu", available=lambda: True, name="npu")
    given = DeviceGenerator("npu:0").manual_seed(7)
    with state.drawing([1.0, given, None]):
        numbers = torch.rand(3).tolist()
    assert (state.generator.get_offset(), given.get_offset()) == (0, 4)
    assert numbers == drawn(given.manual_seed(7))


def test_a_block_that_draws_nothing_may_leave_the_offset(generator: DeviceGenerator) -> None:
    with generator.drawing(surely=False):
        torch.ones(3).sum()
    assert generator.get_offset() == 0
    for i, given in enumerate((None, generator), 1):
        with generator.drawing(surely=False):
            torch.rand(3, generator=given)
        assert generator.get_offset() == 4 * i
    with generator.drawing():
        pass
    assert generator.get_offset() == 12
