"""Where a tensor argument begins in its storage, as the device has it."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from opcheck.model.trace import TensorMeta, coarse_offset
from opcheck.trace import trace_model
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep
from tests.trace.look import node, traced


class OnHost(TorchDispatchMode):
    """Notes where the argument of each ``relu`` begins, as the host's own kernels lay it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.offsets: list[int] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.relu.default:
            self.offsets.append(coarse_offset(args[0].storage_offset() * args[0].itemsize))
        return func(*args, **(kwargs or {}))


def _tails(x: Tensor) -> list[Tensor]:
    return [x[1:], x[:, 3:], x[2], x[..., -1], x.narrow(1, 2, 3), x.select(0, 1)]


def _pieces(x: Tensor) -> list[Tensor]:
    return [*x.chunk(2), *x.split([1, 2, 1]), *x.unbind(1), *torch.tensor_split(x, 3, dim=1)]


def _views_of_views(x: Tensor) -> list[Tensor]:
    tail = x[1:]
    return [
        tail.t(), tail[1:], tail[:, 1].unsqueeze(0), tail.reshape(-1)[5:], tail.flatten(),
        tail.view(3, 3, 2)[:, 1], tail.expand(2, 3, 6), tail.transpose(0, 1)[2:], tail.detach(),
        x.as_strided((2, 2), (6, 1), 7), tail.as_strided((2, 2), (6, 1)), x.diagonal(1),
        tail.as_strided((2, 2), (6, 1), 3), x.unfold(1, 2, 2)[:, 1], tail.contiguous(),
        tail.to(torch.float32), x.movedim(0, 1)[1:], torch.atleast_3d(tail), tail.squeeze(),
        tail.view_as(tail), x.flip(0)[1:],
    ]  # fmt: skip


def _copies(x: Tensor) -> list[Tensor]:
    return [
        x[1:].clone(), x[:, 1:].contiguous(), x[1:].half(), x[1:] + 1, x[:, 1:].reshape(-1),
        x.t()[1:].contiguous(), torch.cat([x[1:], x[1:]]), x[[1, 2]], x[1:].sum(0),
    ]  # fmt: skip


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("views", [_tails, _pieces, _views_of_views, _copies])
def test_views_begin_where_the_host_lays_them(
    views: Callable[[Tensor], list[Tensor]], known: bool
) -> None:
    def model(x: Tensor) -> list[Tensor]:
        return [torch.relu(view) for view in views(x)]

    x = torch.arange(24.0).reshape(4, 6)
    with torch.inference_mode(), OnHost() as host:
        model(x)
    assert len(host.offsets) == len(views(x))
    assert _relus(traced(model, x if known else x.to("meta"))) == host.offsets


def _relus(trace: Any) -> list[int | None]:
    used = [trace.nodes[trace.uses[use].node] for use in trace.sequence]
    return [n.tensors()[0][1].offset for n in used if str(n.op) == "aten::relu"]


def test_a_loop_over_steps_repeats_its_signatures() -> None:
    def model(x: Tensor) -> list[Tensor]:
        return [torch.relu(x[step]) for step in range(64)]

    trace = traced(model, torch.zeros(64, 8))
    offsets = [n.tensors()[0][1].offset for n in trace.nodes if str(n.op) == "aten::relu"]
    assert offsets == [0, 32, 64, 128, 256, 512]


def test_views_of_parameters_and_buffers_begin_where_they_do() -> None:
    class Sliced(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(6, 4))
            self.register_buffer("table", torch.zeros(9))

        def forward(self, x: Tensor) -> Tensor:
            return torch.relu(self.weight[2:]) + torch.relu(self.table[5:])  # type: ignore[index]

    assert _relus(traced(Sliced(), torch.zeros(4))) == [32, 4]


def test_a_view_handed_in_is_whole_on_the_device() -> None:
    whole = torch.zeros(4, 6)
    assert _relus(traced(torch.relu, whole[1:])) == [0]


def test_what_is_written_in_place_stays_where_it_is() -> None:
    def model(x: Tensor) -> Tensor:
        tail = x.relu()[1:]
        tail.add_(1)
        return torch.relu(tail)

    assert _relus(traced(model, torch.zeros(4, 6))) == [0, 8]


def test_a_step_of_training_has_the_offsets_too() -> None:
    class Halves(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 6)

        def forward(self, x: Tensor) -> Tensor:
            left, right = self.fc(x).chunk(2, dim=-1)
            found: Tensor = left.sum() + torch.relu(right).sum()
            return found

    step = Training(TrainingStep(), Registrations(frozenset()))
    trace = trace_model(Halves(), (torch.zeros(2, 4),), {}, device_type="npu", training=step)
    assert _relus(trace) == [4]


def test_the_result_of_a_view_says_where_it_begins() -> None:
    trace = traced(lambda x: x[1:], torch.zeros(4, 6))
    assert node(trace, "aten::slice.Tensor").outputs == (
        TensorMeta("float32", (3, 6), (6, 1), offset=8),
    )


@pytest.mark.parametrize(
    "nbytes, coarse",
    [
        (0, 0),
        (1, 1),
        (12, 4),
        (640, 128),
        (4096, 512),
        (2**32, 2**32 + 512),
        (2**32 + 2, 2**32 + 2),
    ],
)
def test_an_offset_keeps_what_kernels_look_at(nbytes: int, coarse: int) -> None:
    assert coarse_offset(nbytes) == coarse


def test_a_number_of_the_host_has_its_offset_too() -> None:
    sigmas = torch.linspace(1, 0, 8)
    trace = traced(lambda x: x * sigmas[3], torch.zeros(4))
    assert dict(node(trace, "aten::mul.Tensor").arguments)["other"] == TensorMeta(
        "float32", (), (), host=True, offset=4
    )
