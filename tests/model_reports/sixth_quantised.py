"""What users met with quantised checkpoints: the sixth sample.

Left out are servers with kernels of their own, libraries for training alone, builds of one's own,
and threads that tell of the same method, device and release as one that was taken before.
"""

from collections.abc import Mapping

from tests.model_reports.fifth_quantised import torchao
from tests.model_reports.quantised import NF4, llama, qwen
from tests.model_reports.report import Met, ModelReport, config, python

_INT8 = {"quant_method": "bitsandbytes", "load_in_8bit": True}
_FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
_METAL = {
    "quant_method": "metal",
    "bits": 4,
    "group_size": 64,
    "modules_to_not_convert": ["lm_head"],
}
_CHANNELS: Mapping[str, object] = {
    "quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"],
    "quantization_status": "compressed",
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {
                "num_bits": 8, "type": "float", "symmetric": True, "strategy": "channel",
                "dynamic": False,
            },
            "input_activations": {
                "num_bits": 8, "type": "float", "symmetric": True, "strategy": "token",
                "dynamic": True,
            },
        }
    },
}  # fmt: skip
_FAST = """
import torch
from torch import nn

class Fast(nn.Module):
    def __init__(self):
        super().__init__()
        weight = torch.ones(256, 128).to(torch.float8_e4m3fn)
        self.register_buffer("weight", weight)
        self.register_buffer("one", torch.ones(()))

    def forward(self, x):
        y = torch.clamp(x, -448, 448).to(torch.float8_e4m3fn)
        return torch._scaled_mm(
            y, self.weight.t(), out_dtype=torch.bfloat16, scale_a=self.one, scale_b=self.one
        )

def model():
    return Fast(), (torch.randn(32, 128).bfloat16(),)
"""

REPORTS = (
    ModelReport(
        "MPS: float8 of compressed-tensors", "huggingface/transformers#48985",
        "compressed-tensors in FP8 runs by kernels on an M3 Ultra, from torch 2.15 on",
        {"apple-mps@2.15.0": Met.WORKS}, config(llama(_CHANNELS)), ("fp8", "compressed"),
    ),
    ModelReport(
        "MPS: 4 bits of FLUX.1 in InvokeAI", "invoke-ai/InvokeAI#7113",
        "models in GGUF run on MPS with 2.4.1, and those of bitsandbytes still do not",
        {"apple-mps@2.4.1": Met.REFUSED}, config(llama(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "RTX 3090: fast products in float8", "kijai/ComfyUI-HunyuanVideoWrapper#98",
        "torch._scaled_mm is only supported from compute capability 8.9 on, in December 2024",
        {"nvidia-a100@2.5.1": Met.REFUSED}, python(_FAST), ("_scaled_mm", "float8"),
    ),
    ModelReport(
        "Ascend: bitsandbytes in 2024", "bitsandbytes-foundation/bitsandbytes#961",
        "bitsandbytes is tightly linked with CUDA: users ask for Ascend NPUs in January 2024",
        {"ascend-910b@5.0.0": Met.REFUSED}, config(llama(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "Ascend: DeepSeek in float8", "deepseek-ai/DeepSeek-V3#903",
        "NPUs run INT8 and BF16, but FP8 is not supported, in June 2025",
        {"ascend-910b@7.1.0": Met.REFUSED}, config(llama(_FP8)), ("fp8", "float8"),
    ),
    ModelReport(
        "XPU: 8 bits of bitsandbytes", "bitsandbytes-foundation/bitsandbytes#1697",
        "XPUs run all of bitsandbytes but its optimizer in 8 bits, in July 2025",
        {"intel-max@2.8.0": Met.WORKS}, config(qwen(_INT8)), ("bitsandbytes",),
    ),
    ModelReport(
        "MPS: affine weights of metal", "huggingface/transformers#43934",
        "transformers has kernels for weights in 4 bits on Apple silicon, from February 2026 on",
        {"apple-mps@2.11.0": Met.WORKS}, config(llama(_METAL)), ("metal",),
    ),
    ModelReport(
        "MPS: int8 weights of torchao", "bghira/SimpleTuner#986",
        "int8 weights of torchao run on MPS in September 2024, slower than quanto's",
        {"apple-mps@2.4.1": Met.WORKS}, config(llama(torchao("Int8WeightOnlyConfig"))),
        ("torchao", "int8"),
    ),
)  # fmt: skip
