"""A step of one of several processes: its collectives, compared with the vendors' backends."""

from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from msgspec.structs import replace
from torch import nn

import opcheck
from opcheck.commands.emulate.answer import emulate
from opcheck.errors import EmulationError
from opcheck.model.emulation import EmulationRequest
from opcheck.model.report import Finding, TargetReport
from opcheck.model.request import ModelSpec, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Phase, Trace
from opcheck.model.verdict import Verdict
from opcheck.trace.run import trace_model
from opcheck.trace.running.distributed import among_processes
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep


class Layers(nn.Module):
    def __init__(self, norm: type[nn.Module] = nn.BatchNorm1d) -> None:
        super().__init__()
        self.norm = norm(8)
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 4)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x)
        return x


def traced(model: nn.Module, wrap: str, **options: object) -> Trace:
    step = TrainingStep(wrap=wrap, **options)  # type: ignore[arg-type]  # options of a step
    training = Training(step, Registrations(frozenset()))
    return trace_model(model, (torch.ones(2, 8),), {}, device_type="npu", training=training)


def collectives(trace: Trace) -> dict[tuple[str, Phase], int]:
    counts: dict[tuple[str, Phase], int] = {}
    for use in trace.uses:
        op = trace.nodes[use.node].op
        if op.namespace in ("c10d", "_c10d_functional"):
            key = (str(op), use.phase)
            counts[key] = counts.get(key, 0) + use.count
    return counts


def test_ddp_sends_buffers_before_the_forward_and_gradients_in_backward() -> None:
    trace = traced(Layers(), "ddp")
    assert trace.gaps == ()
    assert collectives(trace) == {
        ("c10d::allgather_", Phase.FORWARD): 1,  # whether all processes have the same parameters
        ("c10d::broadcast_", Phase.FORWARD): 5,  # parameters, buffers of two dtypes; these again
        ("c10d::allreduce_", Phase.BACKWARD): 1,
    }


def test_fully_shard_gathers_each_layer_twice_and_scatters_its_gradients() -> None:
    trace = traced(Layers(), "fsdp2")
    assert trace.gaps == ()
    sent = collectives(trace)
    assert sent[("c10d::_allgather_base_", Phase.FORWARD)] == 3  # two layers and the rest
    assert sent[("c10d::_allgather_base_", Phase.BACKWARD)] >= 1
    assert sent[("c10d::_reduce_scatter_base_", Phase.BACKWARD)] == 3
    assert "fsdp" not in {node.op.namespace for node in trace.nodes}


def test_clipping_what_is_sharded_reduces_the_norm() -> None:
    sent = collectives(traced(Layers(), "fsdp2", clip=1.0))
    assert sent[("_c10d_functional::all_reduce", Phase.OPTIMIZER)] == 1


def test_batch_norm_among_processes_gathers_statistics() -> None:
    trace = traced(Layers(nn.SyncBatchNorm), "ddp")
    assert trace.gaps == ()
    assert collectives(trace)[("c10d::_allgather_base_", Phase.FORWARD)] == 1
    ops = {str(node.op) for node in trace.nodes}
    assert {"aten::batch_norm_gather_stats_with_counts", "aten::batch_norm_backward_reduce"} <= ops


def test_no_process_group_is_left_behind() -> None:
    traced(Layers(), "ddp")
    assert not dist.is_initialized()


def test_a_module_that_is_wrapped_already_is_scanned_as_such() -> None:
    with among_processes():
        trace = traced(nn.parallel.DistributedDataParallel(nn.Linear(8, 4)), "")
        assert dist.is_initialized()
    assert collectives(trace)[("c10d::allreduce_", Phase.BACKWARD)] == 1


def scanned(wrap: str, *targets: str) -> tuple[TargetReport, ...]:
    step = [f"wrap={wrap}"]
    return opcheck.scan(Layers(), torch.ones(2, 8), targets=list(targets), step=step).targets


def finding(report: TargetReport, op: str) -> Finding:
    return next(f for f in report.findings if f.op == op)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "verdict", "code"),
    [
        ("ascend-910b", Verdict.NATIVE, "collective-of-backend"),
        ("cambricon-mlu590", Verdict.NATIVE, "collective-of-backend"),
        ("moorethreads-s4000", Verdict.NATIVE, "collective-of-backend"),
        ("moorethreads-s80", Verdict.UNSUPPORTED, "no-collective"),
        ("apple-mps", Verdict.UNSUPPORTED, "no-collective"),
        ("apple-mps@2.13.0", Verdict.UNSUPPORTED, "no-collective"),
        ("nvidia-a100@2.13.0", Verdict.NATIVE, "collective-of-backend"),
    ],
)
def test_each_backend_is_asked_for_what_its_vendor_says_it_has(
    target: str, verdict: Verdict, code: str
) -> None:
    (report,) = scanned("ddp", target)
    found = finding(report, "c10d::allreduce_")
    assert (found.verdict, found.reason.code) == (verdict, code)
    assert bool(found.evidence) == (verdict is not Verdict.UNKNOWN)


@pytest.mark.slow
def test_what_is_sharded_has_no_values(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "import torch\ndef net():\n    return torch.nn.Linear(2, 2), (torch.ones(1, 2),)\n"
    )
    step = TrainingSpec(wrap="fsdp2")
    request = EmulationRequest(ModelSpec(f"{file}:net", step=step), TargetSpec.parse("ascend-910b"))
    request = replace(request, values=True)
    with pytest.raises(EmulationError, match="the other process holds half of each parameter"):
        emulate(request)


PARTS = """
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module


def by_columns():
    mesh = init_device_mesh("cuda", (2,))
    return parallelize_module(torch.nn.Linear(2, 2), mesh, ColwiseParallel()), (torch.ones(1, 2),)


def sharded():
    mesh = init_device_mesh("cuda", (2,))
    return fully_shard(torch.nn.Linear(2, 2), mesh=mesh), (torch.ones(1, 2),)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["by_columns", "sharded"])
def test_a_model_in_parts_is_not_emulated(tmp_path: Path, name: str) -> None:
    file = tmp_path / "net.py"
    file.write_text(PARTS)
    request = EmulationRequest(ModelSpec(f"{file}:{name}"), TargetSpec.parse("ascend-910b"))
    with pytest.raises(EmulationError, match="other processes hold parts of the parameters of"):
        emulate(request)
