"""Lists of whole models: how they are read from repositories, and what they say of a model."""

import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from opcheck.commands.models.answer import models
from opcheck.db.by_hand.overlays import MODELS
from opcheck.db.importers.models.__main__ import main, readers
from opcheck.db.importers.models.base import types_of
from opcheck.db.importers.models.optimum_habana import OptimumHabana
from opcheck.db.importers.models.torch_xpu_ops import TorchXpuOps
from opcheck.db.importers.models.tpu_inference import TpuInference
from opcheck.db.importers.models.vllm_ascend import VllmAscend
from opcheck.db.importers.shared.repository import Repository
from opcheck.db.model_lists import evidence_on, named
from opcheck.db.schema.checks import ShapeError
from opcheck.db.schema.model_lists import _WORDS
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.model_lists import Likeness, ModelIdentity, Outcome
from opcheck.model.target import Target, TargetSpec
from opcheck.source.identity import identity_of, identity_of_module

SHIPPED = Database.open()
ROWS = SHIPPED.model_rows
LISTS = sorted({row.of.name for row in ROWS})


def target(name: str) -> Target:
    return SHIPPED.resolve(TargetSpec(name))


def repository(folder: Path, files: Mapping[str, str]) -> Repository:
    """A git repository of one commit with these files."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    me = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run(["git", "-C", str(folder), *me, *arguments], check=True)
    return Repository(folder, "main")


def rows_of(text: str) -> list[Any]:
    said: list[Any] = yaml.safe_load(text)["models"]
    return said


def test_each_reader_has_its_file() -> None:
    assert sorted(readers()) == LISTS
    assert {path.stem for path in (SHIPPED.root / MODELS).glob("*")} == set(LISTS)


@pytest.mark.parametrize("name", LISTS)
def test_every_row_is_cited_at_a_commit(name: str) -> None:
    facts = [row.evidence for row in ROWS if row.of.name == name]
    assert all(f.line and f.path and len(f.commit) == 40 and f.date for f in facts)
    assert {fact.source for fact in facts} == {readers()[name].repo}


@pytest.mark.parametrize("name", LISTS)
def test_a_model_is_listed_once_for_a_chip_and_mode_with_a_line(name: str) -> None:
    keys = Counter(
        (row.name, row.mode, row.chips, row.evidence.path, row.evidence.line)
        for row in ROWS
        if row.of.name == name
    )
    assert [key for key, count in keys.items() if count > 1] == []


PAGE = """\
# Supported Models

=== "A2/A3"

    | Model | Support | Note | BF16 | Supported Hardware | W8A8 |
    |-------|---------|------|------|--------------------|------|
    | Qwen3-Dense | ✅ |  | ✅ | A2/A3 | 🟡 |
    | DeepSeek V3/3.1 | 🔵 | | ✅ | A2/A3/Ascend950 | ✅ |

| Model | Support | Note | Supported Hardware |
|---|---|---|---|
| Whisper | ❌ | [2262](https://github.com/x/y/issues/2262) | |
| InternVL2.0/2.5<br>Mono-InternVL | 🟡 | Need test | Atlas 300I DUO |
| Nothing | maybe | | A2 |
| XLM-RoBERTa-based | 🔵 | FP16; embedding | Atlas 300I DUO |
"""


def test_signs_and_products_of_vllm_ascend_are_read(tmp_path: Path) -> None:
    path = "docs/source/user_guide/support_matrix/supported_models.md"
    assert rows_of(VllmAscend().run(repository(tmp_path, {path: PAGE}))) == [
        {"name": "Qwen3-Dense", "says": "supported", "in": {"supported": ["bfloat16"]},
         "chips": ["910b", "910c"], "types": ["qwen3"], "at": "page:7"},
        {"name": "DeepSeek V3/3.1", "says": "experimental",
         "in": {"experimental": ["bfloat16", "w8a8"]}, "chips": ["910b", "910c", "950"],
         "types": ["deepseek_v3"], "at": "page:8"},
        {"name": "Whisper", "says": "unsupported", "types": ["whisper"], "note": "issue 2262",
         "at": "page:12"},
        {"name": "InternVL2.0/2.5, Mono-InternVL", "says": "untested", "chips": ["310p"],
         "types": ["internvl_chat", "internvl"], "note": "Need test", "at": "page:13"},
        {"name": "XLM-RoBERTa-based", "in": {"experimental": ["float16"]}, "chips": ["310p"],
         "types": ["xlm-roberta"], "note": "FP16; embedding", "at": "page:15"},
    ]  # fmt: skip


RUNNER = "runner: ${{ matrix.scenario == 'performance' && 'pvc-1550' || 'pvc' }}\n"
CSV = "name,float32,bfloat16\n"


def expected(runner: str = RUNNER) -> dict[str, str]:
    folder = ".github/ci_expected_accuracy/rolling/inductor"
    files = {
        f"{folder}_{suite}_{mode}.csv": CSV
        for suite in ("huggingface", "timm_models", "torchbench")
        for mode in ("inference", "training")
    }
    files[f"{folder}_huggingface_training.csv"] += "BertForMaskedLM,pass,fail_accuracy\n"
    files[f"{folder}_timm_models_inference.csv"] += (
        "# https://github.com/x/y/issues/1\nvit_base.fb_in1k,eager_1st_run_OOM,fail_to_run\n"
    )
    files[f"{folder}_torchbench_inference.csv"] += (
        "resnet50,pass_due_to_skip,model_fail_to_load\nvgg16,pass,eager_fail_to_run\n"
        "hf_Bert,pass,pass\n"
    )
    return {**files, ".github/workflows/nightly_ondemand.yml": runner}


def test_what_the_tests_of_xpu_expect_is_read(tmp_path: Path) -> None:
    assert rows_of(TorchXpuOps().run(repository(tmp_path, expected()))) == [
        {"name": "BertForMaskedLM", "in": {"supported": ["float32"], "inaccurate": ["bfloat16"]},
         "mode": "train", "classes": ["BertForMaskedLM"], "at": "huggingface-training:2"},
        {"name": "vit_base.fb_in1k",
         "in": {"compile-fails": ["bfloat16"], "out-of-memory": ["float32"]},
         "builds": ["timm:vit_base"], "at": "timm_models-inference:3"},
        {"name": "vgg16", "in": {"supported": ["float32"], "fails": ["bfloat16"]},
         "builds": ["torchvision:vgg16"], "at": "torchbench-inference:3"},
        {"name": "hf_Bert", "in": {"supported": ["float32", "bfloat16"]}, "types": ["bert"],
         "at": "torchbench-inference:4"},
    ]  # fmt: skip


def test_expectations_of_another_runner_are_not_taken_for_those_of_this_chip(
    tmp_path: Path,
) -> None:
    with pytest.raises(ValueError, match="names another runner"):
        TorchXpuOps().run(repository(tmp_path, expected("runner: bmg\n")))


README = """\
| Architecture | Training | Inference | Tasks |
|:--|:--:|:--:|:--|
| BERT | :heavy_check_mark: | <ul><li>Single card</li><li>DeepSpeed</li></ul> | x |
| StarCoder / StarCoder2 | | :heavy_check_mark: | x |

| Other | Training |
|--|--|
| BERT | yes |
"""
FIGURES = """\
{
  "tests/test_text_generation_example.py::test_text_generation_bf16_1x[a/Llama-2-7b-1-True-False]": {
    "gaudi2": {
      "throughput": 1
    }
  },
  "tests/test_text_generation_example.py::test_text_generation_fp8[a/Llama-2-7b-1-1230-False-128-128-True]": {
    "gaudi2": {
      "throughput": 1
    }
  },
  "tests/test_text_generation_example.py::test_text_generation_bf16_1x[b/phi-2-1-False-False-False]": {
    "gaudi1": {
      "throughput": 1
    },
    "gaudi3": {
      "throughput": 1
    }
  },
  "tests/test_examples.py::MultiCard::test_run_qa_roberta-large_multi_card": {
    "gaudi3": {
      "f1": 1
    }
  },
  "tests/test_other.py::test_of_nothing_named": {
    "gaudi2": {
      "throughput": 1
    }
  }
}
"""  # noqa: E501


def test_architectures_and_tested_checkpoints_of_gaudi_are_read(tmp_path: Path) -> None:
    files = {"README.md": README, "tests/baselines/fixture/tests/test_some_example.json": FIGURES}
    assert rows_of(OptimumHabana().run(repository(tmp_path, files))) == [
        {"name": "BERT", "says": "supported", "types": ["bert"], "note": "Single card, DeepSpeed",
         "at": "readme:3"},
        {"name": "BERT", "says": "supported", "mode": "train", "types": ["bert"], "at": "readme:3"},
        {"name": "StarCoder / StarCoder2", "says": "supported",
         "types": ["gpt_bigcode", "starcoder2"], "at": "readme:4"},
        {"name": "a/Llama-2-7b", "in": {"supported": ["bfloat16", "float8"]}, "types": ["llama"],
         "chips": ["gaudi2"], "at": "some-example:2"},
        {"name": "b/phi-2", "in": {"supported": ["bfloat16"]}, "types": ["phi"],
         "chips": ["gaudi1", "gaudi3"], "at": "some-example:12"},
        {"name": "roberta-large", "says": "supported", "mode": "train", "types": ["roberta"],
         "chips": ["gaudi3"], "at": "some-example:20"},
    ]  # fmt: skip


def test_models_that_a_release_for_tpus_tested_are_read(tmp_path: Path) -> None:
    said = (
        "Model,Type,UnitTest,Accuracy/Correctness,Benchmark\n"
        '"Qwen/Qwen3-32B",Text,✅ Passing,✅ Passing,✅ Passing\n'
        '"a/B",Text,✅ Passing,❌ Failing,✅ Passing\n'
        '"a/C",Text,❌ Failing,❓ Untested,❓ Untested\n'
        '"a/D",Text,not enough HBM,not enough HBM,❓ Untested\n'
        '"a/E",Text,❓ Untested,❓ Untested,❌ Failing\n'
    )
    head = said.splitlines(keepends=True)[0]
    path = "support_matrices/release/{}/vllm/model_support_matrix.csv"
    files = {path.format("v6e"): said, path.format("v7x"): head}
    assert rows_of(TpuInference().run(repository(tmp_path, files))) == [
        {"name": "Qwen/Qwen3-32B", "says": "supported", "chips": ["tpu-v6e"], "types": ["qwen3"],
         "at": "v6e:2"},
        {"name": "a/B", "says": "inaccurate", "chips": ["tpu-v6e"], "at": "v6e:3"},
        {"name": "a/C", "says": "fails", "chips": ["tpu-v6e"], "at": "v6e:4"},
        {"name": "a/D", "says": "out-of-memory", "chips": ["tpu-v6e"], "at": "v6e:5"},
    ]  # fmt: skip


def test_a_file_is_written_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "docs/source/user_guide/support_matrix/supported_models.md"
    made = repository(tmp_path / "made", {path: PAGE})
    (tmp_path / "db" / MODELS).mkdir(parents=True)
    into = ["--into", str(tmp_path / "db")]
    assert main(["vllm-ascend", str(made.folder), *into]) == 0
    written = (tmp_path / "db" / MODELS / "vllm-ascend.yaml").read_text(encoding="utf-8")
    assert written == VllmAscend().run(made)
    assert main(["vllm-ascend", str(made.folder), "--revision", "none", *into]) == 4
    told = capsys.readouterr().err
    assert told.startswith(f"error: cannot read {made.folder}: ")
    assert told.endswith("\ngive a git repository, and a revision that it has\n")


def test_families_are_known_by_what_people_call_them() -> None:
    assert types_of("meta-llama/Llama-3.1-8B-Instruct") == ["llama"]
    assert types_of("Phi-3/4") == ["phi3"]
    assert types_of("Qwen2", "Qwen3") == ["qwen2", "qwen3"]
    assert types_of("nobody/knows") == []


LLAMA = ModelIdentity("llama", ("LlamaForCausalLM",), dtype="bfloat16")


def test_what_lists_say_stands_beside_a_verdict() -> None:
    found = evidence_on(ROWS, LLAMA, target("ascend-910b"), "inference", True)
    assert found is not None
    first = found.listed[0]
    assert (first.row.name, first.outcome, first.by) == (
        "Llama2/3/3.1/3.2",
        Outcome.EXPERIMENTAL,
        Likeness.FAMILY,
    )
    assert (found.runs, found.contradicts) == (True, False)


def test_the_opposite_of_a_verdict_is_a_contradiction() -> None:
    whisper = ModelIdentity("whisper", ("WhisperForConditionalGeneration",), dtype="float32")
    said = {
        runs: evidence_on(ROWS, whisper, target("ascend-910b"), "inference", runs)
        for runs in (True, False, None)
    }
    assert {runs: found and (found.runs, found.contradicts) for runs, found in said.items()} == {
        True: (False, True),
        False: (False, False),
        None: (False, False),
    }


def test_a_row_of_other_precisions_is_shown_and_decides_nothing() -> None:
    qwen = ModelIdentity("qwen3", dtype="bfloat16")
    found = evidence_on(ROWS, qwen, target("ascend-310p"), "inference", False)
    assert found is not None
    assert {one.row.name: one.outcome for one in found.listed}["Qwen3-Dense"] is Outcome.UNSUPPORTED
    tested = replace(qwen, model_type="qwen2_moe", dtype="float16")
    found = evidence_on(
        [row for row in ROWS if row.precisions and row.outcome is None], tested,
        target("habana-gaudi2"), "inference", False,
    )  # fmt: skip
    assert found is not None
    assert [one.tells for one in found.listed] == [False]
    assert (found.runs, found.contradicts) == (None, False)


def test_a_training_step_is_beside_rows_of_training_alone() -> None:
    found = evidence_on(ROWS, LLAMA, target("intel-max"), "train", True)
    assert found is not None
    assert {one.row.mode for one in found.listed} == {"train"}
    assert (found.listed[0].outcome, found.contradicts) == (Outcome.FAILS, True)


def test_chips_and_vendors_are_told_apart() -> None:
    assert evidence_on(ROWS, LLAMA, target("intel-arc"), "inference", True) is None
    assert evidence_on(ROWS, LLAMA, target("ascend-910a"), "inference", True) is None
    assert evidence_on(ROWS, ModelIdentity("none"), target("intel-max"), "inference", True) is None


def test_a_model_is_found_by_any_of_its_names() -> None:
    assert {row.name for row in named(ROWS, "llama-3.3")} == {"meta-llama/Llama-3.3-70B-Instruct"}
    assert {row.name for row in named(ROWS, "timm:dla102")} == {"dla102"}
    assert all("gpt_bigcode" in row.types for row in named(ROWS, "GPT_BigCode"))
    assert named(ROWS, "no such model") == ()


def test_rows_are_those_of_the_targets_that_are_named() -> None:
    found = models("llama", (TargetSpec("ascend-910b"),))
    assert {row.of.vendor for row in found.rows} == {"ascend"}
    assert [one.of.name for one in found.lists] == LISTS
    assert len(models("", (TargetSpec("ascend"), TargetSpec("intel-max"))).rows) > 400
    assert models("", (TargetSpec("nvidia-a100"),)).rows == ()
    with pytest.raises(UsageError, match="unknown target"):
        models("", (TargetSpec("ascend-1"),))


def test_a_source_is_known_by_its_config_or_its_name(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(
        '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16"}'
    )
    assert identity_of(str(tmp_path), "hf") == LLAMA
    assert identity_of(f"hf:{config}", "hf") == LLAMA
    config.write_text('{"model_type": "llama", "quantization_config": {}, "architectures": null}')
    assert identity_of(str(tmp_path), "hf") == ModelIdentity("llama")
    config.write_text("{")
    assert identity_of(str(tmp_path), "hf") == ModelIdentity()
    assert identity_of("timm:resnet50.a1_in1k", "timm") == ModelIdentity(
        build="timm:resnet50", dtype="float32"
    )
    assert identity_of("m.py:build", "python") == ModelIdentity()


@pytest.mark.slow
def test_a_live_module_is_known_by_its_class_and_config() -> None:
    import torch
    import transformers

    config = transformers.LlamaConfig(
        hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, vocab_size=8
    )
    module = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
    assert identity_of_module(module) == LLAMA
    assert identity_of_module(torch.nn.Linear(2, 2)) == ModelIdentity(dtype="float32")


def test_a_name_with_a_space_is_refused_in_words() -> None:
    with pytest.raises(ShapeError) as raised:
        _WORDS.check(["910b", "910 c"], ())
    assert "names without spaces" in str(raised.value.expected)
    with speaking(Language.CHINESE):
        assert "names" not in tell(raised.value.expected)
