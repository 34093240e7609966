"""Speech and time series."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from tests.zoo.base import TEXT, WORDS, Ready, ids, transformer

_WAVES: dict[str, Any] = {
    **TEXT, "conv_dim": (16, 16, 16), "conv_stride": (5, 4, 2), "conv_kernel": (10, 8, 4),
    "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
}  # fmt: skip


def _waves(model: str, config: str) -> Callable[[], Ready]:
    # whole layers would be left out at random while training
    settings = {**_WAVES, "apply_spec_augment": False, "layerdrop": 0.0}
    return lambda: (
        transformer(model, config, **settings), (), {"input_values": torch.randn(2, 2000)}
    )  # fmt: skip


def _whisper() -> Ready:
    model = transformer(
        "WhisperForConditionalGeneration", "WhisperConfig", vocab_size=WORDS, d_model=32,
        encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=48, decoder_ffn_dim=48, num_mel_bins=20, max_source_positions=50,
        max_target_positions=32, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1,
    )  # fmt: skip
    return model, (), {"input_features": torch.randn(1, 20, 100), "decoder_input_ids": ids(1, 5)}


def _patchtst() -> Ready:
    model = transformer(
        "PatchTSTForPrediction", "PatchTSTConfig", num_input_channels=3, context_length=32,
        prediction_length=8, patch_length=4, patch_stride=4, d_model=32, num_attention_heads=4,
        num_hidden_layers=2, ffn_dim=48,
    )  # fmt: skip
    return model, (), {"past_values": torch.randn(2, 32, 3)}


MODELS: Mapping[str, Callable[[], Ready]] = {
    "wav2vec2": _waves("Wav2Vec2ForCTC", "Wav2Vec2Config"),
    "hubert": _waves("HubertModel", "HubertConfig"),
    "whisper": _whisper,
    "patchtst": _patchtst,
}
