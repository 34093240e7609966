"""What users met in what several processes send to each other: the fifth sample.

Left out are threads in which ranks differ in what they send, and libraries beside PyTorch's own.
"""

from tests.model_reports.collective import FLOAT, step
from tests.model_reports.report import Met, ModelReport, python

_SUM = "dist.all_reduce(x); return x"
_GATHER = (
    "found = [torch.empty_like(x), torch.empty_like(x)]; dist.gather(x, found, dst=0); return found"
)
_SCATTER = "found = torch.empty_like(x); dist.scatter(found, [x, x.clone()], src=0); return found"
_PARTS = "found = torch.empty_like(x); dist.reduce_scatter(found, [x, x.clone()]); return found"
_SENT = "dist.broadcast(x, 0); return x"
_BOOLEAN = "torch.ones(4, dtype=torch.bool)"
_FLOAT8 = "torch.ones(4).to(torch.float8_e4m3fn)"

REPORTS = (
    ModelReport(
        "MPS: by Gloo", "pytorch/pytorch#160732",
        "Gloo takes tensors of CPUs and CUDA alone, on an M1 Pro with 2.5.1",
        {"apple-mps@2.5.1": Met.REFUSED}, python(step(_GATHER, FLOAT)), ("c10d::",),
    ),
    ModelReport(
        "MPS: weights sent by DDP", "Lightning-AI/pytorch-lightning#16148",
        "the MPS back end does not support torch.distributed, in December 2022",
        {"apple-mps@2.0.1": Met.REFUSED}, python(step(_SENT, FLOAT)), ("c10d::",),
    ),
    ModelReport(
        "MPS: sums in 2026", "pytorch/pytorch#189853",
        "collectives of MPS tensors hit the dispatcher's fallback, in July 2026",
        {"apple-mps@2.13.0": Met.REFUSED}, python(step(_SUM, FLOAT)), ("c10d::",),
    ),
    ModelReport(
        "MPS: no default back end", "pytorch/pytorch#149537",
        "We don't know which communication backend to use for mps, on an M2 Ultra with 2.6.0",
        {"apple-mps@2.6.0": Met.REFUSED}, python(step(_SUM, FLOAT)), ("c10d::",),
    ),
    ModelReport(
        "XLA: scattered", "pytorch/xla#9365",
        "scatter is not implemented; a change of June 2025 would give it",
        {"google-tpu-v5e@r2.7": Met.REFUSED}, python(step(_SCATTER, FLOAT)), ("c10d::scatter",),
    ),
    ModelReport(
        "XLA: gathered by one", "pytorch/xla#9069",
        "gather and scatter are not implemented, with 2.7",
        {"google-tpu-v5e@r2.7": Met.REFUSED}, python(step(_GATHER, FLOAT)), ("c10d::gather",),
    ),
    ModelReport(
        "HCCL: gathered by one", "sgl-project/sgl-kernel-npu#669",
        "hccl does not support dist.gather, in August 2026",
        {"ascend-910b@26.1.0": Met.REFUSED}, python(step(_GATHER, FLOAT)), ("c10d::gather",),
    ),
    ModelReport(
        "oneCCL's bindings: reduce_scatter", "intel/intel-extension-for-pytorch#647",
        "ProcessGroupCCL does not support reduce_scatter, on Aurora in June 2024",
        {"intel-max@2.4.1": Met.REFUSED}, python(step(_PARTS, FLOAT)), ("c10d::reduce_scatter",),
    ),
    ModelReport(
        "XCCL: sums", "intel/torch-xpu-ops#1105",
        "XCCL is a back end of torch.distributed, built by default",
        {"intel-max@2.8.0": Met.WORKS}, python(step(_SUM, FLOAT)), ("c10d::allreduce",),
    ),
    ModelReport(
        "XCCL: sums of scaled terms in 2026", "intel/torch-xpu-ops#3173",
        "PREMUL_SUM came to XCCL at the end of March 2026",
        {"intel-max@2.13.0": Met.WORKS},
        python(step("dist.all_reduce(x, op=dist._make_nccl_premul_sum(0.5)); return x", FLOAT)),
        ("c10d::allreduce",),
    ),
    ModelReport(
        "XCCL: sent to all", "intel/torch-xpu-ops#1202",
        "broadcast, allgather, reduce_scatter and barrier came to XCCL in the first days of 2025",
        {"intel-max@2.8.0": Met.WORKS}, python(step(_SENT, FLOAT)), ("c10d::broadcast",),
    ),
    ModelReport(
        "NCCL: sums of float8", "pytorch/pytorch#148344",
        "Float8 dtypes are not currently supported for NCCL reductions, in March 2025",
        {"nvidia-h100@2.6.0": Met.REFUSED}, python(step(_SUM, _FLOAT8)), ("c10d::allreduce",),
    ),
    ModelReport(
        "NCCL: booleans sent to all", "pytorch/pytorch#24137",
        "booleans were refused by 1.2.0, and are sent as bytes since July 2020",
        {"nvidia-a100@2.0.1": Met.WORKS}, python(step(_SENT, _BOOLEAN)), ("c10d::broadcast",),
    ),
    ModelReport(
        "NCCL: sums of booleans", "pytorch/pytorch#41318",
        "a sum of booleans is their maximum since July 2020",
        {"nvidia-a100@2.0.1": Met.WORKS}, python(step(_SUM, _BOOLEAN)), ("c10d::allreduce",),
    ),
)  # fmt: skip
