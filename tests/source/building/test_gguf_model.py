"""Models of GGUF headers: built as transformers builds them, without the package gguf."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import transformers

from opcheck.errors import SourceError
from opcheck.model.trace import QUANTISED, Gap
from opcheck.source.base import LoadOptions
from opcheck.source.building.huggingface.gguf_config import config_of
from opcheck.source.building.huggingface.gguf_model import model_of
from opcheck.source.gguf_header import read_header
from tests.source.gguf_files import LLAMA, Q8_1, TENSORS, Tensor, header, whole

LFM2 = {
    "general.architecture": "lfm2", "lfm2.context_length": 64, "lfm2.block_count": 2,
    "lfm2.feed_forward_length": 64, "lfm2.embedding_length": 32, "lfm2.rope.freq_base": 10000.0,
    "lfm2.attention.head_count": 4, "lfm2.attention.head_count_kv": [0, 2],
    "tokenizer.ggml.tokens": ["a", "b", "c"], "lfm2.attention.layer_norm_rms_epsilon": 0.5,
    "lfm2.shortconv.l_cache": 3,
}  # fmt: skip
"""An architecture whose files transformers 5.23 reads by itself."""
PLAIN: tuple[Tensor, ...] = (("token_embd.weight", (32, 16), 30, 0), ("norm", (32,), 0, 1024))


def written(
    folder: Path, values: Mapping[str, Any] = LLAMA, tensors: Any = TENSORS, **more: Any
) -> Path:
    path = folder / "m.gguf"
    path.write_bytes(header({**values, **more}, tensors))
    return path


def built(path: Path) -> tuple[Any, tuple[str, ...], tuple[Gap, ...]]:
    return model_of(path, read_header(path), LoadOptions())


def test_the_config_is_what_transformers_makes_of_the_metadata(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert config_of(transformers, path, read_header(path)) == {
        "tie_word_embeddings": False, "model_type": "llama", "_model_name_or_path": "tiny",
        "max_position_embeddings": 64, "num_hidden_layers": 1, "hidden_size": 32,
        "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 8, "rope_theta": 10000.0, "rms_norm_eps": 0.5, "vocab_size": 4,
    }  # fmt: skip
    assert "gguf" not in sys.modules


def test_a_file_without_an_output_ties_it_to_the_embedding(tmp_path: Path) -> None:
    model, _, _ = built(written(tmp_path, tensors=TENSORS[:1]))
    assert model.lm_head.weight is model.model.embed_tokens.weight


def test_weights_are_whole_and_of_float32(tmp_path: Path) -> None:
    path = written(tmp_path)
    lacking = len(whole()) - len(header())
    model, notes, unseen = built(path)
    assert type(model).__name__ == "LlamaForCausalLM"
    assert {str(parameter.dtype) for parameter in model.parameters()} == {"torch.float32"}
    assert unseen == ()
    assert notes == (
        "built as LlamaForCausalLM: the config names no class of transformers",
        "transformers dequantises the weights (F32, Q4_0) when it loads the file, to float32 "
        "unless another dtype is given: no kernel for packed weights is needed",
        f"{path} ends {lacking} bytes before its tensors do: its header alone was read",
    )


def test_weights_that_gguf_cannot_make_whole_are_a_gap(tmp_path: Path) -> None:
    kinds = [("a", (32, 4), Q8_1, 0), ("b", (32, 4), 99, 0), ("output.weight", (32, 4), 2, 0)]
    path = written(tmp_path, tensors=kinds)
    assert built(path)[2] == (
        Gap(
            str(path),
            "gguf 0.19 cannot dequantise weights of Q8_1, type 99, so that transformers does not "
            "load them",
            QUANTISED,
        ),
    )


def test_packed_weights_that_a_kernel_may_take_are_a_gap(tmp_path: Path) -> None:
    path = written(tmp_path, LFM2, [("token_embd.weight", (32, 16), 8, 0)])
    model, notes, unseen = built(path)
    assert type(model).__name__ == "Lfm2ForCausalLM"
    assert not any("dequantises the weights" in note for note in notes)
    assert unseen == (
        Gap(
            str(path),
            "transformers keeps the weights (Q8_0) packed where ggml-org/ggml-quantization of the "
            "Hub has a kernel for the device, and dequantises them elsewhere; what the kernel does "
            "was not seen",
            QUANTISED,
        ),
    )


def test_plain_weights_keep_their_dtype_where_transformers_reads_them_itself(
    tmp_path: Path,
) -> None:
    model, _, unseen = built(written(tmp_path, LFM2, PLAIN))
    assert {str(parameter.dtype) for parameter in model.parameters()} == {"torch.bfloat16"}
    assert unseen == ()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"general.architecture": "flux"},
         "transformers 5.23.0 does not read GGUF files of the architecture 'flux'"),
        ({**LLAMA, "general.architecture": "deci"},
         "transformers 5.23.0 has no model for the architecture 'deci'"),
        ({**LLAMA, "llama.block_count": 2**31},
         "num_hidden_layers is a larger number than any model has, 20,000 at most"),
        ({**LLAMA, "llama.block_count": "many"}, "transformers refuses it: "),
        ({**LFM2, "lfm2.attention.head_count_kv": 2},
         "transformers 5.23.0 refuses its metadata: 'int' object is not iterable"),
    ],
)  # fmt: skip
def test_what_transformers_does_not_take_is_an_error(
    tmp_path: Path, values: Mapping[str, Any], said: str
) -> None:
    path = written(tmp_path, values)
    with pytest.raises(SourceError) as raised:
        built(path)
    assert raised.value.message.startswith(f"{path}: {said}")


def test_metadata_without_a_key_that_transformers_needs(tmp_path: Path) -> None:
    path = written(tmp_path, {"general.architecture": "qwen35"})
    with pytest.raises(SourceError) as raised:
        built(path)
    assert raised.value.message.startswith(
        f"{path}: transformers 5.23.0 refuses its metadata: nothing under 'qwen35."
    )


@pytest.mark.library
@pytest.mark.parametrize("architecture", ["llama", "qwen2", "gemma3", "t5", "bloom", "lfm2"])
def test_transformers_with_gguf_makes_the_same_config(tmp_path: Path, architecture: str) -> None:
    pytest.importorskip("gguf")
    from transformers import modeling_gguf_pytorch_utils as loader
    from transformers.integrations import GGUF_CONFIG_MAPPING

    keys = GGUF_CONFIG_MAPPING[architecture]
    numbers: dict[str, Any] = {f"{architecture}.{key}": n for n, key in enumerate(keys, 8)}
    if architecture == "lfm2":
        numbers["lfm2.attention.head_count_kv"] = [0, 2, 0]
    values = {"general.architecture": architecture, "tokenizer.ggml.tokens": ["a", "é"], **numbers}
    path = tmp_path / "m.gguf"
    path.write_bytes(header(values, [("output.weight", (32, 4), 0, 0)]) + bytes(1024))
    if architecture == "lfm2":
        theirs = transformers.PreTrainedConfig.get_config_dict(str(tmp_path), gguf_file="m.gguf")[0]
    else:
        theirs = loader.load_gguf_checkpoint(str(path))["config"]
    assert config_of(transformers, path, read_header(path)) == theirs
