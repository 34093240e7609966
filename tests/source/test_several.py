"""Several calls in one scan: entries of a file, sets of inputs, a prompt and a step of decoding."""

from pathlib import Path

import pytest
import torch
from torch import nn

import opcheck
from opcheck.errors import SourceError, UsageError
from opcheck.model.request import CallSpec
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.building.ready import load_live
from opcheck.source.inputs import InputSpec
from opcheck.source.load import load

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)

class Head(nn.Module):
    def forward(self, features):
        return features.softmax(-1)

class Writer(nn.Module):
    def __init__(self, gives=True):
        super().__init__()
        self.embed, self.head, self.gives = nn.Embedding(50, 8), nn.Linear(8, 50), gives

    def forward(self, input_ids, past_key_values=None, use_cache=None):
        x = self.embed(input_ids)
        seen = x if past_key_values is None else torch.cat((past_key_values, x), 1)
        y = torch.softmax(x @ seen.transpose(1, 2), -1) @ seen
        return self.head(y), seen if self.gives else None

def net(): return Net()
def head(): return Head(), torch.ones(2, 4)
def writer(): return Writer()
def forgetful(): return Writer(gives=False)
def yields():
    yield torch.ones(2, 8)
    yield (torch.ones(3, 8),)
    yield {"x": torch.ones(400, 800, 8)}
def one(): return torch.ones(2, 8)
def empty(): return []
def endless():
    while True:
        yield torch.ones(1, 8)
def wrong(): return [torch.ones(2, 8), 5]
def fails():
    yield torch.ones(2, 8)
    raise ValueError("no more")
number = 5
"""


@pytest.fixture(autouse=True)
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET)


def loaded(text: str, *inputs: str, sets: str = "", decode: bool = False) -> Loaded:
    specs = tuple(InputSpec.parse(item) for item in inputs)
    return load(text, LoadOptions(specs, calls=CallSpec.parse(sets, decode=decode)))


def outputs(made: Loaded) -> list[tuple[int, ...]]:
    return [tuple(tensor.shape) for tensor in made.module(*made.args, **made.kwargs)]


@pytest.mark.slow
def test_entries_of_one_file_are_called_one_after_another() -> None:
    made = loaded("net.py:net,head")
    assert outputs(made) == [(1, 8), (2, 4)]
    assert [name for name, _ in made.module.named_children()] == ["net", "head"]  # type: ignore[attr-defined]
    assert made.notes == (
        "called one after another: net, head",
        "net: no inputs given: 1x8:float32, as layer (Linear) wants",
    )


@pytest.mark.slow
def test_a_named_input_goes_to_the_entries_that_take_it() -> None:
    assert outputs(loaded("net.py:net,head", "features=3x5")) == [(1, 8), (3, 5)]
    with pytest.raises(SourceError, match="no forward has a parameter 'xyz'"):
        loaded("net.py:net,head", "xyz=3x5")


@pytest.mark.parametrize(
    ("text", "sets", "message"),
    [
        ("net.py:net,net", "", "names a model twice"),
        ("net.py:net,", "", "which model"),
        ("net.py:net,head", "net.py:yields", "several are named"),
    ],
)
def test_entries_that_are_refused(text: str, sets: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        loaded(text, sets=sets)


def test_sets_of_inputs_are_calls_of_one_model() -> None:
    made = loaded("net.py:net", sets="net.py:yields")
    assert [args or kwargs for args, kwargs in made.args] != []
    assert made.args[2][1]["x"].is_meta
    assert made.notes == ("called on 3 sets of inputs of net.py:yields",)


def test_what_is_no_list_is_one_set() -> None:
    made = loaded("net.py:net", sets="net.py:one")
    assert type(made.module).__name__ == "Net"
    assert [tuple(tensor.shape) for tensor in made.args] == [(2, 8)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("empty", r"empty\(\) of net.py gives no inputs"),
        ("endless", "gives more than 64 sets"),
        ("wrong", "set 2 gives inputs of type int"),
        ("fails", "raised ValueError: no more"),
        ("number", "net.py:number is int, want a function"),
        ("yield_", "net.py has no 'yield_'"),
    ],
)
def test_sets_that_are_refused(name: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        loaded("net.py:net", sets=f"net.py:{name}")


@pytest.mark.parametrize("text", ["net.py", "net:yields", "net.py:", "2x8"])
def test_sets_have_to_be_named_in_a_file(text: str) -> None:
    with pytest.raises(UsageError, match="is not the name of a function"):
        CallSpec.parse(text)


def test_a_file_of_sets_that_is_not_there_is_an_error() -> None:
    with pytest.raises(SourceError, match=r"absent\.py: no such file"):
        loaded("net.py:net", sets="absent.py:yields")


@pytest.mark.slow
def test_a_step_of_decoding_has_the_cache_and_the_weights_of_the_prompt() -> None:
    made = loaded("net.py:writer", "input_ids=1x6:int64", decode=True)
    (first, seen), (step, all_seen) = made.module(*made.args)
    assert [tuple(t.shape) for t in (first, seen, step, all_seen)] == [
        (1, 6, 50), (1, 6, 8), (1, 1, 50), (1, 7, 8),
    ]  # fmt: skip
    module = made.module
    assert isinstance(module, nn.Module)
    assert module.prefill.embed is not module.decode.embed  # type: ignore[union-attr]
    assert len([*module.parameters()]) == 3
    assert made.notes[-1].startswith("prefill is the call on 1x6 tokens, decode that on one more")


@pytest.mark.slow
def test_a_model_without_a_cache_cannot_decode() -> None:
    with pytest.raises(SourceError, match="Net has no step of decoding"):
        loaded("net.py:net", decode=True)
    with pytest.raises(SourceError, match="its output has no past_key_values"):
        loaded("net.py:forgetful", decode=True)


def test_a_live_module_takes_an_iterator_of_inputs() -> None:
    made = load_live(nn.Linear(8, 4), iter([torch.ones(2, 8), torch.ones(3, 8)]))
    assert outputs(made) == [(2, 4), (3, 4)]


@pytest.mark.slow
def test_the_modules_of_all_calls_are_in_one_report() -> None:
    report = opcheck.scan("net.py:writer", decode=True, targets=["ascend-910b"])
    places = {use.module for finding in report.targets[0].findings for use in finding.uses}
    assert {"prefill", "prefill.embed", "decode", "decode.embed"} <= places
    report = opcheck.scan("net.py:net", input_sets="net.py:yields", targets=["ascend-910b"])
    findings = report.targets[0].findings
    assert sum(finding.count for finding in findings) == 3
    assert {use.module for finding in findings for use in finding.uses} == {"layer"}


def test_a_training_step_decodes_nothing() -> None:
    with pytest.raises(UsageError, match="a training step decodes nothing"):
        opcheck.scan("net.py:writer", decode=True, train=True)
