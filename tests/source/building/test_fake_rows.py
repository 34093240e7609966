"""Data sets of Hugging Face that are not here: random rows stand for them, where that is asked."""

from pathlib import Path

import pytest

from opcheck.commands.run import answer
from opcheck.model.request import ModelSpec
from opcheck.model.script import Data, Ending, ScriptRequest, ScriptRun, ScriptSpec
from opcheck.model.target import TargetSpec
from tests.lang.told import in_chinese

LIBRARY = """\
class Value:
    def __init__(self, dtype):
        self.dtype = dtype


class ClassLabel:
    def __init__(self, names):
        self.names = names


class Features(dict):
    pass


class Dataset:
    def __init__(self, values, features):
        self.values, self.features, self.column_names = values, features, list(values)

    @classmethod
    def from_dict(cls, values, features):
        return cls(values, features)

    def __len__(self):
        return len(self.values[self.column_names[0]])

    def __getitem__(self, index):
        return {name: column[index] for name, column in self.values.items()}


class DatasetDict(dict):
    pass


def Image():
    return "image"


from datasets.load import load_dataset
"""
LOAD = """\
def load_dataset(path, name=None, **kwargs):
    raise ConnectionError(f"Couldn't reach {path!r} on the Hub (OfflineModeIsEnabled)")
"""
PAIRS = """\
import torch
from datasets import load_dataset

rows = load_dataset("glue", "mrpc")
assert {name: len(split) for name, split in rows.items()} == {
    "train": 1000, "validation": 200, "test": 200}
assert rows["train"].features["label"].names == ["0", "1"]
assert rows["train"][3]["label"] == 1 and len(rows["train"][3]["sentence1"].split()) == 24
torch.ones(2).cuda()
"""
WHOLE = """\
import torch
from datasets import load_dataset

assert set(load_dataset("nyu-mll/glue", "mnli")) == {
    "train", "validation_matched", "validation_mismatched", "test_matched", "test_mismatched"}
assert len(load_dataset("imdb", split="train[:10%]+test")) == 300
assert [len(split) for split in load_dataset("imdb", split=["train[5:9]", "test"])] == [4, 200]
assert load_dataset("cifar10", split="train")[7]["img"].size == (32, 32)
assert load_dataset("ylecun/mnist", split="test")[7]["image"].mode == "L"
assert len(load_dataset("conll2003")["train"][0]["ner_tags"]) == 24
assert set(load_dataset("wmt16", "de-en")["train"][0]["translation"]) == {"de", "en"}
assert load_dataset("squad")["train"][0]["answers"]["answer_start"] == [0]
assert isinstance(load_dataset("glue", "stsb")["train"][0]["label"], float)
for streamed in (load_dataset("imdb", split="train", streaming=True),
                 load_dataset("imdb", streaming=True)["test"]):
    assert set(next(iter(streamed))) == {"text", "label"}
torch.ones(2).cuda()
"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(text: str, data: Data = Data.FAKE) -> ScriptRun:
    Path("train.py").write_text(text)
    return answer.run(
        ScriptRequest(
            ScriptSpec("train.py"), ModelSpec("train.py"), TargetSpec("ascend-910b"), data=data
        )
    )


def with_library(text: str, data: Data = Data.FAKE) -> ScriptRun:
    Path("datasets").mkdir()
    Path("datasets/__init__.py").write_text(LIBRARY)
    Path("datasets/load.py").write_text(LOAD)
    return run(text, data)


@pytest.mark.slow
def test_random_rows_stand_for_what_is_not_here() -> None:
    found = with_library(PAIRS)
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")
    said = "the data set glue/mrpc is not here: random rows stand for it "
    note = f"{said}(sentence1, sentence2, label, idx)"
    assert note in found.emulation.notes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("imdb", Data.NONE, "; with --data fake random rows stand for it"),
        ("me/mine", Data.FAKE, ", and nothing here says which columns it has: put rows of it into "
         "a file, and load them with load_dataset('json', data_files=...)"),
    ],
)  # fmt: skip
def test_what_nothing_stands_for_fails_as_ever_and_is_named(
    name: str, data: Data, said: str
) -> None:
    found = with_library(f"from datasets import load_dataset\nload_dataset({name!r})\n", data)
    assert found.ending is Ending.FAILED
    assert found.emulation.error == (
        f"ConnectionError: Couldn't reach '{name}' on the Hub (OfflineModeIsEnabled)"
    )
    note = f"the data set {name} is not here{said}"
    assert note in found.emulation.notes
    (told,) = in_chinese([n for n in found.emulation.notes if n == note])
    assert told.startswith(f"此处没有数据集 {name}")


METRIC = """\
import evaluate
import torch

metric = evaluate.load("glue", "mrpc")
metric.add_batch(predictions=[1], references=[1])
assert metric.compute(predictions=[0], references=[1]) == {}
torch.ones(2).cuda()
"""


@pytest.mark.slow
@pytest.mark.parametrize("data", [Data.FAKE, Data.NONE])
def test_a_metric_that_is_not_here_gives_no_figures(data: Data) -> None:
    Path("evaluate").mkdir()
    Path("evaluate/__init__.py").write_text("from evaluate.loading import load\n")
    loading = "def load(path, config_name=None):\n    raise ConnectionError(path)\n"
    Path("evaluate/loading.py").write_text(loading)
    found = run(METRIC, data)
    note = "the metric glue/mrpc is not here: one that gives no figures stands for it"
    stands = data is Data.FAKE
    assert (found.ending is Ending.RETURNED, note in found.emulation.notes) == (stands, stands)


@pytest.mark.slow
def test_files_that_the_caller_names_are_left_to_the_library() -> None:
    found = with_library("from datasets import load_dataset\nload_dataset('csv')\n")
    assert found.ending is Ending.FAILED
    assert not [note for note in found.emulation.notes if "data set" in note]


@pytest.mark.slow
def test_rows_of_the_library_itself_are_those_of_each_data_set() -> None:
    pytest.importorskip("datasets", reason="datasets of Hugging Face is not installed")
    found = run(WHOLE)
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")
