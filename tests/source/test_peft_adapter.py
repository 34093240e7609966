"""Folders of LoRA adapters: the base model's config, and what PEFT would add to it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.app.main import run
from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import ExitCode, SourceError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.adapter_folder import Adapter, base_config, read_adapter
from opcheck.source.base import LoadOptions
from opcheck.source.building.lora import add
from opcheck.source.load import load, select

pytestmark = pytest.mark.usefixtures("libraries_are_loaded")

BASE = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
    "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 100, "dtype": "bfloat16",
}  # fmt: skip
LORA = {
    "peft_type": "LORA", "base_model_name_or_path": "acme/small-llama", "r": 4, "lora_alpha": 8,
    "lora_dropout": 0.1, "target_modules": ["q_proj", "v_proj"], "bias": "none",
}  # fmt: skip


def folder(path: Path, base: Any = BASE, **fields: Any) -> Path:
    path.mkdir(exist_ok=True)
    (path / "adapter_config.json").write_text(json.dumps({**LORA, **fields}))
    if base is not None:
        (path / "config.json").write_text(json.dumps(base))
    return path


def built(path: Path, **options: Any) -> nn.Module:
    module = load(str(path), LoadOptions(**options)).module
    assert isinstance(module, nn.Module)
    return module


def added(module: nn.Module) -> list[str]:
    return [
        name for name, part in module.named_modules() if "lora_A" in dict(part.named_children())
    ]


@pytest.mark.slow
def test_an_adapter_adds_to_the_layers_that_it_names(tmp_path: Path) -> None:
    found = built(folder(tmp_path))
    assert added(found) == [
        f"model.layers.{n}.self_attn.{name}" for n in range(3) for name in ("q_proj", "v_proj")
    ]
    layer: Any = found.get_submodule("model.layers.0.self_attn.v_proj")
    assert layer.base_layer.weight.dtype == torch.bfloat16
    shapes = {n: (tuple(p.shape), p.dtype) for n, p in layer.named_parameters() if "lora" in n}
    assert shapes == {
        "lora_A.weight": ((4, 64), torch.float32), "lora_B.weight": ((32, 4), torch.float32),
    }  # fmt: skip


@pytest.mark.slow
def test_a_scan_has_what_the_adapter_computes(tmp_path: Path) -> None:
    path = str(folder(tmp_path))
    with_it, without = (
        scan_answer.scan(ScanRequest(ModelSpec(source), (TargetSpec.parse("ascend-910b"),)))
        for source in (path, f"hf:{path}")
    )
    assert (with_it.model.kind, without.model.kind) == ("peft", "hf")
    counts = [
        {finding.op: finding.count for finding in report.targets[0].findings}
        for report in (with_it, without)
    ]
    more = {op: counts[0][op] - counts[1].get(op, 0) for op in counts[0]}
    assert {op: count for op, count in more.items() if count} == {
        "aten::linear": 12, "aten::add.Tensor": 6, "aten::mul.Tensor": 6, "aten::to.dtype": 12,
        "aten::dropout": 6,
    }  # fmt: skip
    assert f"the adapter adds to 6 layers of {tmp_path / 'config.json'}" in with_it.trace.notes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"layers_to_transform": [1]}, ["model.layers.1.self_attn.q_proj",
                                        "model.layers.1.self_attn.v_proj"]),
        ({"target_modules": r".*\.2\.mlp\.(up|down)_proj"}, ["model.layers.2.mlp.up_proj",
                                                              "model.layers.2.mlp.down_proj"]),
        ({"target_modules": ["0.self_attn.o_proj", "lm_head"]}, ["model.layers.0.self_attn.o_proj",
                                                                 "lm_head"]),
        ({"target_modules": ["q_proj"], "exclude_modules": ["1.self_attn.q_proj"]},
         ["model.layers.0.self_attn.q_proj", "model.layers.2.self_attn.q_proj"]),
        ({"target_modules": ["lm_head", "layers.0.mlp.up_proj"], "modules_to_save": ["lm_head"]},
         ["model.layers.0.mlp.up_proj"]),
    ],
)  # fmt: skip
def test_names_and_patterns_choose_layers(
    fields: Mapping[str, Any], wanted: list[str], tmp_path: Path
) -> None:
    assert added(built(folder(tmp_path, **fields))) == wanted


@pytest.mark.slow
def test_a_rank_may_be_another_for_some(tmp_path: Path) -> None:
    found = built(folder(tmp_path, rank_pattern={"2.self_attn.q_proj": 16}))
    ranks = {name: found.get_submodule(f"{name}.lora_A").out_features for name in added(found)}
    assert {name for name, rank in ranks.items() if rank == 16} == {
        "model.layers.2.self_attn.q_proj"
    }
    assert set(ranks.values()) == {4, 16}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "trained"),
    [({}, {"lora_A.weight", "lora_B.weight"}),
     ({"modules_to_save": ["lm_head"]}, {"lora_A.weight", "lora_B.weight", "lm_head.weight"})],
)  # fmt: skip
def test_nothing_but_the_adapter_is_trained(
    fields: Mapping[str, Any], trained: set[str], tmp_path: Path
) -> None:
    found = built(folder(tmp_path, **fields), train=True)
    names = {name for name, parameter in found.named_parameters() if parameter.requires_grad}
    assert {".".join(name.split(".")[-2:]) for name in names} == trained


def test_the_base_is_found_beside_it_where_it_says_or_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    kept = tmp_path / "home/hub/models--acme--small-llama"
    (kept / "snapshots" / commit).mkdir(parents=True)
    (kept / "refs").mkdir()
    (kept / "refs/main").write_text(commit)
    downloaded = kept / "snapshots" / commit / "config.json"
    downloaded.write_text(json.dumps(BASE))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    adapter = folder(tmp_path / "adapter", base=None) / "adapter_config.json"
    assert base_config(adapter) == downloaded
    folder(tmp_path / "adapter", base=None, base_model_name_or_path=str(kept.parent))
    with pytest.raises(SourceError):
        base_config(adapter)
    named = folder(tmp_path / "named", base=BASE)
    folder(tmp_path / "adapter", base=None, base_model_name_or_path=str(named))
    assert base_config(adapter) == named / "config.json"
    folder(tmp_path / "adapter")
    assert base_config(adapter) == tmp_path / "adapter/config.json"


@pytest.mark.parametrize(
    ("fields", "message", "hint"),
    [
        ({"peft_type": "IA3"}, "peft_type is 'ia3'", "only adapters of LoRA"),
        ({"use_dora": True}, "use_dora has it compute otherwise than LoRA does", "FILE.py:FUNC"),
        ({"r": 0}, "r is 0, want a whole number from 1 on", "PEFT refuses"),
        ({"r": True}, "r is True, want a whole number from 1 on", "PEFT refuses"),
        ({"lora_alpha": "8"}, "lora_alpha is '8', want a number", "PEFT refuses"),
        ({"lora_dropout": 2}, "lora_dropout is 2, want a number from 0 to 1", "PEFT refuses"),
        ({"target_modules": None}, "target_modules is None, want a list of names", "PEFT refuses"),
        ({"target_modules": "(q"}, "target_modules is '(q', want a list of names", "PEFT refuses"),
        ({"target_modules": [1]}, "target_modules is [1], want a list of names", "PEFT refuses"),
        ({"modules_to_save": "x"}, "modules_to_save is 'x', want a list of names", "PEFT refuses"),
        ({"layers_to_transform": -1}, "layers_to_transform is -1, want a whole", "PEFT refuses"),
        ({"rank_pattern": {"(": 1}}, "rank_pattern is {'(': 1}, want whole", "PEFT refuses"),
        ({"use_rslora": 1}, "use_rslora is 1, want true or false", "PEFT refuses"),
        ({"bias": "some"}, "bias is 'some', want none, all or lora_only", "PEFT refuses"),
    ],
)  # fmt: skip
def test_what_is_no_adapter_of_lora_is_one_error(
    fields: Mapping[str, Any], message: str, hint: str, tmp_path: Path
) -> None:
    path = folder(tmp_path, **fields) / "adapter_config.json"
    with pytest.raises(SourceError) as caught:
        read_adapter(path)
    assert caught.value.message.startswith(f"{path}: {message}")
    assert caught.value.hint is not None
    assert hint in caught.value.hint
    with speaking(Language.CHINESE):
        assert "want" not in tell(caught.value.message)
        assert tell(caught.value.hint) != caught.value.hint


@pytest.mark.parametrize(
    ("name", "message"),
    [("acme/not-here", "the base model 'acme/not-here' is not here"), ("", "names no base model")],
)
def test_a_base_that_is_not_here_is_one_error(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder(tmp_path, base=None, base_model_name_or_path=name)
    assert run(["scan", str(path), "-t", "ascend-910b"]) == ExitCode.MODEL
    said = " ".join(capsys.readouterr().err.split())
    assert message in said
    assert "put the base model's config.json beside the adapter's" in said


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(30, 16)
        self.line = nn.Linear(16, 12)
        self.image = nn.Conv2d(4, 8, 3, stride=2, padding=1)
        self.norm = nn.LayerNorm(12)


@pytest.mark.parametrize(
    ("targets", "message"),
    [(("absent",), "no module of Net is among its target_modules"),
     (("norm",), "target_modules has norm, a LayerNorm, which LoRA is not for")],
)  # fmt: skip
def test_an_adapter_of_another_model_is_one_error(targets: tuple[str, ...], message: str) -> None:
    with pytest.raises(SourceError, match="a: " + message):
        add(Net(), Adapter(4, 8.0, targets=targets), "a")


def test_a_folder_with_both_configs_is_an_adapter_and_a_config_by_name_is_not(
    tmp_path: Path,
) -> None:
    path = folder(tmp_path)
    names = [str(path), str(path / "adapter_config.json"), str(path / "config.json"), f"hf:{path}"]
    assert [select(name).name for name in names] == ["peft", "peft", "hf", "hf"]


INPUTS = {
    "table": lambda: torch.arange(6).view(2, 3),
    "line": lambda: torch.randn(2, 16),
    "image": lambda: torch.randn(2, 4, 8, 8),
}


@pytest.mark.library
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_layers_compute_what_peft_s_do(name: str, dtype: torch.dtype) -> None:
    peft = pytest.importorskip("peft")
    torch.manual_seed(0)
    own, base = Net().to(dtype), Net().to(dtype)
    base.load_state_dict(own.state_dict())
    fields = {"r": 4, "lora_alpha": 16, "target_modules": [name], "lora_dropout": 0.2}
    theirs = peft.get_peft_model(base, peft.LoraConfig(**fields)).eval()
    add(own, Adapter(4, 16.0, dropout=0.2, targets=(name,)), "a")
    own.eval()
    ours = dict(own.named_parameters())
    renamed = {
        key.removeprefix("base_model.model.").replace(".default", ""): value
        for key, value in theirs.named_parameters()
    }
    facts = [
        {key: (p.shape, p.dtype, p.requires_grad) for key, p in names.items()}
        for names in (ours, renamed)
    ]
    assert facts[0] == facts[1]
    with torch.no_grad():
        for key, value in renamed.items():
            if "lora" in key:
                value.normal_()
            ours[key].copy_(value)
    given = INPUTS[name]()
    given = given.to(dtype) if given.is_floating_point() else given
    wanted = theirs.base_model.model.get_submodule(name)(given)
    found = own.get_submodule(name)(given)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert found.equal(wanted)
