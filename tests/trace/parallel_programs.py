"""Models as users write them for several processes; each function opens what it needs."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn import functional

Made = tuple[nn.Module, tuple[Tensor, ...]]


class Reduce(torch.autograd.Function):
    """The sum over all processes; its gradient is as it comes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        x = x.contiguous()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad


class Copy(torch.autograd.Function):
    """The other way round."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        grad = grad.contiguous()
        dist.all_reduce(grad)
        return grad


class Megatron(nn.Module):
    """A column and a row layer, written by hand."""

    def __init__(self) -> None:
        super().__init__()
        n = dist.get_world_size()
        self.norm = nn.LayerNorm(8)
        self.column = nn.Parameter(torch.randn(32 // n, 8))
        self.row = nn.Parameter(torch.randn(8, 32 // n))

    def forward(self, x: Tensor) -> Tensor:
        copied: Any = getattr(Copy, "apply")  # noqa: B009  # untyped
        reduced: Any = getattr(Reduce, "apply")  # noqa: B009  # untyped
        x = functional.gelu(functional.linear(copied(self.norm(x)), self.column))
        out: Tensor = reduced(functional.linear(x, self.row))
        return out


def by_hand() -> Made:
    dist.init_process_group("nccl", world_size=4, rank=1)
    return Megatron(), (torch.randn(2, 8),)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 32), nn.Linear(32, 8)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(functional.silu(self.up(x)))
        return x + out


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.head = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        out: Tensor = self.head(x)
        return out


def _in_rows_and_columns(model: Net, mesh: DeviceMesh) -> Net:
    for layer in model.layers:
        parallelize_module(layer, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return model


def tensor_parallel() -> Made:
    mesh = init_device_mesh("cuda", (2,))
    model = _in_rows_and_columns(Net(), mesh)
    head = ColwiseParallel(output_layouts=Replicate())
    parallelize_module(model, mesh, {"head": head})
    return model, (torch.randn(2, 8),)


class Distributes(nn.Module):
    """Makes its mesh and its parts itself, and puts them together in its forward."""

    def __init__(self) -> None:
        super().__init__()
        self.mesh = init_device_mesh("npu", (4,))
        self.weight = nn.Parameter(distribute_tensor(torch.randn(32, 8), self.mesh, [Shard(0)]))

    def forward(self, x: Tensor) -> Tensor:
        given = distribute_tensor(x, self.mesh, [Replicate()])
        y: Any = functional.linear(given, self.weight).relu()
        out: Tensor = y.redistribute(self.mesh, [Replicate()]).to_local()
        return out


def in_forward() -> Made:
    return Distributes(), (torch.randn(2, 8),)


def whole_module() -> Made:
    mesh = init_device_mesh("cuda", (2,))

    def part(name: str, module: nn.Module, mesh: DeviceMesh) -> None:
        for key, value in list(module.named_parameters(recurse=False)):
            module.register_parameter(key, nn.Parameter(distribute_tensor(value, mesh, [Shard(0)])))

    given: Any = lambda _, given, mesh: DTensor.from_local(given[0], mesh, [Replicate()])  # noqa: E731
    model: nn.Module = distribute_module(
        nn.Linear(8, 32), mesh, part,
        input_fn=given,
        output_fn=lambda _, made, mesh: made.full_tensor(),
    )  # fmt: skip
    return model, (torch.randn(2, 8),)


def sharded() -> Made:
    mesh = init_device_mesh("cuda", (2,))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = Net()
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model, (torch.randn(2, 8),)


def both() -> Made:
    mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("dp", "tp"))
    model = _in_rows_and_columns(Net(), mesh["tp"])
    fully_shard(model, mesh=mesh["dp"])
    return model, (torch.randn(2, 8),)


class Staged(nn.Module):
    """One stage of two, run by a schedule."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.part = nn.Linear(8, 8)
        given = torch.randn(2, 8)
        self.stage = PipelineStage(
            self.part, index, 2, torch.device("cuda"), input_args=given, output_args=given
        )
        self.schedule = ScheduleGPipe(self.stage, n_microbatches=2)

    def forward(self, x: Tensor) -> Any:
        return self.schedule.step(x) if self.stage.is_first else self.schedule.step()


def first_stage() -> Made:
    dist.init_process_group("nccl", world_size=2, rank=0)
    return Staged(0), (torch.randn(4, 8),)


def last_stage() -> Made:
    dist.init_process_group("nccl", world_size=2, rank=1)
    return Staged(1), (torch.randn(4, 8),)


class Ring(nn.Module):
    """Hands what it has on to the next process, as ring attention does."""

    def forward(self, x: Tensor) -> Tensor:
        got = torch.empty_like(x)
        n, own = dist.get_world_size(), dist.get_rank()
        works = dist.batch_isend_irecv(
            [dist.P2POp(dist.isend, x, (own + 1) % n), dist.P2POp(dist.irecv, got, (own - 1) % n)]
        )
        for work in works:
            work.wait()
        return x + got


def ring() -> Made:
    dist.init_process_group("nccl", world_size=3, rank=1)
    return Ring(), (torch.randn(4, 8),)


class Experts(nn.Module):
    """Sends tokens to the process of their expert, and back."""

    def __init__(self) -> None:
        super().__init__()
        self.expert = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        there, back = torch.empty_like(x), torch.empty_like(x)
        dist.all_to_all_single(there, x)
        dist.all_to_all_single(back, self.expert(there))
        return back


def experts() -> Made:
    dist.init_process_group("nccl", world_size=2, rank=0)
    return Experts(), (torch.randn(4, 8, dtype=torch.bfloat16).float(),)
