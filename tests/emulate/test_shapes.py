"""A device without values gives the host's shapes, dtypes and strides; what either kind says."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.emulate.session import Emulator
from tests.emulate.conftest import opened
from tests.emulate.outcome import HOST, Raised, outcome
from tests.emulate.programs import ERRORS, PROGRAMS

DEPENDS_ON_VALUES = {"taken_by_index"}
"""Programs with a size that only values tell."""


@pytest.fixture(scope="class", name="shapes")
def open_for_all() -> Iterator[torch.device]:
    yield from opened(False)


class TestWithoutValues:
    @pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - DEPENDS_ON_VALUES))
    def test_everything_else_is_the_hosts(self, shapes: torch.device, name: str) -> None:
        expected = outcome(PROGRAMS[name], HOST, values=False)
        assert not isinstance(expected, Raised)
        assert outcome(PROGRAMS[name], shapes, values=False) == expected

    @pytest.mark.parametrize("name", ERRORS)
    def test_a_mistake_raises_too(self, shapes: torch.device, name: str) -> None:
        """In the words of PyTorch's shape functions, which are sometimes others."""
        assert outcome(ERRORS[name], shapes).kind is outcome(ERRORS[name], HOST).kind


HOST_MEETS_DEVICE: dict[str, Callable[[Tensor], Any]] = {
    "sum": lambda x: x + torch.ones(3),
    "sum, host first": lambda x: torch.ones(3) + x,
    "list": lambda x: torch.cat([x, torch.ones(3)]),
    "weight on the host": lambda x: F.linear(x, torch.ones(3, 3)),
    "input on the host": lambda x: nn.Linear(3, 3).to(x.device)(torch.ones(3)),
    "in place": lambda x: x.mul_(torch.ones(3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOST_MEETS_DEVICE)
def test_a_host_tensor_does_not_meet_one_of_the_device(either: torch.device, name: str) -> None:
    x = torch.ones(3, device=either)
    with pytest.raises(RuntimeError) as caught:
        HOST_MEETS_DEVICE[name](x)
    assert str(caught.value) == (
        "Expected all tensors to be on the same device, but found at least two devices, npu:0 and "
        "cpu!"
    )


@pytest.mark.slow
def test_only_the_host_becomes_an_array(either: torch.device) -> None:
    x = torch.ones(2, device=either)
    for read in (x.numpy, x.__array__):
        with pytest.raises(TypeError) as caught:
            read()
        assert str(caught.value) == (
            "can't convert npu:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
            "to host memory first."
        )
    assert x.numpy(force=True).tolist() == x.cpu().numpy().tolist() == [1.0, 1.0]


@pytest.mark.slow
def test_a_tensor_says_where_it_is(either: torch.device) -> None:
    host: Any = torch.ones(2)
    x = host.npu()
    assert (x.device, x.get_device(), x.is_npu, x.is_cpu, x.is_cuda) == (
        either, 0, True, False, False,
    )  # fmt: skip
    assert x.type() == "torch.npu.FloatTensor"
    assert x.npu() is x.to("npu") is x.to("npu:0") is x
    assert x.untyped_storage().device == either


@pytest.mark.slow
def test_float64_becomes_float32_as_the_device_casts(either: torch.device) -> None:
    """What Ascend's ``_to_copy`` does, whether or not there are values."""
    host, there = torch.ones(2, dtype=torch.float64), torch.ones(2, device=either)
    made = torch.ones(2, dtype=torch.float64, device=either)
    with pytest.warns(UserWarning, match="dtype cast replace with float"):
        found = [host.to(either), there.double(), there.to(torch.float64), there.to(host), made]
    assert [str(x.dtype) for x in found] == ["torch.float32"] * 4 + ["torch.float64"]


@pytest.mark.slow
def test_values_that_are_not_followed_come_to_the_host_as_zeros_and_that_is_said() -> None:
    emulator = Emulator("ascend-910b", values=False)
    with emulator as device:
        weight = torch.ones(100, 100).to(device)
        back, few = weight.cpu(), torch.ones(9).to(device).cpu()
        target = torch.ones(100, 100)
        target.copy_(weight)
    assert (int(back.count_nonzero()), int(target.count_nonzero())) == (0, 0)
    assert few.tolist() == [1] * 9
    notes = [note.partition(" at ")[0] for note in emulator.device.record.notes]
    assert notes == ["brings values to the host that are not followed"] * 2


@pytest.mark.slow
def test_values_that_no_line_of_the_users_brings_are_told_of_without_one() -> None:
    emulator = Emulator("ascend-910b", values=False)
    with emulator as device:
        reading = threading.Thread(target=torch.ones(100, 100).to(device).cpu)
        reading.start()
        reading.join()
    assert [*emulator.device.record.notes] == [
        "brings values to the host that are not followed; zeros here"
    ]


def _again(value: Callable[..., Tensor], x: Tensor) -> Any:
    return torch.func.grad(lambda at: torch.func.grad(value)(at).pow(2).sum())(x)


def _linearized(value: Callable[..., Tensor], x: Tensor) -> Any:
    return torch.func.linearize(value, x)[1](torch.ones_like(x))


@pytest.mark.slow
@pytest.mark.parametrize("derived", [_again, _linearized], ids=["nested", "linearized"])
def test_derivatives_meet_a_composite_of_the_vendors(
    shapes: torch.device, derived: Callable[..., Any]
) -> None:
    """Its conditions are looked up where transforms and modes of torch.func are at work."""
    layer = nn.LayerNorm(4).to(shapes)
    found = derived(lambda x: layer(x).pow(2).sum(), torch.ones(3, 4, device=shapes))
    assert tuple(found.shape) in {(3, 4), ()}


@pytest.mark.slow
def test_a_backward_that_reads_a_value_says_that_it_is_one() -> None:
    """Which no line of the user's calls: PyTorch's own thread does."""
    emulator = Emulator("ascend-910b", values=False)
    with emulator as device:
        x = torch.rand(80, 100, device=device, requires_grad=True)
        torch.cumprod(x * 2, 1).sum().backward()
    assert [*emulator.device.record.notes] == [
        "reads a value that depends on data in a backward pass; it is taken to be False here"
    ]
