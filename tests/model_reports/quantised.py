"""What users met with quantised checkpoints."""

from collections.abc import Mapping

from tests.model_reports.report import Met, ModelReport, config, python

LLAMA: Mapping[str, object] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 512, "max_position_embeddings": 256,
    "rms_norm_eps": 1e-6, "torch_dtype": "bfloat16",
}  # fmt: skip
QWEN = {**LLAMA, "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2"}
OSS: Mapping[str, object] = {
    "architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "hidden_size": 256,
    "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 512, "num_local_experts": 4,
    "num_experts_per_tok": 2, "sliding_window": 128, "max_position_embeddings": 256,
    "layer_types": ["sliding_attention", "full_attention"], "torch_dtype": "bfloat16",
    "quantization_config": {
        "quant_method": "mxfp4",
        "modules_to_not_convert": [
            "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens",
            "lm_head",
        ],
    },
}  # fmt: skip
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}
NF4 = {
    "quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4",
    "bnb_4bit_compute_dtype": "bfloat16",
}  # fmt: skip
_INT8 = {"quant_method": "bitsandbytes", "load_in_8bit": True}
_FBGEMM = {
    "quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0,
    "modules_to_not_convert": ["lm_head"],
}  # fmt: skip
_FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
_TINYGEMM = """
import torch
from torch import nn

class Int4(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.zeros(4, 2, 32, 4, dtype=torch.int32))
        self.register_buffer("scales", torch.ones(2, 32, 2, dtype=torch.bfloat16))

    def forward(self, x):
        return torch.ops.aten._weight_int4pack_mm(x, self.weight, 128, self.scales)

def model():
    return Int4(), (torch.ones(4, 256, dtype=torch.bfloat16),)
"""


def llama(section: Mapping[str, object]) -> Mapping[str, object]:
    return {**LLAMA, "quantization_config": section}


def qwen(section: Mapping[str, object]) -> Mapping[str, object]:
    return {**QWEN, "quantization_config": section}


REPORTS = (
    ModelReport(
        "XPU: GPTQ of Qwen2", "intel/torch-xpu-ops#2052",
        "GPU is required to quantize or run quantize model, in September 2025",
        {"intel-arc@2.8.0": Met.REFUSED}, config(qwen(GPTQ)), ("gptq",),
    ),
    ModelReport(
        "XPU: GPTQ of Qwen2.5-Omni", "intel/ipex-llm#13263",
        "GPU is required to quantize or run quantize model, in July 2025",
        {"intel-arc@2.7.1": Met.REFUSED}, config(qwen(GPTQ)), ("gptq",),
    ),
    ModelReport(
        "MPS: GPTQ of Mistral", "oobabooga/textgen#4302",
        "AutoGPTQ cannot be had on Apple silicon, in October 2023",
        {"apple-mps@2.1.2": Met.REFUSED}, config(llama(GPTQ)), ("gptq",),
    ),
    ModelReport(
        "MPS: GPTQ of WizardLM", "PromtEngineer/localGPT#145",
        "AutoGPTQ does not support MPS, so that models have to be run whole",
        {"apple-mps@2.0.1": Met.REFUSED}, config(llama(GPTQ)), ("gptq",),
    ),
    ModelReport(
        "MPS: nf4 of omost", "huchenlei/ComfyUI_omost#22",
        "No GPU found. A GPU is needed for quantization. On an M1 Max in June 2024",
        {"apple-mps@2.3.1": Met.REFUSED}, config(llama(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "MPS: 4 bits of MiniCPM", "OpenBMB/MiniCPM-V#215",
        "bitsandbytes supports CUDA alone, in June 2024, so the model does not run on an M3",
        {"apple-mps@2.3.1": Met.REFUSED}, config(qwen(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "Ascend: nf4 of Qwen-Image", "bitsandbytes-foundation/bitsandbytes#1695",
        "bitsandbytes has no back end for NPUs: a pull request of 2025 adds one, and crashes",
        {"ascend-910b@7.1.0": Met.REFUSED}, config(qwen(NF4)), ("bitsandbytes",),
    ),
    ModelReport(
        "A100: Llama 3.1 in FP8", "huggingface/huggingface-llama-recipes#21",
        "FP8 quantized models is only supported on GPUs with compute capability >= 9.0",
        {"nvidia-a100@2.4.1": Met.REFUSED}, config(llama(_FBGEMM)), ("fp8",),
    ),
    ModelReport(
        "Ampere: Qwen3 in FP8, of FLUX.2", "black-forest-labs/flux2#54",
        "FP8 quantized models is only supported on GPUs with compute capability >= 8.9",
        {"nvidia-a100@2.12.1": Met.REFUSED}, config(qwen(_FP8)), ("fp8",),
    ),
    ModelReport(
        "Ampere: Qwen3-VL in FP8", "1038lab/ComfyUI-QwenVL#28",
        "FP8 models require a GPU with Compute Capability 8.9 or higher",
        {"nvidia-a100@2.9.1": Met.REFUSED}, config(qwen(_FP8)), ("fp8",),
    ),
    ModelReport(
        "RX 7900: 8 bits of OPT", "ROCm/bitsandbytes#41",
        "inference in 8 bits fails on gfx1100, where 4 bits run",
        {"amd-rx7900xt@2.4.1": Met.REFUSED}, config(llama(_INT8)), ("bitsandbytes",),
    ),
    ModelReport(
        "MI210: 8 bits", "bitsandbytes-foundation/bitsandbytes#1245",
        "bitsandbytes of June 2024 takes ROCm 6.1 for an old CUDA, without LLM.int8()",
        {"amd-mi250@2.3.1": Met.REFUSED}, config(llama(_INT8)), ("bitsandbytes",),
    ),
    ModelReport(
        "H100: 8 bits", "bitsandbytes-foundation/bitsandbytes#538",
        "cublasLt ran into an error: 8 bits are not supported on Hopper until the end of 2024",
        {"nvidia-h100@2.2.2": Met.REFUSED, "nvidia-h100@2.6.0": Met.WORKS},
        config(llama(_INT8)), ("bitsandbytes",),
    ),
    ModelReport(
        "T4: int4 weights of torchao", "pytorch/ao#1110",
        "named symbol not found: tinygemm does not support sm75",
        {"nvidia-t4@2.4.1": Met.REFUSED}, python(_TINYGEMM), ("_weight_int4pack_mm",),
    ),
    ModelReport(
        "MPS: int4 weights of torchchat", "pytorch/pytorch#123997",
        "_weight_int4pack_mm runs on the CPU, where it refuses float32, in April 2024",
        {"apple-mps@2.3.1": Met.REFUSED},
        python(_TINYGEMM.replace("torch.bfloat16", "torch.float32")), ("_weight_int4pack_mm",),
    ),
    ModelReport(
        "T4: gpt-oss", "vllm-project/vllm#23203",
        "transformers runs MXFP4 on compute capability 7.5 since 4.55.2",
        {"nvidia-t4@2.8.0": Met.WORKS}, config(OSS), ("mxfp4",),
    ),
    ModelReport(
        "Arc: gpt-oss", "huggingface/transformers#47923",
        "it runs on Arc with torch 2.13, dequantised or with its weights kept as they are",
        {"intel-arc@2.13.0": Met.WORKS}, config(OSS), ("mxfp4",),
    ),
)  # fmt: skip
