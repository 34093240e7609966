"""A model's config is data: no code beside it runs, no other file is read, nothing is fetched."""

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from opcheck.errors import SourceError
from opcheck.source.base import LoadOptions
from opcheck.source.config_values import ATTENTION, DTYPES, checked
from opcheck.source.load import load, select

SMALL: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
}  # fmt: skip
VISION = {"model_type": "clip_vision_model", **SMALL, "image_size": 56, "patch_size": 14}
WRITES = 'open({canary!r}, "w").write("ran")\nimport torch\nclass Model(torch.nn.Module): pass\n'


def write(folder: Path, config: dict[str, Any]) -> str:
    (folder / "config.json").write_text(json.dumps(config))
    return f"hf:{folder}"


@pytest.mark.slow
def test_code_that_a_part_names_is_not_run_though_someone_answers_yes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = tmp_path / "canary"
    (tmp_path / "theirs.py").write_text(WRITES.format(canary=str(canary)))
    part = {
        "model_type": "owlvit_text_model", **SMALL, "tie_word_embeddings": False,
        "auto_map": {"AutoModel": "theirs.Model"}, "name_or_path": str(tmp_path),
    }  # fmt: skip
    text = write(tmp_path, {"model_type": "llava", "vision_config": VISION, "text_config": part})
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 9))  # the library asks on it
    with pytest.raises(SourceError, match="Unrecognized configuration class"):
        load(text, LoadOptions())
    assert not canary.exists()


@pytest.mark.slow
def test_code_beside_a_known_model_is_left_alone(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    (tmp_path / "theirs.py").write_text(WRITES.format(canary=str(canary)))
    named = {"AutoConfig": "theirs.Config", "AutoModelForCausalLM": "theirs.Model"}
    text = write(tmp_path, {"model_type": "llama", **SMALL, "auto_map": named})
    assert type(load(text, LoadOptions()).module).__name__ == "LlamaForCausalLM"
    assert not canary.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pipeline", "Trainer", "AutoModel", "models"])
def test_a_class_that_is_no_model_is_refused(tmp_path: Path, name: str) -> None:
    text = write(tmp_path, {"model_type": "bert", **SMALL, "architectures": ["Mine", name]})
    with pytest.raises(SourceError, match=f"names '{name}' as its class, which is no model of"):
        load(text, LoadOptions())


@pytest.mark.slow
@pytest.mark.parametrize("place", ["model_args", "backbone_config"])
def test_a_part_of_timm_reads_no_checkpoint(tmp_path: Path, place: str) -> None:
    weights = tmp_path / "theirs.pth"
    os.mkfifo(weights)  # whoever opened it would hang
    given = {"checkpoint_path": str(weights)}
    config = {"model_type": "timm_wrapper", "architecture": "resnet18", "model_args": given}
    whole = config if place == "model_args" else {"model_type": "detr", place: config}
    with pytest.raises(SourceError, match="model_args is "):
        load(write(tmp_path, whole), LoadOptions())


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"attn_implementation": "org/kernels:attention"}, "attn_implementation is 'org/kernels"),
        ({"_attn_implementation": "flash_attention_2"}, "_attn_implementation is 'flash"),
        ({"attn_implementation": {"text_config": "org/k"}}, "attn_implementation is "),
        ({"text_config": {"_attn_implementation_internal": "org/k"}}, "text_config._attn_impl"),
        ({"experts_implementation": "deepgemm"}, "experts_implementation is 'deepgemm'"),
        ({"architectures": ["os.system"]}, "architectures is \"['os.system']\", want names"),
        ({"architectures": ["__builtins__"]}, "architectures is "),
        ({"torch_dtype": "load"}, "torch_dtype is 'load'"),
        ({"vision_config": {"dtype": "hub.load"}}, "vision_config.dtype is 'hub.load'"),
        ({"router_dtype": "_C"}, "router_dtype is '_C'"),
        ({"backbone": "local-dir:/tmp/model"}, "backbone is 'local-dir:/tmp/model'"),
        ({"backbone": "hf-hub:org/model"}, "backbone is 'hf-hub:org/model'"),
        ({"backbone": "../model"}, "backbone is '../model'"),
        ({"architecture": "local-dir:/tmp/model"}, "architecture is 'local-dir:/tmp/model'"),
        ({"backbone_kwargs": {"checkpoint_path": "x"}}, "backbone_kwargs is "),
        ({"backbone_kwargs": {"pretrained": True}}, "backbone_kwargs is "),
        ({"model_args": {"pretrained_cfg": {"file": "x"}}}, "model_args is "),
        ({"model_args": {"cache_dir": "x"}}, "model_args is "),
        ({"model_args": {"act_layer": "../x"}}, "model_args is "),
        ({"model_args": [1]}, "model_args is "),
        ({"parts": [{"backbone": "a/b"}]}, "backbone is 'a/b'"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is a larger number than any model has"),
        ({"vision_config": {"depths": [2, 10**6]}}, "vision_config.depths is a larger number"),
        ({"n_routed_experts": 10**6}, "n_routed_experts is a larger number"),
        ({"num_labels": 10**9}, "num_labels is a larger number"),
        ({"configuration_files": ["config.4.0.0.json"]}, "names another config to read instead"),
    ],
    ids=str,
)
def test_a_config_is_refused_before_the_library_is_loaded(
    tmp_path: Path, config: dict[str, Any], words: str
) -> None:
    text = write(tmp_path, {"model_type": "bert", **config})
    with pytest.raises(SourceError) as caught:
        select(text).check(text, LoadOptions())
    assert words in caught.value.message
    assert "--trust" in caught.value.hint
    select(text).check(text, LoadOptions(trust=True))


def test_a_part_of_a_pipeline_is_checked_too(tmp_path: Path) -> None:
    config = {"_class_name": "UNet2DModel", "torch_dtype": "load"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(SourceError, match="torch_dtype is 'load'"):
        select(str(tmp_path)).check(str(tmp_path), LoadOptions())


def test_what_names_code_and_places_is_left_out() -> None:
    config = {
        "auto_map": {}, "name_or_path": "x", "use_pretrained_backbone": True,
        "backbone": "resnet50.a1_in1k", "label2id": {"auto_map": 1}, "limit": {"__float__": "NaN"},
        "parts": [{"_name_or_path": "x", "dtype": "float16"}], "torch_dtype": None,
        "backbone_kwargs": {"out_indices": [1, 2], "act_layer": "gelu"},
        "attn_implementation": {"": "eager", "text_config": "sdpa"}, "block_size": 10**6,
    }  # fmt: skip
    assert repr(checked(Path(), config)) == repr({
        "use_pretrained_backbone": False, "backbone": "resnet50.a1_in1k",
        "label2id": {"auto_map": 1}, "limit": float("nan"), "parts": [{"dtype": "float16"}],
        "torch_dtype": None, "backbone_kwargs": {"out_indices": [1, 2], "act_layer": "gelu"},
        "attn_implementation": {"": "eager", "text_config": "sdpa"}, "block_size": 10**6,
    })  # fmt: skip


def test_a_config_without_end_is_refused() -> None:
    deep: Any = 1
    for _ in range(50):
        deep = {"part": [deep]}
    with pytest.raises(SourceError, match="nested too deeply"):
        checked(Path(), deep)


def test_the_data_types_are_those_of_torch() -> None:
    named = {name for name, value in vars(torch).items() if isinstance(value, torch.dtype)}
    assert DTYPES - named == {"auto"}


@pytest.mark.slow
def test_the_ways_to_attend_need_no_package() -> None:
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    assert {name for name in ALL_ATTENTION_FUNCTIONS.valid_keys() if name not in ATTENTION} == {
        "flash_attention_2",
        "flash_attention_3",
        "flash_attention_4",
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bert", "detr", "mamba2", "mistral", "timm_wrapper", "whisper"])
def test_a_config_is_read_as_the_library_reads_it(tmp_path: Path, kind: str) -> None:
    import transformers

    from opcheck.source.building.huggingface import transformers_model

    transformers.CONFIG_MAPPING[kind]().save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    ours = transformers_model._config(transformers, path, trust=False)
    theirs = transformers.AutoConfig.from_pretrained(str(tmp_path), local_files_only=True)
    assert type(ours) is type(theirs)
    assert {**ours.to_dict(), "_name_or_path": ""} == {**theirs.to_dict(), "_name_or_path": ""}
