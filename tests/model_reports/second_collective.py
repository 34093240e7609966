"""What users met in what several processes send to each other: the second sample."""

from tests.model_reports.collective import FLOAT, step
from tests.model_reports.report import Met, ModelReport, python

_FLOAT8 = "torch.ones(4).to(torch.float8_e4m3fn)"
_BOOL = "torch.ones(4, dtype=torch.bool)"
_GATHER = (
    "found = torch.empty(8, dtype=x.dtype, device=x.device); "
    "dist.all_gather_into_tensor(found, x); return found"
)

REPORTS = (
    ModelReport(
        "NCCL: float8 added up", "pytorch/pytorch#152706",
        "Float8 dtypes are not supported for NCCL reductions, until May 2025",
        {"nvidia-h100@2.6.0": Met.REFUSED, "nvidia-h100@2.8.0": Met.WORKS},
        python(step("dist.all_reduce(x); return x", _FLOAT8)), ("c10d::allreduce",),
    ),
    ModelReport(
        "NCCL: float8 gathered on an A100", "pytorch/pytorch#151594",
        "NCCL refuses to gather float8 below sm90: FP8 reduction support begins there",
        {"nvidia-a100@2.8.0": Met.REFUSED}, python(step(_GATHER, _FLOAT8)),
        ("c10d::_allgather_base",),
    ),
    ModelReport(
        "NCCL: float8 gathered as bytes", "pytorch/pytorch#126556",
        "float8 has no type of NCCL, until it is sent as bytes from May 2024 on",
        {"nvidia-a100@2.3.1": Met.REFUSED, "nvidia-a100@2.4.1": Met.WORKS},
        python(step(_GATHER, _FLOAT8)), ("c10d::_allgather_base",),
    ),
    ModelReport(
        "NCCL: booleans added up", "pytorch/pytorch#41959",
        "booleans are reduced as bytes, their sum as a maximum, since 2020",
        {"nvidia-a100@2.0.1": Met.WORKS},
        python(step("dist.all_reduce(x); return x", _BOOL)), ("c10d::allreduce",),
    ),
    ModelReport(
        "XCCL: complex numbers sent to all", "intel/torch-xpu-ops#1439",
        "complex numbers are sent as pairs of real ones since March 2025",
        {"intel-max@2.8.0": Met.WORKS},
        python(step("dist.broadcast(x, 0); return x", "torch.ones(4, dtype=torch.complex64)")),
        ("c10d::broadcast",),
    ),
    ModelReport(
        "MPS: Gloo", "pytorch/pytorch#173808",
        "operators of c10d are not implemented for MPS, and wrong by its fallback",
        {"apple-mps@2.10.0": Met.REFUSED},
        python(step("dist.broadcast(x, 0); return x", FLOAT)), ("c10d::broadcast",),
    ),
    ModelReport(
        "XLA: gathered into one", "pytorch/xla#7860",
        "dist.all_gather_into_tensor is supported since August 2024",
        {"google-tpu-v5e@r2.5": Met.WORKS}, python(step(_GATHER, FLOAT)),
        ("c10d::_allgather_base",),
    ),
)  # fmt: skip
