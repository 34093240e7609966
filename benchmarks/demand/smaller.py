"""A model of transformers with a smaller config, so that its values are computed in seconds."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchmarks.demand.models import Entry

WIDTH = 64
"""Of hidden states; what is within and beside them goes with it."""
_SIZES = {
    "hidden_size": WIDTH, "d_model": WIDTH, "n_embd": WIDTH, "embed_dim": WIDTH, "dim": WIDTH,
    "intermediate_size": 128, "ffn_dim": 128, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
    "d_ff": 128, "mlp_dim": 128, "expert_ffn_hidden_size": 32, "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
    "n_head": 4, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "head_dim": 16,
    "vocab_size": 512, "num_local_experts": 4, "num_experts": 4, "n_routed_experts": 4,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 16, "v_head_dim": 16, "q_lora_rank": 32,
    "kv_lora_rank": 16, "num_hidden_layers": 2, "encoder_layers": 2, "decoder_layers": 2,
    "n_layer": 2,
}  # fmt: skip
_MOST = {"num_experts_per_tok": 2, "n_group": 1, "topk_group": 1}


def smaller(entry: Entry, folder: Path) -> Entry:
    """The same architecture, a few thousand times smaller; models of other libraries stay."""
    kind, _, place = entry.spec.source.partition(":")
    if kind != "hf":
        return entry
    from transformers import AutoConfig

    given = json.loads((Path(place) / "config.json").read_text("utf-8"))
    known = AutoConfig.for_model(**given).to_dict()
    made = folder / "smaller" / Path(place).name
    made.mkdir(parents=True, exist_ok=True)
    (made / "config.json").write_text(json.dumps({**given, **_changed(known)}), "utf-8")
    return entry._replace(spec=replace(entry.spec, source=f"hf:{made}"))


def _changed(config: Mapping[str, Any]) -> dict[str, Any]:
    """What becomes smaller, in what a config holds of other configs too."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict) and key.endswith("_config"):
            found[key] = {**value, **_changed(value)}
        elif not isinstance(value, int) or isinstance(value, bool):
            continue
        elif key in _SIZES:
            found[key] = min(value, _SIZES[key])
        elif key in _MOST:
            found[key] = min(value, _MOST[key])
        elif key.endswith("_token_id") and value >= _SIZES["vocab_size"]:
            found[key] = 1
    if "kv_lora_rank" in config and "num_attention_heads" in found:  # a key for each head
        found["num_key_value_heads"] = found["num_attention_heads"]
    return found
