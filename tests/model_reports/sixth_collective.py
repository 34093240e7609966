"""What users met in what several processes send to each other: the sixth sample.

Left out are threads in which ranks differ in what they send, libraries beside PyTorch's own, and
those that tell the same of a device and a release as one that was taken before.
"""

from tests.model_reports.collective import FLOAT, step
from tests.model_reports.report import Met, ModelReport, python

_AVERAGE = "dist.all_reduce(x, op=dist.ReduceOp.AVG); return x"
_SCALED = (
    "found = torch.empty(2, device=x.device); "
    "dist.reduce_scatter_tensor(found, x, op=dist._make_nccl_premul_sum(0.5)); return found"
)
_ALL = "found = [torch.empty_like(x), torch.empty_like(x)]; dist.all_gather(found, x); return found"
_ONE = (
    "found = [torch.empty_like(x), torch.empty_like(x)]; dist.gather(x, found, dst=0); return found"
)
_TO_ONE = "dist.reduce(x, 0); return x"

REPORTS = (
    ModelReport(
        "HCCL: averages", "DeepLink-org/ditorch#74",
        "the 910B does not support averages in collectives, in October 2024",
        {"ascend-910b@6.0.0": Met.REFUSED}, python(step(_AVERAGE, FLOAT)), ("c10d::allreduce",),
    ),
    ModelReport(
        "HCCL: sums of scaled terms", "ByteDance-Seed/VeOmni#241",
        "HCCL has no PreMulSum, which FSDP2's divide factor needs, in December 2025",
        {"ascend-910b@7.3.0": Met.REFUSED}, python(step(_SCALED, FLOAT)),
        ("c10d::reduce_scatter", "c10d::_reduce_scatter_base"),
    ),
    ModelReport(
        "Arc: DDP in 2024", "intel/torch-xpu-ops#986",
        "c10d::allgather_ is not implemented for XPU: DDP on an A770, in October 2024",
        {"intel-arc@2.5.1": Met.REFUSED}, python(step(_ALL, FLOAT)), ("c10d::",),
    ),
    ModelReport(
        "XLA: sums for one", "pytorch/xla#5022",
        "XLA does not seem to support reduce, in May 2023",
        {"google-tpu-v4@r2.0": Met.REFUSED}, python(step(_TO_ONE, FLOAT)), ("c10d::reduce",),
    ),
    ModelReport(
        "NCCL: averages of booleans", "pytorch/pytorch#191978",
        "ProcessGroupNCCL rejects an average of booleans, which NCCL2 does from August 2026",
        {"nvidia-h100@2.13.0": Met.REFUSED},
        python(step(_AVERAGE, "torch.ones(4, dtype=torch.bool)")), ("c10d::allreduce",),
    ),
    ModelReport(
        "HCCL: a checkpoint of FSDP in 2023", "huggingface/transformers#27120",
        "ProcessGroupHCCL does not support gather, where FSDP saves, in October 2023",
        {"ascend-910b@5.0.0": Met.REFUSED}, python(step(_ONE, FLOAT)), ("c10d::gather",),
    ),
)  # fmt: skip
