"""What users met in what several processes send to each other."""

from tests.model_reports.report import Met, ModelReport, python

_HEAD = """
import torch
import torch.distributed as dist
from torch import nn

class Step(nn.Module):
    def forward(self, x):
        {body}

def model():
    if not dist.is_initialized():
        dist.init_process_group("{backend}", store=dist.HashStore(), rank=0, world_size=2)
    return Step(), ({inputs},)
"""
_INT16 = "torch.ones(4, dtype=torch.int16)"
FLOAT = "torch.ones(4)"


def step(body: str, inputs: str, backend: str = "fake") -> str:
    lines = "\n        ".join(body.split("; "))
    return _HEAD.format(body=lines, inputs=inputs, backend=backend)


_AVG = "dist.all_reduce(x, op=dist.ReduceOp.AVG); return x"

REPORTS = (
    ModelReport(
        "NCCL: int16 sent to all", "huggingface/accelerate#3295",
        "a buffer of int16: not supported for NCCL process group: Short",
        {"nvidia-a100@2.5.1": Met.REFUSED},
        python(step("dist.broadcast(x, 0); return x", _INT16)), ("c10d::broadcast",),
    ),
    ModelReport(
        "NCCL: int16 sent to one", "pytorch/pytorch#74734",
        "sending int16: unconvertible NCCL type Short",
        {"nvidia-a100@2.0.1": Met.REFUSED},
        python(step("dist.send(x, 1); return x", _INT16)), ("c10d::send",),
    ),
    ModelReport(
        "NCCL: int16 gathered", "pytorch/pytorch#42519",
        "all_gather of int16: unsupported data type",
        {"nvidia-a100@2.0.1": Met.REFUSED},
        python(step(
            "found = [torch.empty_like(x), torch.empty_like(x)]; dist.all_gather(found, x); "
            "return found", _INT16,
        )), ("c10d::allgather",),
    ),
    ModelReport(
        "NCCL: complex weights", "pytorch/pytorch#99518",
        "the weights of a complex convolution cannot be sent: NCCL has no type ComplexFloat",
        {"nvidia-a100@2.0.1": Met.REFUSED},
        python(step(
            "dist.broadcast(x, 0); return x", "torch.ones(1, 1, 1, dtype=torch.complex64)",
        )), ("c10d::broadcast",),
    ),
    ModelReport(
        "HCCL: booleans", "Ascend/pytorch#3",
        "booleans were refused by early releases, and are sent as bytes since",
        {"ascend-910b@5.0.0": Met.WORKS},
        python(step("dist.broadcast(x, 0); return x", "torch.ones(4, dtype=torch.bool)")),
        ("c10d::broadcast",),
    ),
    ModelReport(
        "XCCL: averages of integers", "intel/torch-xpu-ops#1508",
        "the average of int64 in a reduce_scatter of several tensors raises: Float to Long",
        {"intel-max@2.8.0": Met.REFUSED},
        python(step(
            "group = dist.group.WORLD.group_name; "
            "return torch.ops._c10d_functional.reduce_scatter_tensor_coalesced("
            "[x], 'avg', 2, group)", "torch.ones(4, dtype=torch.int64)",
        )), ("reduce_scatter",),
    ),
    ModelReport(
        "XCCL: averages on Arc", "intel/torch-xpu-ops#2361",
        "oneCCL: average operation is not supported for the scheduler path",
        {"intel-arc@2.9.1": Met.REFUSED}, python(step(_AVG, FLOAT)), ("c10d::allreduce",),
    ),
    ModelReport(
        "XLA: averages", "pytorch/xla#7782", "AVG is an invalid reduce op",
        {"google-tpu-v5e@r2.4": Met.REFUSED}, python(step(_AVG, FLOAT)), ("c10d::allreduce",),
    ),
    ModelReport(
        "NCCL: bitwise and", "pytorch/pytorch#42822",
        "BAND, BOR and BXOR are not available with NCCL",
        {"nvidia-a100@2.1.2": Met.REFUSED},
        python(step(
            "dist.all_reduce(x, op=dist.ReduceOp.BAND); return x",
            "torch.ones(4, dtype=torch.int32)",
        )), ("c10d::allreduce",),
    ),
    ModelReport(
        "XCCL: an average for one", "uxlfoundation/oneCCL#195",
        "oneCCL's reduce has no average",
        {"intel-max@2.11.0": Met.REFUSED},
        python(step("dist.reduce(x, 0, op=dist.ReduceOp.AVG); return x", FLOAT)),
        ("c10d::reduce",),
    ),
)  # fmt: skip
