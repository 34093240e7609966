"""What users met in what several processes send to each other: the seventh sample.

Left out are threads in which ranks differ in what they send, those in which a call never returns,
libraries beside PyTorch's own, and those that tell the same of a device and a release as one that
was taken before.
"""

from tests.model_reports.collective import FLOAT, step
from tests.model_reports.report import Met, ModelReport, python

_LONG = "torch.ones(4, dtype=torch.int64)"
_ALL = "found = [torch.empty_like(x), torch.empty_like(x)]; dist.all_gather(found, x); return found"
_OBJECTS = "objects = ['2023']; dist.broadcast_object_list(objects, src=0); return x"
_TRAINED = "dist.broadcast(x, 0); dist.all_reduce(x); return x / 2"
_GLOO = """
import torch
import torch.distributed as dist
from torch import nn

class Step(nn.Module):
    def forward(self, x):
        dist.all_reduce(x)
        return x

def model():
    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    return Step(), (torch.ones(4),)
"""

REPORTS = (
    ModelReport(
        "HCCL: by Gloo", "modelscope/ms-swift#9331",
        "No backend type associated with device type npu: Gloo in place of HCCL, in May 2026",
        {"ascend-910b@26.0.0": Met.REFUSED}, python(_GLOO), ("c10d::", "gloo"),
    ),
    ModelReport(
        "Gaudi: int64", "HabanaAI/vllm-fork#1495",
        "the HCCL of Gaudi does not support int64, in June 2025",
        {"habana-gaudi2@1.19.0": Met.REFUSED}, python(step(_ALL, _LONG)), ("c10d::allgather",),
    ),
    ModelReport(
        "HCCL: scales of MXFP8", "vllm-project/vllm-ascend#9879",
        "HCCL sends no float8_e8m0fnu from one to one, on a 950 in June 2026",
        {"ascend-950@26.0.0": Met.REFUSED},
        python(step(
            "dist.send(x, 1); return x", "torch.ones(4, dtype=torch.uint8).view("
            "torch.float8_e8m0fnu)",
        )), ("c10d::send",),
    ),
    ModelReport(
        "XLA: objects sent to all", "pytorch/xla#5492",
        "broadcast_object_list raises with PJRT on a TPU, in August 2023",
        {"google-tpu-v4@r2.0": Met.REFUSED}, python(step(_OBJECTS, FLOAT)), ("c10d::broadcast",),
    ),
    ModelReport(
        "XCCL: addresses sent to all", "saforem2/ezpz#211",
        "a broadcast at the start runs on Aurora with 2.10 and on A100s with 2.8",
        {"intel-max@2.10.0": Met.WORKS, "nvidia-a100@2.8.0": Met.WORKS},
        python(step("dist.broadcast(x, 0); return x", _LONG)), ("c10d::broadcast",),
    ),
    ModelReport(
        "HCCL: YOLO, trained", "ultralytics/ultralytics#25500",
        "YOLO trains on several Ascend NPUs by HCCL, in July 2026",
        {"ascend-910b@26.1.0": Met.WORKS}, python(step(_TRAINED, FLOAT)), ("c10d::",),
    ),
    ModelReport(
        "Orin: sums", "NVIDIA/nccl#1561",
        "the wheel of 2.1 for Jetson has no torch.distributed, and that of 1.11 no NCCL",
        {"nvidia-orin@2.1.2": Met.REFUSED},
        python(step("dist.all_reduce(x); return x", FLOAT)), ("c10d::allreduce", "nccl"),
    ),
    ModelReport(
        "MPS: DDP of YOLO", "ultralytics/ultralytics#15701",
        "ProcessGroupGloo::allgather: invalid tensor type, of integers on MPS in August 2024",
        {"apple-mps@2.4.1": Met.REFUSED}, python(step(_ALL, _LONG)), ("c10d::allgather",),
    ),
)  # fmt: skip
