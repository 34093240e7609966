"""Configs and tokenizers that are not here, and the names of files that were wanted."""

import json
from pathlib import Path

import pytest

from opcheck.commands.run import answer
from opcheck.model.request import ModelSpec
from opcheck.model.script import Data, Ending, ScriptRequest, ScriptRun, ScriptSpec
from opcheck.model.target import TargetSpec
from tests.lang.told import in_chinese

TRAIN = """\
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertTokenizerFast

sizes = {"bert-base-uncased": 30522, "FacebookAI/roberta-base": 50265, "gpt2": 50257,
         "t5-small": 32128, "facebook/opt-125m": 50272}
for name, size in sizes.items():
    tokenizer = AutoTokenizer.from_pretrained(name)
    ids = tokenizer("three short words")["input_ids"]
    assert (len(tokenizer), len(ids) >= 3, max(ids) < size) == (size, True, True), name
tokenizer = BertTokenizerFast.from_pretrained("google-bert/bert-base-uncased")
batch = tokenizer(["one", "one and more"], ["two", "two"], padding=True, truncation=True,
                  max_length=6, return_tensors="pt")
assert batch["input_ids"].tolist() == [[101, 100, 102, 100, 102, 0], [101, 100, 100, 102, 100, 102]]
assert batch["token_type_ids"].tolist() == [[0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 1, 1]]
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3)
assert (model.config.num_labels, model.config.hidden_size) == (3, 768)
model.cuda()(**batch.to("cuda"), labels=torch.tensor([0, 1]).cuda()).loss.backward()
"""
OWN = """\
import torch
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("mine")
assert tokenizer.get_vocab() | {"<s>": 1, "</s>": 2, "<unk>": 0} == tokenizer.get_vocab()
assert (len(tokenizer), tokenizer.pad_token, tokenizer("a b")["input_ids"]) == (90, None, [0, 0])
torch.ones(2).cuda()
"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(text: str, data: Data) -> ScriptRun:
    pytest.importorskip("transformers")
    Path("train.py").write_text(text)
    return answer.run(
        ScriptRequest(
            ScriptSpec("train.py"), ModelSpec("train.py"), TargetSpec("ascend-910b"), data=data
        )
    )


@pytest.mark.slow
def test_what_is_known_stands_for_what_is_not_here() -> None:
    found = run(TRAIN, Data.FAKE)
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")
    config = "the config of gpt2 is not here: one that is written down stands for it"
    tokenizer = "the tokenizer of gpt2 is not here: one of 50257 made-up words stands for it"
    assert {config, tokenizer} <= set(found.emulation.notes)
    told = in_chinese([note for note in found.emulation.notes if note in (config, tokenizer)])
    assert told == [
        "此处没有 gpt2 的配置：以内置的配置代替",
        "此处没有 gpt2 的分词器：以含 50257 个虚构词的分词器代替",
    ]


@pytest.mark.slow
def test_a_tokenizer_is_made_by_the_config_that_is_here() -> None:
    Path("mine").mkdir()
    config = {"model_type": "llama", "vocab_size": 90, "hidden_size": 64, "bos_token_id": 1}
    Path("mine/config.json").write_text(
        json.dumps({**config, "eos_token_id": 2, "num_attention_heads": 4})
    )
    found = run(OWN, Data.FAKE)
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data"), [("bert-base-uncased", Data.NONE), ("me/mine", Data.FAKE)]
)
def test_the_file_that_was_wanted_is_named(name: str, data: Data) -> None:
    text = f"from transformers import AutoTokenizer\nAutoTokenizer.from_pretrained({name!r})\n"
    found = run(text, data)
    assert found.ending is Ending.FAILED
    assert found.emulation.error.startswith("OSError: We couldn't connect to")
    note = (
        f"wants the file config.json of {name}, which is neither in a folder of that name nor in "
        "the cache of Hugging Face"
    )
    assert note in found.emulation.notes
