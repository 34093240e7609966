"""Configs of transformers as published with the models, as far as they differ from the defaults."""

from collections.abc import Mapping
from typing import Any

Config = Mapping[str, Any]


def _of(architecture: str, model_type: str, **settings: Any) -> Config:
    return {"architectures": [architecture], "model_type": model_type, **settings}


def _decoder(
    architecture: str, model_type: str, width: int, layers: int, heads: tuple[int, int],
    inner: int, words: int, **settings: Any,
) -> Config:  # fmt: skip
    """One whose config has the names that Llama's has."""
    return _of(
        architecture, model_type, hidden_size=width, num_hidden_layers=layers,
        num_attention_heads=heads[0], num_key_value_heads=heads[1], intermediate_size=inner,
        vocab_size=words, **settings,
    )  # fmt: skip


CONFIGS: Mapping[str, Config] = {
    "llama-3.2-1b": _decoder(
        "LlamaForCausalLM", "llama", 2048, 16, (32, 8), 8192, 128256, head_dim=64,
        tie_word_embeddings=True,
    ),
    "llama-3.1-8b": _decoder("LlamaForCausalLM", "llama", 4096, 32, (32, 8), 14336, 128256),
    "qwen3-8b": _decoder(
        "Qwen3ForCausalLM", "qwen3", 4096, 36, (32, 8), 12288, 151936, head_dim=128
    ),
    "qwen3-30b-a3b": _decoder(
        "Qwen3MoeForCausalLM", "qwen3_moe", 2048, 48, (32, 4), 6144, 151936, head_dim=128,
        num_experts=128, num_experts_per_tok=8, moe_intermediate_size=768,
    ),
    "mistral-7b": _decoder(
        "MistralForCausalLM", "mistral", 4096, 32, (32, 8), 14336, 32000, sliding_window=4096
    ),
    "mixtral-8x7b": _decoder(
        "MixtralForCausalLM", "mixtral", 4096, 32, (32, 8), 14336, 32000,
        num_local_experts=8, num_experts_per_tok=2,
    ),
    "gemma-3-1b": _decoder(
        "Gemma3ForCausalLM", "gemma3_text", 1152, 26, (4, 1), 6912, 262144, head_dim=256,
        sliding_window=512,
    ),
    "phi-3-mini": _decoder(
        "Phi3ForCausalLM", "phi3", 3072, 32, (32, 32), 8192, 32064, sliding_window=2047
    ),
    "deepseek-v3": _decoder(
        "DeepseekV3ForCausalLM", "deepseek_v3", 7168, 61, (128, 128), 18432, 129280,
        n_routed_experts=256, moe_intermediate_size=2048, q_lora_rank=1536, kv_lora_rank=512,
    ),
    "gpt-oss-20b": _decoder(
        "GptOssForCausalLM", "gpt_oss", 2880, 24, (64, 8), 2880, 201088, head_dim=64,
        num_local_experts=32, num_experts_per_tok=4,
    ),
    "gpt2": _of("GPT2LMHeadModel", "gpt2"),
    "bert-base": _of("BertForMaskedLM", "bert"),
    "roberta-base": _of(
        "RobertaForSequenceClassification", "roberta", vocab_size=50265,
        max_position_embeddings=514, type_vocab_size=1,
    ),
    "longformer-base": _of(
        "LongformerForMaskedLM", "longformer", vocab_size=50265, max_position_embeddings=4098,
        attention_window=[512] * 12,
    ),
    "xlnet-base": _of(
        "XLNetLMHeadModel", "xlnet", d_model=768, n_layer=12, n_head=12, d_inner=3072
    ),
    "t5-small": _of("T5ForConditionalGeneration", "t5"),
    "whisper-small": _of(
        "WhisperForConditionalGeneration", "whisper", d_model=768, encoder_layers=12,
        decoder_layers=12, encoder_attention_heads=12, decoder_attention_heads=12,
        encoder_ffn_dim=3072, decoder_ffn_dim=3072,
    ),
    "wav2vec2-base": _of("Wav2Vec2ForCTC", "wav2vec2"),
    "mamba-130m": _of(
        "MambaForCausalLM", "mamba", vocab_size=50280, hidden_size=768, num_hidden_layers=24
    ),
    "dinov2-base": _of("Dinov2ForImageClassification", "dinov2"),
    "clip-vit-b32": _of("CLIPModel", "clip"),
    "sam-vit-b": _of("SamModel", "sam"),
    "detr-resnet-50": _of("DetrForObjectDetection", "detr"),
    "rt-detr-r50": _of("RTDetrForObjectDetection", "rt_detr"),
    "mask2former": _of("Mask2FormerForUniversalSegmentation", "mask2former"),
}  # fmt: skip
