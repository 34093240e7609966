"""What users met with quantised checkpoints: the seventh sample.

Left out are servers with kernels of their own, libraries for training alone, builds of one's own,
releases and chips that targets do not have, and threads that tell of the same method, device and
release as one that was taken before.
"""

from collections.abc import Mapping

from tests.model_reports.fifth_quantised import torchao
from tests.model_reports.quantised import LLAMA, NF4, llama, qwen
from tests.model_reports.report import Met, ModelReport, config, python

_INT8 = {"quant_method": "bitsandbytes", "load_in_8bit": True}
_AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm", "zero_point": True}
_EXLLAMA = {**_AWQ, "version": "exllama"}
_EETQ = {"quant_method": "eetq", "weights": "int8", "modules_to_not_convert": ["lm_head"]}
_AQLM: Mapping[str, object] = {
    "quant_method": "aqlm", "in_group_size": 8, "out_group_size": 1, "num_codebooks": 1,
    "nbits_per_codebook": 16, "linear_weights_not_to_quantize": ["lm_head.weight"],
}  # fmt: skip
_ROUND = {"quant_method": "auto-round", "bits": 8, "group_size": 128, "sym": True}
_TILED: Mapping[str, object] = {
    "group_size": 128,
    "int4_packing_format": {"_type": "Int4PackingFormat", "_data": "TILE_PACKED_TO_4D"},
}


def _quanto(weights: str) -> Mapping[str, object]:
    return {"quant_method": "quanto", "weights": weights, "modules_to_not_convert": ["lm_head"]}


_KEPT = """
import torch
from torch import nn
from torch.nn import functional as F

class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.zeros(64, 64, dtype=torch.float8_e4m3fn))
        self.register_buffer("bias", torch.zeros(64, dtype=torch.float8_e4m3fn))

    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype), self.bias.to(x.dtype))

def model():
    return nn.Sequential(Kept(), nn.GELU(), Kept()), (torch.randn(8, 64).bfloat16(),)
"""
_SCALED = """
import torch
from torch import nn

class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(256, 128).to(torch.float8_e4m3fn))
        self.register_buffer("scale", torch.ones(()))

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        largest = rows.abs().amax().float().clamp(min=1e-12) / 448
        y = (rows / largest).clamp(-448, 448).to(torch.float8_e4m3fn)
        return torch._scaled_mm(
            y, self.weight.t(), scale_a=largest, scale_b=self.scale, out_dtype=torch.bfloat16
        )

def model():
    return Scaled(), (torch.randn(32, 128).bfloat16(),)
"""
_TENSORWISE = """
import torch
from torch import nn

class Tensorwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(256, 128, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(()))

    def forward(self, x):
        largest = x.abs().amax(-1, keepdim=True).float().clamp(min=1e-8) / 127
        y = (x / largest).round().clamp(-128, 127).to(torch.int8)
        return (torch._int_mm(y, self.weight.t()).float() * largest * self.scale).to(x.dtype)

def model():
    return Tensorwise(), (torch.randn(32, 128).bfloat16(),)
"""

REPORTS = (
    ModelReport(
        "MPS: AWQ on an M3", "casper-hansen/AutoAWQ#476",
        "chips of Apple are not supported: AutoAWQ needs a GPU of NVIDIA's or AMD's, in May 2024",
        {"apple-mps@2.3.1": Met.REFUSED}, config(llama(_AWQ)), ("awq",),
    ),
    ModelReport(
        "V100: 8 bits in 2023", "bitsandbytes-foundation/bitsandbytes#444",
        "Your GPU does not support Int8 Matmul, on eight V100s in May 2023",
        {"nvidia-v100@2.0.1": Met.REFUSED}, config(llama(_INT8)), ("bitsandbytes",),
    ),
    ModelReport(
        "H100: EETQ", "NetEase-FuXi/EETQ#12",
        "EETQ's code has no case for sm90, and its authors no H100, in March 2024",
        {"nvidia-h100@2.2.2": Met.REFUSED}, config(llama(_EETQ)), ("eetq",),
    ),
    ModelReport(
        "MPS: float8 of quanto", "xhinker/sd_embed#14",
        "quanto's qfloat8 raises on an M1 in August 2024: MPS has no Float8_e4m3fn",
        {"apple-mps@2.4.1": Met.REFUSED}, config(llama(_quanto("float8"))), ("float8", "quanto"),
    ),
    ModelReport(
        "MPS: int8 of quanto, with LoRA", "huggingface/peft#1997",
        "quanto also works with MPS, which sets it apart from other methods, in August 2024",
        {"apple-mps@2.4.1": Met.WORKS}, config(llama(_quanto("int8"))), ("quanto",),
    ),
    ModelReport(
        "Gaudi: AWQ", "huggingface/optimum-habana#1240",
        "AWQ is only available on GPU, of Llama on Gaudi in August 2024",
        {"habana-gaudi2@1.18.0": Met.REFUSED}, config(llama(_AWQ)), ("awq",),
    ),
    ModelReport(
        "MI250: AWQ by ExLlama", "casper-hansen/AutoAWQ#315",
        "AutoAWQ runs on an MI250 by ExLlama's kernels, since January 2024",
        {"amd-mi250@2.1.2": Met.WORKS}, config(llama(_EXLLAMA)), ("awq",),
    ),
    ModelReport(
        "RTX 4070: float8 weights kept", "Comfy-Org/ComfyUI#6913",
        "weights in float8 run on an RTX 4070 with 2.5.1, each cast to bfloat16 where it is used",
        {"nvidia-rtx4090@2.5.1": Met.WORKS}, python(_KEPT), ("float8",),
    ),
    ModelReport(
        "MPS: nf4 of FLUX.1 Krea", "invoke-ai/InvokeAI#8421",
        "bitsandbytes cannot be used with MPS, where GGUF can, in August 2025",
        {"apple-mps@2.8.0": Met.REFUSED}, config(llama(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "XPU: AutoRound in 8 bits", "huggingface/transformers#47826",
        "AutoRound's own kernels run 4 and 8 bits on XPUs, in August 2026",
        {"intel-max@2.13.0": Met.WORKS},
        config({**LLAMA, "quantization_config": _ROUND}), ("auto-round", "autoround", "auto_round"),
    ),
    ModelReport(
        "MI300X: tiled int4 of torchao", "pytorch/ao#4092",
        "Int4WeightOnlyConfig refuses ROCm for its compute capability, in March 2026",
        {"amd-mi300x@2.11.0": Met.REFUSED},
        config(llama(torchao("Int4WeightOnlyConfig", _TILED, 2))), ("torchao", "int4"),
    ),
    ModelReport(
        "A100: AQLM", "Vahe1994/AQLM#133",
        "AQLM runs on an A100 in October 2024, slower than the weights whole",
        {"nvidia-a100@2.4.1": Met.WORKS}, config(llama(_AQLM)), ("aqlm",),
    ),
    ModelReport(
        "T4: AWQ", "huggingface/transformers#30963",
        "AWQ runs on a T4 with 2.2.2, in May 2024",
        {"nvidia-t4@2.2.2": Met.WORKS}, config(qwen(_AWQ)), ("awq",),
    ),
    ModelReport(
        "RTX 3090: int4 of torchao", "huggingface/transformers#34310",
        "int4_weight_only runs on an RTX 3090, no faster than bfloat16, in January 2025",
        {"nvidia-rtx3090@2.5.1": Met.WORKS},
        config(llama(torchao("Int4WeightOnlyConfig", {"group_size": 128}))), ("torchao", "int4"),
    ),
    ModelReport(
        "RTX 4090: products in float8", "invoke-ai/InvokeAI#9478",
        "layers in float8 run on the tensor cores of an RTX 4090 with 2.7.1",
        {"nvidia-rtx4090@2.7.1": Met.WORKS}, python(_SCALED), ("_scaled_mm", "float8"),
    ),
    ModelReport(
        "XPU: AQLM", "Vahe1994/AQLM#180",
        "AQLM's kernel in Triton runs on XPUs since July 2025, ten times as fast as PyTorch's",
        {"intel-max@2.8.0": Met.WORKS}, config(llama(_AQLM)), ("aqlm",),
    ),
    ModelReport(
        "MI300X: nf4 with blocks of 64", "bitsandbytes-foundation/bitsandbytes#1856",
        "4 bits in blocks of 64 run on an MI300 and an MI325, since February 2026",
        {"amd-mi300x@2.11.0": Met.WORKS}, config(llama(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "MPS: int8 of Ideogram 4", "Comfy-Org/ComfyUI#15133",
        "aten::_int_mm is not implemented for MPS, in July 2026",
        {"apple-mps@2.13.0": Met.REFUSED}, python(_TENSORWISE), ("_int_mm",),
    ),
)  # fmt: skip
