"""Language models of transformers: encoders, decoders with cache, both, experts, state spaces."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from tests.zoo.base import TEXT, WORDS, Ready, ids, masked, transformer


class Decode(nn.Module):
    """Two steps of greedy decoding: the prompt, then each next token over the cache."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor) -> Tensor:
        out = self.model(input_ids=input_ids, use_cache=True)
        steps = [out.logits[:, -1]]
        for _ in range(2):
            following = steps[-1].argmax(-1, keepdim=True)
            out = self.model(
                input_ids=following, past_key_values=out.past_key_values, use_cache=True
            )
            steps.append(out.logits[:, -1])
        return torch.stack(steps)


class Generate(nn.Module):
    """What users call: the library's own loop, its masks and stopping rules included."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor) -> Tensor:
        made: Tensor = self.model.generate(
            input_ids, max_new_tokens=2, do_sample=False, pad_token_id=0
        )
        return made


def _text(model: str, config: str, **settings: Any) -> Callable[[], Ready]:
    return lambda: (transformer(model, config, **{**TEXT, **settings}), (), {**masked()})


def _bare(model: str, config: str, **settings: Any) -> Callable[[], Ready]:
    """A model that shares no names of settings with others, on texts of one length."""
    return lambda: (transformer(model, config, **settings), (), {"input_ids": ids(2, 9)})


def _over(loop: Callable[[nn.Module], nn.Module], make: Callable[[], Ready]) -> Callable[[], Ready]:
    return lambda: (loop(make()[0]), (), {"input_ids": ids(1, 5)})


def _both(make: Callable[[], Ready]) -> Callable[[], Ready]:
    """An encoder-decoder with a start of its answer."""

    def made() -> Ready:
        model, args, kwargs = make()
        return model, args, {**kwargs, "decoder_input_ids": ids(2, 4)}

    return made


_GROUPED = {"num_key_value_heads": 2}
_EXPERTS = {**_GROUPED, "num_experts_per_tok": 2}
_GPT2 = _text("GPT2LMHeadModel", "GPT2Config", n_embd=32, n_layer=2, n_head=4, n_positions=64)
_LLAMA = _text("LlamaForCausalLM", "LlamaConfig", **_GROUPED)

MODELS: Mapping[str, Callable[[], Ready]] = {
    "bert": _text("BertForMaskedLM", "BertConfig"),
    "roberta": _text("RobertaForSequenceClassification", "RobertaConfig"),
    "distilbert": _text("DistilBertForTokenClassification", "DistilBertConfig", dim=32, n_layers=2,
                        n_heads=4, hidden_dim=48),
    "albert": _text("AlbertForMaskedLM", "AlbertConfig", embedding_size=16),
    "deberta": _text("DebertaV2ForMaskedLM", "DebertaV2Config", relative_attention=True,
                     pos_att_type=["p2c", "c2p"], position_biased_input=False),
    "modernbert": _text("ModernBertForMaskedLM", "ModernBertConfig", cls_token_id=1,
                        sep_token_id=2),
    "gpt2": _GPT2,
    "gpt2-decode": _over(Decode, _GPT2),
    "llama": _LLAMA,
    "llama-decode": _over(Decode, _LLAMA),
    "llama-generate": _over(Generate, _LLAMA),
    "qwen2": _text("Qwen2ForCausalLM", "Qwen2Config", **_GROUPED),
    "qwen3": _text("Qwen3ForCausalLM", "Qwen3Config", **_GROUPED, head_dim=8),
    "mistral": _text("MistralForCausalLM", "MistralConfig", **_GROUPED, sliding_window=4),
    "gemma": _text("GemmaForCausalLM", "GemmaConfig", num_key_value_heads=1, head_dim=8),
    "gemma2": _text("Gemma2ForCausalLM", "Gemma2Config", **_GROUPED, head_dim=8, sliding_window=4),
    "phi": _text("PhiForCausalLM", "PhiConfig"),
    "falcon": _text("FalconForCausalLM", "FalconConfig"),
    "opt": _text("OPTForCausalLM", "OPTConfig", ffn_dim=48, word_embed_proj_dim=32),
    "bloom": _text("BloomForCausalLM", "BloomConfig", n_layer=2, n_head=4),
    "mixtral": _text("MixtralForCausalLM", "MixtralConfig", **_EXPERTS, num_local_experts=4),
    "qwen2-moe": _text("Qwen2MoeForCausalLM", "Qwen2MoeConfig", **_EXPERTS, num_experts=4,
                       moe_intermediate_size=24, shared_expert_intermediate_size=24),
    "mamba": _bare("MambaForCausalLM", "MambaConfig", vocab_size=WORDS, hidden_size=32,
                   num_hidden_layers=2, state_size=4),
    "mamba2": _bare("Mamba2ForCausalLM", "Mamba2Config", vocab_size=WORDS, hidden_size=32,
                    num_hidden_layers=2, state_size=8, num_heads=8, head_dim=8, n_groups=2,
                    chunk_size=4),
    "rwkv": _bare("RwkvForCausalLM", "RwkvConfig", vocab_size=WORDS, hidden_size=32,
                  num_hidden_layers=2, attention_hidden_size=32, intermediate_size=48),
    "t5": _both(_bare("T5ForConditionalGeneration", "T5Config", vocab_size=WORDS, d_model=32,
                      d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0)),
    "bart": _both(_text("BartForConditionalGeneration", "BartConfig", d_model=32, encoder_layers=1,
                        decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
                        encoder_ffn_dim=48, decoder_ffn_dim=48)),
}  # fmt: skip
