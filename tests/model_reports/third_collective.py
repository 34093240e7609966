"""What users met in what several processes send to each other: the third sample.

Left out are threads in which ranks differ in what they send, which one process does not show.
"""

from tests.model_reports.collective import FLOAT, step
from tests.model_reports.report import Met, ModelReport, python

_COMPLEX = "torch.ones(4, dtype=torch.complex64)"
_SCATTER = (
    "found = torch.empty(2, dtype=x.dtype, device=x.device); "
    "dist.reduce_scatter_tensor(found, x, op=dist.ReduceOp.AVG); return found"
)
_EXCHANGE = "found = torch.empty_like(x); dist.all_to_all_single(found, x); return found"
_GATHER = (
    "found = torch.empty(8, dtype=x.dtype, device=x.device); "
    "dist.all_gather_into_tensor(found, x); return found"
)
_TRAINED = """
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.nn.functional import _all_gather_base

class Gathered(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        return _all_gather_base(torch.empty(4, 4, dtype=y.dtype, device=y.device), y)

def model():
    if not dist.is_initialized():
        dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=2)
    return Gathered(), (torch.ones(2, 4),)
"""

REPORTS = (
    ModelReport(
        "XCCL: sums of scaled terms", "intel/torch-xpu-ops#1571",
        "Cannot use ReduceOp.PREMUL_SUM with XCCL, in April 2025",
        {"intel-max@2.8.0": Met.REFUSED},
        python(step("dist.all_reduce(x, op=dist._make_nccl_premul_sum(0.5)); return x", FLOAT)),
        ("c10d::allreduce",),
    ),
    ModelReport(
        "XPU: no collectives before XCCL", "intel/torch-xpu-ops#1328",
        "No backend type associated with device type xpu, on a GPU Max in January 2025",
        {"intel-max@2.6.0": Met.REFUSED}, python(step(_GATHER, FLOAT)),
        ("c10d::_allgather_base",),
    ),
    ModelReport(
        "XCCL: the gradient of a gather", "pytorch/pytorch#168213",
        "the backward pass of _all_gather_base raises with XCCL: Backend not supported",
        {"intel-max@2.9.1": Met.REFUSED}, python(_TRAINED),
        ("c10d::_allgather_base", "_reduce_scatter_base", "_AllGatherBase", "not supported"),
        training=True,
    ),
    ModelReport(
        "RCCL: averages of bfloat16", "ROCm/rocm-systems#9054",
        "reduce_scatter with AVG is right on an MI250X with 2.10, though slower than a sum",
        {"amd-mi250@2.10.0": Met.WORKS},
        python(step(_SCATTER, "torch.ones(4).bfloat16()")), ("c10d::_reduce_scatter_base",),
    ),
    ModelReport(
        "XLA: exchanged", "pytorch/xla#8064",
        "dist.all_to_all_single is supported since September 2024",
        {"google-tpu-v5e@r2.6": Met.WORKS}, python(step(_EXCHANGE, FLOAT)),
        ("c10d::alltoall_base",),
    ),
    ModelReport(
        "XLA: sent to one", "pytorch/xla#9373",
        "send raises NotImplementedError until a change of June 2025, which came with 2.9",
        {"google-tpu-v5e@r2.7": Met.REFUSED, "google-tpu-v5e@r2.9": Met.WORKS},
        python(step("dist.send(x, 1); return x", FLOAT)), ("c10d::send",),
    ),
    ModelReport(
        "NCCL: complex numbers sent to one", "pytorch/pytorch#121240",
        "Unconvertible NCCL type ComplexFloat, until March 2024",
        {"nvidia-a100@2.2.2": Met.REFUSED, "nvidia-a100@2.4.1": Met.WORKS},
        python(step("dist.send(x, 1); return x", _COMPLEX)), ("c10d::send",),
    ),
)  # fmt: skip
