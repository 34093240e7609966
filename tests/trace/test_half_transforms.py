"""Fourier transforms of half precision: what PyTorch takes on a device that a trace is none of."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from opcheck.trace.outputs.half_transforms import TRANSFORMS, in_half
from opcheck.trace.run import trace_model

NAMES = sorted(name.removeprefix("aten::fft_") for name in TRANSFORMS)
LINES: tuple[dict[str, Any], ...] = (
    {}, {"norm": "ortho"}, {"norm": "forward"}, {"n": 16}, {"n": 4}, {"dim": 0},
)  # fmt: skip
VOLUMES: tuple[dict[str, Any], ...] = (
    {}, {"norm": "ortho"}, {"norm": "forward"}, {"s": (4, 16)}, {"dim": (0, -1)},
    {"s": (8, -1), "dim": (1, 2), "norm": "backward"},
)  # fmt: skip
CALLS = [(name, given) for name in NAMES for given in (VOLUMES if name[-1] in "2n" else LINES)]


class Called(TorchDispatchMode):
    """Notes the operators that are called, with what they are given and give."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.calls: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note one call."""
        made = func(*args, **(kwargs or {}))
        said = [tuple(a.shape) if isinstance(a, Tensor) else a for a in args]
        self.calls.append(f"{func} {said} -> {made.dtype} {tuple(made.shape)}")
        return made


def calls_of(run: Callable[[], Tensor]) -> tuple[list[str], Tensor]:
    with Called() as seen:
        made = run()
    return seen.calls, made


@pytest.mark.parametrize(("name", "given"), CALLS)
def test_they_are_taken_apart_as_pytorch_does_where_it_takes_half(
    name: str, given: dict[str, Any]
) -> None:
    """On meta, PyTorch itself takes half precision."""
    func = getattr(torch.ops.aten, f"fft_{name}").default
    x = torch.empty(2, 8, 8, dtype=torch.float16, device="meta")
    wanted, whole = calls_of(lambda: func(x, **given))
    run = in_half(func, (x,), given)
    assert run is not None
    found, made = calls_of(run)
    assert found == wanted
    assert (made.shape, made.dtype, made.is_conj()) == (whole.shape, whole.dtype, whole.is_conj())


class Net(nn.Module):
    """Transforms of halves, which may be lazily conjugated and have gradients."""

    def forward(self, x: Tensor) -> Tensor:
        """Give real numbers of float16."""
        y: Tensor = torch.fft.irfft2(torch.fft.rfft2(x, norm="ortho"), norm="ortho")
        made: Tensor = torch.fft.ifftn(torch.fft.fft2(y)).real + torch.fft.hfft(torch.fft.ihfft(y))
        return y + made


@pytest.mark.parametrize("device_type", ["cuda", "npu"])
def test_a_trace_follows_them_with_their_dtypes(device_type: str) -> None:
    x = torch.randn(2, 8, 8, dtype=torch.float16)
    trace = trace_model(Net(), (x,), {}, device_type=device_type)
    assert not trace.gaps
    nodes = {str(node.op): node for node in trace.nodes}
    for op in ("rfft2", "irfft2", "ifftn", "fft2", "hfft", "ihfft"):
        assert f"aten::fft_{op}" in nodes
    kernel = nodes["aten::_fft_r2c"]
    assert "float16" in str(kernel.arguments)
    assert "complex32" in str(kernel.outputs)


@pytest.mark.parametrize(
    ("device_type", "taken"), [("cuda", True), ("xpu", True), ("mps", False), ("xla", False)]
)
def test_which_devices_pytorch_takes_halves_on(device_type: str, taken: bool) -> None:
    """PyTorch's own check, asked with tensors that only say that they are on such a device."""
    with FakeTensorMode():
        x = torch.empty(4, 8, dtype=torch.float16, device=device_type)
        with nullcontext() if taken else pytest.raises(RuntimeError, match="Unsupported dtype"):
            assert torch.fft.rfft(x).dtype is torch.complex32
