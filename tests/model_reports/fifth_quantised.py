"""What users met with quantised checkpoints: the fifth sample.

Left out are servers with kernels of their own, builds of one's own, and threads that tell of the
same method, device and release as one that was taken before.
"""

from collections.abc import Mapping

from tests.model_reports.quantised import GPTQ, LLAMA, NF4, llama, qwen
from tests.model_reports.report import Met, ModelReport, config, python

_INT8 = {"quant_method": "bitsandbytes", "load_in_8bit": True}
_AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm", "zero_point": True}
_ROUND = {"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": True}


def torchao(
    kind: str, data: Mapping[str, object] | None = None, version: int = 1
) -> Mapping[str, object]:
    return {
        "quant_method": "torchao",
        "quant_type": {"default": {"_type": kind, "_version": version, "_data": data or {}}},
        "modules_to_not_convert": ["lm_head"],
    }


_DYNAMIC = torchao("Int8DynamicActivationInt8WeightConfig", version=2)
_INT4 = torchao("Int4WeightOnlyConfig", {"group_size": 128})
_UNPACKED = """
import torch
from torch import nn

class Awq(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(256, 32, dtype=torch.int32))
        self.register_buffer("zeros", torch.ones(2, 32, dtype=torch.int32))
        self.register_buffer("scales", torch.ones(2, 256, dtype=torch.float16))

    def forward(self, x):
        shifts = torch.tensor([0, 16, 4, 20, 8, 24, 12, 28], device=x.device)[None, None]
        weight = torch.bitwise_right_shift(self.weight[:, :, None], shifts).to(torch.int8)
        zeros = torch.bitwise_right_shift(self.zeros[:, :, None], shifts).to(torch.int8)
        weight = torch.bitwise_and(weight.view(256, -1), 15)
        zeros = torch.bitwise_and(zeros.view(2, -1), 15).repeat_interleave(128, dim=0)
        return x @ ((weight - zeros) * self.scales.repeat_interleave(128, dim=0))

def model():
    return Awq(), (torch.ones(4, 256, dtype=torch.float16),)
"""

REPORTS = (
    ModelReport(
        "MPS: 8 bits asked for in 2025", "bitsandbytes-foundation/bitsandbytes#252",
        "users ask in vain for bitsandbytes on Apple silicon, in January 2025",
        {"apple-mps@2.5.1": Met.REFUSED}, config(llama(_INT8)), ("bitsandbytes",),
    ),
    ModelReport(
        "Arc: int8 of torchao", "pytorch/ao#3061",
        "int8 of torchao runs on a B580 since 2.9, which brought _int_mm",
        {"intel-arc@2.9.1": Met.WORKS}, config(llama(_DYNAMIC)), ("torchao", "int8"),
    ),
    ModelReport(
        "MPS: int4 of torchao in transformers", "pytorch/ao#3446",
        "int4 of torchao does not work with transformers on a Mac, in December 2025",
        {"apple-mps@2.9.1": Met.REFUSED}, config(llama(_INT4)), ("torchao", "int4"),
    ),
    ModelReport(
        "XPU: the second version of int4", "pytorch/ao#3300",
        "Int4WeightOnlyConfig of version 2 does not work on XPUs, in November 2025",
        {"intel-max@2.9.1": Met.REFUSED},
        config(llama(torchao("Int4WeightOnlyConfig", {"group_size": 128}, 2))),
        ("torchao", "int4"),
    ),
    ModelReport(
        "Ascend: nf4 on an Atlas 300T A2", "bitsandbytes-foundation/bitsandbytes#1465",
        "shapes do not match where a model in 4 bits runs on an NPU, in December 2024",
        {"ascend-910b@6.0.0": Met.REFUSED}, config(qwen(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "RX 7900: 8 bits of Llama 2", "meta-llama/llama-cookbook#242",
        "bitsandbytes does not support AMD GPUs yet, of an RX 7900 XTX in October 2023",
        {"amd-rx7900xt@2.1.2": Met.REFUSED}, config(llama(_INT8)), ("bitsandbytes",),
    ),
    ModelReport(
        "Ascend: AWQ, or anything else", "modelscope/ms-swift#1234",
        "neither AWQ and GPTQ nor bitsandbytes run on NPUs, in July 2024",
        {"ascend-910b@5.0.0": Met.REFUSED}, config(qwen(_AWQ)), ("awq",),
    ),
    ModelReport(
        "A100: 8 bits of GPTQ", "hiyouga/LlamaFactory#6044",
        "Qwen2.5-32B-Instruct-GPTQ-Int8 loads on an A100 once its libraries are there",
        {"nvidia-a100@2.2.2": Met.WORKS}, config(qwen({**GPTQ, "bits": 8})), ("gptq",),
    ),
    ModelReport(
        "MI300X: int8 weights of torchao", "pytorch/ao#4131",
        "int8 and float8 weights pass torchao's tests on an MI300X, in March 2026",
        {"amd-mi300x@2.11.0": Met.WORKS},
        config(llama(torchao("Int8WeightOnlyConfig", version=2))), ("torchao", "int8"),
    ),
    ModelReport(
        "MPS and ROCm: GPTQ by GPTQModel", "huggingface/transformers#35012",
        "GPTQModel in transformers runs on ROCm and on Apple silicon, since January 2025",
        {"apple-mps@2.6.0": Met.WORKS, "amd-mi250@2.6.0": Met.WORKS}, config(llama(GPTQ)),
        ("gptq",),
    ),
    ModelReport(
        "RX 7900XT: 8 bits with ROCm 6.2", "bitsandbytes-foundation/bitsandbytes#1428",
        "cublasLt ran into an error with 8 bits, where 4 bits have no problem",
        {"amd-rx7900xt@2.5.1": Met.REFUSED}, config(qwen(_INT8)), ("bitsandbytes",),
    ),
    ModelReport(
        "RX 7900: 4 bits with blocks of 64", "unslothai/unsloth#3748",
        "4 bits in blocks of 64 run on Radeon GPUs, in December 2025",
        {"amd-rx7900xt@2.9.1": Met.WORKS}, config(llama(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "MPS: AWQ unpacked by PyTorch", "casper-hansen/AutoAWQ#319",
        "AWQ unpacked by PyTorch's own operators runs on CUDA, MPS and CPU, in January 2024",
        {"apple-mps@2.2.2": Met.WORKS}, python(_UNPACKED), ("awq",),
    ),
    ModelReport(
        "Orin: nf4 by the wheel of PyPI", "bitsandbytes-foundation/bitsandbytes#1930",
        "named symbol not found in quantize_4bit: the wheel for aarch64 has no code for sm_87",
        {"nvidia-orin@2.5.1": Met.REFUSED}, config(qwen(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "XPU: AutoRound", "huggingface/transformers#37393",
        "AutoRound came to transformers for CUDA, CPU and XPU in April 2025",
        {"intel-max@2.7.1": Met.WORKS, "nvidia-a100@2.7.1": Met.WORKS},
        config({**LLAMA, "quantization_config": _ROUND}), ("auto-round", "autoround", "auto_round"),
    ),
    ModelReport(
        "A6000: int8 of torchao", "OpenVDN/vdn-minimax-h3#7",
        "Int8DynamicActivationInt8Weight works from sm80 on, also on an A6000",
        {"nvidia-a100@2.13.0": Met.WORKS}, config(llama(_DYNAMIC)), ("torchao", "int8"),
    ),
)  # fmt: skip
