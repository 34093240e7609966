"""What users met with quantised checkpoints: the second sample, taken when the first was mended."""

from collections.abc import Mapping
from pathlib import Path

from tests.model_reports.quantised import GPTQ, LLAMA, NF4, llama, qwen
from tests.model_reports.report import Met, ModelReport, config, python
from tests.source.gguf_files import whole

_NEOX: Mapping[str, object] = {
    "architectures": ["GPTNeoXForCausalLM"], "model_type": "gpt_neox", "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "vocab_size": 512, "max_position_embeddings": 256, "torch_dtype": "bfloat16",
}  # fmt: skip
_OPT: Mapping[str, object] = {
    "architectures": ["OPTForCausalLM"], "model_type": "opt", "hidden_size": 256, "ffn_dim": 512,
    "word_embed_proj_dim": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
    "vocab_size": 512, "max_position_embeddings": 256, "torch_dtype": "float16",
}  # fmt: skip
_MISTRAL = {**LLAMA, "architectures": ["MistralForCausalLM"], "model_type": "mistral"}
_DOUBLE = {**NF4, "bnb_4bit_use_double_quant": True}
_AWQ = {
    "quant_method": "awq", "bits": 4, "group_size": 128, "version": "ipex", "zero_point": True,
}  # fmt: skip


def _scaled(granularity: str) -> Mapping[str, object]:
    each = {"_type": granularity, "_version": 1, "_data": {}}
    data = {"granularity": [each, each]}
    kind = "Float8DynamicActivationFloat8WeightConfig"
    return {
        "quant_method": "torchao",
        "quant_type": {"default": {"_type": kind, "_version": 2, "_data": data}},
        "modules_to_not_convert": ["lm_head"],
    }


_KEPT = """
import torch
from torch import nn
from torch.nn import functional as F

class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.zeros(64, 64, dtype=torch.{dtype}))

    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype))

def model():
    return nn.Sequential(Linear(), nn.SiLU(), Linear()), (torch.randn(8, 64).bfloat16(),)
"""


def _gguf(folder: Path) -> str:
    path = folder / "model.gguf"
    path.write_bytes(whole())
    return str(path)


REPORTS = (
    ModelReport(
        "Ascend: GPTQ of AutoGPTQ", "AutoGPTQ/AutoGPTQ#490",
        "AutoGPTQ does not support Ascend NPUs, in January 2024",
        {"ascend-910b@5.0.0": Met.REFUSED}, config(llama(GPTQ)), ("gptq",),
    ),
    ModelReport(
        "Ascend: GPTQ of GPTQModel", "ModelCloud/GPTQModel#2831",
        "GPTQModel runs on an Ascend 910B since April 2026",
        {"ascend-910b@26.1.0": Met.WORKS}, config(qwen(GPTQ)), ("gptq",),
    ),
    ModelReport(
        "MPS: nf4 of GPT-NeoX", "huggingface/transformers#23970",
        "No GPU found. A GPU is needed for quantization. On an M2 in June 2023",
        {"apple-mps@2.0.1": Met.REFUSED}, config({**_NEOX, "quantization_config": _DOUBLE}),
        ("bitsandbytes",),
    ),
    ModelReport(
        "MPS: nf4 of BLIP-2's OPT", "bitsandbytes-foundation/bitsandbytes#837",
        "loading raises an ImportError that asks for bitsandbytes, which a Mac has not",
        {"apple-mps@2.1.2": Met.REFUSED}, config({**_OPT, "quantization_config": NF4}),
        ("bitsandbytes",),
    ),
    ModelReport(
        "MPS: nf4 of FLUX.2's text encoder", "huggingface/diffusers#13915",
        "4 bits run on MPS in June 2026, as bitsandbytes has kernels for it by then",
        {"apple-mps@2.12.1": Met.WORKS}, config({**_MISTRAL, "quantization_config": NF4}),
        ("bitsandbytes",),
    ),
    ModelReport(
        "MI100: nf4", "artidoro/qlora#185",
        "undefined symbol: cquantize_blockwise_fp16_nf4, on ROCm in June 2023",
        {"amd-mi250@2.0.1": Met.REFUSED}, config(llama(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "MPS: float8 weights of FLUX.1", "pytorch/pytorch#148420",
        "MPS does not have support for Float8_e4m3fn, in March 2025",
        {"apple-mps@2.6.0": Met.REFUSED}, python(_KEPT.format(dtype="float8_e4m3fn")),
        ("float8",),
    ),
    ModelReport(
        "MPS: float8 weights of five bits", "pytorch/pytorch#132624",
        "MPS does not have support for Float8_e5m2, in August 2024",
        {"apple-mps@2.4.1": Met.REFUSED}, python(_KEPT.format(dtype="float8_e5m2")),
        ("float8",),
    ),
    ModelReport(
        "A100: float8 activations of torchao", "pytorch/ao#1188",
        "float8 activations need compute capability 8.9, and fail elsewhere when they run",
        {"nvidia-a100@2.5.1": Met.REFUSED, "nvidia-h100@2.5.1": Met.WORKS},
        config(llama(_scaled("PerTensor"))), ("float8", "_scaled_mm"),
    ),
    ModelReport(
        "Ada: float8 with a scale a row", "pytorch/ao#2566",
        "PerRow of torchao 0.11 asserts compute capability 9.0, where 8.9 was promised",
        {"nvidia-rtx4090@2.7.1": Met.REFUSED, "nvidia-h100@2.7.1": Met.WORKS},
        config(llama(_scaled("PerRow"))), ("float8", "_scaled_mm"),
    ),
    ModelReport(
        "PVC: nf4", "bitsandbytes-foundation/bitsandbytes#1932",
        "nf4 of bitsandbytes 0.49.2 runs, and is right, on a GPU Max with 2.11",
        {"intel-max@2.11.0": Met.WORKS}, config(llama(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "XPU: AWQ with IPEX", "huggingface/transformers#34712",
        "AutoAWQ runs on XPUs by IPEX, and transformers lets it since November 2024",
        {"intel-max@2.5.1": Met.WORKS}, config(llama(_AWQ)), ("awq",),
    ),
    ModelReport(
        "MPS: GGUF", "huggingface/transformers#44794",
        "GGUF files load onto Apple silicon in March 2026, their weights made whole",
        {"apple-mps@2.10.0": Met.WORKS}, _gguf, ("gguf",),
    ),
)  # fmt: skip
