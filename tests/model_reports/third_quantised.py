"""What users met with quantised checkpoints: the third sample.

Left out are the checks of servers such as vLLM, which have kernels of their own.
"""

from tests.model_reports.quantised import LLAMA, OSS, llama, qwen
from tests.model_reports.report import Met, ModelReport, config, python

_AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm", "zero_point": True}
_LLM_AWQ = {**_AWQ, "version": "gemv", "backend": "llm-awq"}
_QUANTO = {"quant_method": "quanto", "weights": "int8", "modules_to_not_convert": ["lm_head"]}
_INT8 = """
import torch
from torch import nn

class Int8(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(64, 64, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(64))

    def forward(self, x):
        step = x.abs().amax(-1, keepdim=True) / 127
        whole = torch.clamp(torch.round(x / step), -128, 127).to(torch.int8)
        return torch._int_mm(whole, self.weight.t()).to(x.dtype) * step * self.scale

def model():
    return Int8(), (torch.randn(32, 64),)
"""

REPORTS = (
    ModelReport(
        "T4: kernels of llm-awq", "NVlabs/VILA#45",
        "Feature '.m16n8k16' requires .target sm_80 or higher, in May 2024",
        {"nvidia-t4@2.3.1": Met.REFUSED}, config(llama(_LLM_AWQ)), ("awq",),
    ),
    ModelReport(
        "MPS: products of int8", "MiniMax-AI/MiniMax-H3#56",
        "'aten::_int_mm' is not currently implemented for the MPS device, with 2.13",
        {"apple-mps@2.13.0": Met.REFUSED}, python(_INT8), ("_int_mm",),
    ),
    ModelReport(
        "MPS: int8 of quanto", "deepbeepmeep/Wan2GP#1775",
        "commit an already committed command buffer: int8 weights of quanto crash, in May 2026",
        {"apple-mps@2.11.0": Met.REFUSED}, config(qwen(_QUANTO)), ("quanto",),
    ),
    ModelReport(
        "Turing and Ada: gpt-oss", "huggingface/transformers#39940",
        "MXFP4 is tested on an RTX 4090 and a T4, in August 2025",
        {"nvidia-rtx4090@2.8.0": Met.WORKS, "nvidia-t4@2.8.0": Met.WORKS}, config(OSS),
        ("mxfp4",),
    ),
    ModelReport(
        "XPU: AWQ by Triton", "huggingface/transformers#39443",
        "AWQ runs on XPUs by AutoAWQ's kernels in Triton, since July 2025",
        {"intel-max@2.8.0": Met.WORKS}, config({**LLAMA, "quantization_config": _AWQ}), ("awq",),
    ),
)  # fmt: skip
