"""Quantised and compiled models: never plainly green, in whatever form the answer is given."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import opcheck
from opcheck.app.main import run
from opcheck.errors import ExitCode, SourceError
from opcheck.source.model_folder import quantised_modules, quantised_weights
from tests.lang.told import in_chinese

LLAMA = {
    "model_type": "llama", "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
    "intermediate_size": 32, "vocab_size": 64, "architectures": ["LlamaForCausalLM"],
}  # fmt: skip
METHODS = (
    "awq", "gptq", "bitsandbytes", "fp8", "fbgemm_fp8", "compressed-tensors", "torchao", "mxfp4",
    "hqq", "quanto", "aqlm", "vptq", "eetq", "higgs", "spqr", "quark", "bitnet", "auto-round",
)  # fmt: skip
UNSEEN = "what computes with them on the device was not seen"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("inside", ["", "text_config"])
def test_a_config_that_says_how_its_weights_are_quantised(method: str, inside: str) -> None:
    section = {"quantization_config": {"quant_method": method}}
    config = {inside: section} if inside else section
    (gap,) = quantised_weights(Path("m/config.json"), config)
    place = f"{inside}.quantization_config" if inside else "quantization_config"
    assert gap.where == f"m/config.json: {place}"
    assert gap.reason == f"the weights are quantised by {method}; {UNSEEN}"


@pytest.mark.parametrize(
    ("section", "method"),
    [
        ({"load_in_4bit": True}, "bitsandbytes"),
        ({"quant_type": "int4_weight_only"}, "int4_weight_only"),
        ({"quant_method": "a b\nc"}, "a method that it does not name"),
        ({"bits": 4}, "a method that it does not name"),
        ({"quant_method": "intel/auto-round"}, "intel/auto-round"),
        ({"quant_method": "rtn", "load_in_4bit": True}, "bitsandbytes"),
        ({"quant_method": "awq", "load_in_4bit": False}, "awq"),
    ],
)
def test_methods_that_are_named_in_other_ways(section: dict[str, Any], method: str) -> None:
    (gap,) = quantised_weights(Path("config.json"), {"quantization_config": section})
    assert f"quantised by {method};" in gap.reason


def test_a_method_without_a_name_is_a_gap_as_well() -> None:
    (gap,) = quantised_weights(Path("config.json"), {"quantization_config": {"bits": 4}})
    assert gap.reason == f"the weights are quantised by a method that it does not name; {UNSEEN}"
    assert in_chinese([gap.reason]) == [
        "权重按未写明的方法量化；设备上用它们进行计算的部分未被观察到"
    ]


@pytest.mark.parametrize(
    "section", [None, {}, {"load_in_8bit": False, "load_in_4bit": False}, "awq"]
)
def test_what_quantises_nothing(section: Any, tmp_path: Path) -> None:
    assert quantised_weights(tmp_path / "config.json", {"quantization_config": section}) == ()


REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    (
        {"quant_method": "bitsandbytes", "load_in_8bit": True, "load_in_4bit": True},
        "load_in_8bit and load_in_4bit are both set, and only one can be",
    ),
    ({"quant_method": "gptq", "bits": 5}, "bits is 5, want 2, 3, 4 or 8"),
    (
        {"quant_method": "gptq", "bits": 4, "group_size": 0},
        "group_size is 0, want -1 or a positive integer",
    ),
    (
        {"quant_method": "fp8", "activation_scheme": "none"},
        "activation_scheme is none, want dynamic or static",
    ),
    (
        {"quant_method": "fp8", "weight_block_size": [128]},
        "weight_block_size is [128], want two positive integers",
    ),
    (
        {"quant_method": "fp8", "weight_block_size": [128, -1]},
        "weight_block_size is [128, -1], want two positive integers",
    ),
)


def test_a_method_that_no_checkpoint_is_loaded_with() -> None:
    with pytest.raises(SourceError, match="loads no checkpoints of nvfp4"):
        quantised_weights(Path("config.json"), {"quantization_config": {"quant_method": "nvfp4"}})
    from transformers.quantizers.auto import AutoHfQuantizer

    library = AutoHfQuantizer.from_config({"quant_method": "nvfp4"}, pre_quantized=True)
    with pytest.raises(ValueError, match="Loading pre-quantized NVFP4 checkpoints"):
        library.validate_environment(device_map=None)


@pytest.mark.parametrize(("section", "why"), REFUSED)
def test_a_section_that_the_library_refuses(section: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        quantised_weights(Path("config.json"), {"quantization_config": section})
    assert caught.value.args[0] == f"config.json: quantization_config: {why}"


@pytest.mark.parametrize("section", [section for section, _ in REFUSED])
def test_the_library_refuses_these_sections_itself(section: dict[str, Any]) -> None:
    from transformers.quantizers.auto import AutoQuantizationConfig

    with pytest.raises(ValueError):  # each check has a text of its own
        AutoQuantizationConfig.from_dict(dict(section))


@pytest.mark.parametrize(
    "section",
    [
        {"quant_method": "bitsandbytes", "load_in_8bit": False, "load_in_4bit": True},
        {"quant_method": "gptq", "bits": 3, "group_size": -1},
        {"quant_method": "fp8", "activation_scheme": "static", "weight_block_size": None},
        {"quant_method": "fp8", "weight_block_size": [128, 128]},
    ],
)
def test_a_section_that_is_valid_stays_a_gap(section: dict[str, Any]) -> None:
    (gap,) = quantised_weights(Path("config.json"), {"quantization_config": section})
    assert gap.reason == f"the weights are quantised by {section['quant_method']}; {UNSEEN}"


@pytest.mark.parametrize(
    "name", ["quantize_config.json", "quant_config.json", "quant_model_description.json"]
)
def test_a_file_beside_the_config_counts_too(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text('{"bits": 4, "w_bit": 4}')
    (gap,) = quantised_weights(tmp_path / "config.json", {})
    assert gap.where == str(tmp_path / name)


@pytest.mark.slow
def test_a_live_model_says_it_by_its_config() -> None:
    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.config = {"quantization_config": {"quant_method": "hqq"}}
            self.layer = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.layer(x)
            return found

    assert quantised_modules(nn.Linear(2, 2)) == ()
    report = opcheck.scan(nn.Sequential(Packed()), torch.ones(1, 4), targets=["ascend-910b"])
    (gap,) = report.trace.gaps
    assert (gap.where, "quantised by hqq" in gap.reason) == ("0.config", True)
    assert report.targets[0].summary.runs is None


COMPILED = """\
import torch


@torch.compile(fullgraph=True)
def doubled(x):
    return x * 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.compile(torch.nn.Linear(4, 4), backend="inductor")

    def forward(self, x: torch.Tensor):
        return doubled(self.layer(x))


def net():
    return Net(), (torch.ones(2, 4),)
"""
Case = tuple[str, list[str]]


@pytest.fixture(params=["config", "compiled"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    """A source, and what must be said of it."""
    if request.param == "compiled":
        (tmp_path / "net.py").write_text(COMPILED)
        return f"{tmp_path}/net.py:net", ["net.py:15", "layer"]
    quantised = {**LLAMA, "quantization_config": {"quant_method": "quark"}}
    (tmp_path / "config.json").write_text(json.dumps(quantised))
    return str(tmp_path), ["config.json: quantization_config"]


@pytest.mark.slow
def test_every_form_of_the_answer_names_what_is_not_seen(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, places = case
    target = "apple-mps@2.13.0"
    assert run(f"scan {source} -t {target} --format json".split()) == ExitCode.PASS
    report = json.loads(capsys.readouterr().out)
    found = [gap["where"] for gap in report["trace"]["gaps"]]
    for finding in report["targets"][0]["findings"]:
        if finding["verdict"] == "unknown":
            found += [use["module"] or f"{use['file']}:{use['line']}" for use in finding["uses"]]
    assert len(found) == len(places)
    for where, place in zip(sorted(found, key=len, reverse=True), places, strict=True):
        assert where.endswith(place)
    assert report["targets"][0]["summary"]["runs"] is None

    run(f"scan {source} -t {target}".split())
    text = capsys.readouterr().out
    assert "was not seen" in " ".join(text.split())
    assert "✔" not in text.splitlines()[0]

    run(f"scan {source} -t {target} --lang zh".split())
    assert "未被观察到" in "".join(capsys.readouterr().out.split())

    assert run(f"gate {source} -t {target} --format json".split()) == ExitCode.GATE
    causes = json.loads(capsys.readouterr().out)
    assert "was not seen" in json.dumps(causes)

    store = tmp_path / "fleet.db"
    run(f"fleet {source} -t {target} --store {store}".split())
    told = " ".join(capsys.readouterr().out.split())
    assert "apple-mps 0 0 0 1 0 0" in told  # unknown
