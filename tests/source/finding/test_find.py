"""What is found in a project by reading its files: every kind, and nothing that is hostile runs."""

import pickle
from pathlib import Path

import pytest

from opcheck.model.project import Kind, Lacks
from opcheck.source.finding.find import find
from opcheck.source.finding.folders import listing
from tests.source.finding.projects import written

F, C, CONFIG, S = Kind.FACTORY, Kind.CLASS, Kind.CONFIG, Kind.SCRIPT
INPUTS, ARGUMENTS, READY = Lacks.INPUTS, Lacks.ARGUMENTS, Lacks.NOTHING
EXPECTED = {
    "bert": (CONFIG, READY, (), ()),
    "configs/retina.py:model": (CONFIG, READY, (), ()),
    "hostile.py:evil": (F, READY, (), ()),
    "hubconf.py:entry": (F, READY, (), ()),
    "kernel.py:Model": (C, READY, (), ()),
    "lazy.py:model": (CONFIG, READY, (), ()),
    "models/factories.py:GPT": (C, ARGUMENTS, ("config",), ()),
    "models/factories.py:block": (F, READY, (), ()),
    "models/factories.py:with_inputs": (F, READY, (), ()),
    "models/factories.py:library": (F, READY, (), ()),
    "models/factories.py:build_model": (F, ARGUMENTS, ("name",), ()),
    "models/factories.py:said": (F, READY, (), ()),
    "models/net.py:Net": (C, READY, (), ("2x8:float32", "scale=2x8:int64")),
    "models/net.py:Pair": (C, INPUTS, ("left", "right"), ()),
    "models/net.py:Example": (C, READY, (), ("2x16:float32",)),
    "models/net.py:Wide": (C, ARGUMENTS, ("config",), ()),
    "explore.ipynb": (S, READY, (), ()),
    "loop.py": (S, READY, (), ()),
    "train.py": (S, ARGUMENTS, ("--root", "out"), ()),
    "tune.py": (S, ARGUMENTS, ("--model_name", "--task", "--output_dir"), ()),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return written(tmp_path)


def test_every_kind_is_found_with_what_is_known_of_it(project: Path) -> None:
    found = find(project)
    assert {
        one.source: (one.kind, one.lacks, one.names, one.inputs) for one in found.candidates
    } == EXPECTED


def test_why_each_is_one_is_told(project: Path) -> None:
    found = {one.source: one for one in find(project).candidates}
    assert {name: str(one.reason) for name, one in found.items()} == {
        "bert": "a folder with a config.json",
        "configs/retina.py:model": "a config of mmengine",
        "hostile.py:evil": "a function that returns nn.Linear",
        "hubconf.py:entry": "a function that returns make",
        "kernel.py:Model": "a class of modules",
        "lazy.py:model": "a config of detectron2",
        "models/factories.py:GPT": "a class of modules",
        "models/factories.py:block": "a function that returns _made",
        "models/factories.py:with_inputs": "a function that returns Bare",
        "models/factories.py:library": "a function that returns torchvision.models.resnet18",
        "models/factories.py:build_model": "a function that returns Block",
        "models/factories.py:said": "a function that returns nn.Module",
        "models/net.py:Net": "a class of modules",
        "models/net.py:Pair": "a class of modules",
        "models/net.py:Example": "a class of modules",
        "models/net.py:Wide": "a class of modules",
        "explore.ipynb": "a notebook that trains",
        "loop.py": "a script that trains",
        "train.py": "a script that trains",
        "tune.py": "a script that trains",
    }
    told = {name: str(one.inputs_from) for name, one in found.items() if one.inputs_from}
    assert told == {
        "kernel.py:Model": "get_inputs gives them",
        "models/factories.py:block": "its first layer tells what it takes",
        "models/factories.py:with_inputs": "it returns them with the model",
        "models/net.py:Example": "its example_input_array is such",
        "models/net.py:Net": "tests/test_net.py:9 calls it so",
    }
    assert found["models/factories.py:GPT"].made_as == "GPT(GPTConfig())"
    assert dict(found["train.py"].options) == {"steps": 2, "data": "fake"}


def test_what_cannot_be_read_is_told_and_nothing_is_run(project: Path) -> None:
    notes = {str(note) for note in find(project).notes}
    assert notes == {
        "deep.py:1 is not valid Python",
        "null.py:1 is not valid Python",
        "wrong.py:1 is not valid Python",
        "saved.pt2 cannot be read as a model",
        "weights.safetensors holds weights alone",
        "1 file has a name that no source can have",
    }
    assert not (project / "was-run").exists()


def test_links_are_not_followed_and_pipes_not_opened(project: Path) -> None:
    listed = listing(project)
    assert listed.whole
    assert not [path for path in listed.files if "loop/" in path or path.startswith("all/")]
    assert "pipe.py" not in listed.files


def test_a_folder_of_very_many_files_is_not_read_to_its_end(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"a{number:02}.py").write_text("")
    listed = listing(tmp_path, most=50)
    assert (len(listed.files), listed.whole) == (50, False)
    assert listing(tmp_path, most=60).whole


@pytest.mark.slow
def test_a_hundred_thousand_files_take_no_longer_than_some(tmp_path: Path) -> None:
    for number in range(100_000):
        (tmp_path / f"{number}.txt").touch()
    found = find(tmp_path)
    assert found.candidates == ()
    assert [str(note) for note in found.notes] == [
        "more than 20,000 files and folders: not all were read"
    ]


def test_more_sources_than_can_be_listed_are_counted(tmp_path: Path) -> None:
    head = "from torch import nn\n"
    body = "\n".join(f"def m{n}():\n    return nn.Linear(1, 1)\n" for n in range(205))
    (tmp_path / "zoo.py").write_text(head + body)
    found = find(tmp_path)
    assert len(found.candidates) == 200
    assert [str(note) for note in found.notes] == ["5 more sources are not listed"]


def test_a_file_that_is_too_large_is_told(tmp_path: Path) -> None:
    (tmp_path / "large.py").write_text("#" * ((1 << 20) + 1))
    (note,) = find(tmp_path).notes
    assert str(note).startswith("cannot read large.py: ")


def test_files_that_hold_no_model_are_named_with_what_they_hold(tmp_path: Path) -> None:
    (tmp_path / "whole.pt").write_bytes(pickle.dumps(Path("x")))
    (tmp_path / "net.onnx").write_bytes(b"\x08\x07\x12\x07pytorch")
    (tmp_path / "a:b.py").write_text("")
    (tmp_path / "a*b.py").write_text("")
    assert [str(note) for note in find(tmp_path).notes] == [
        "2 files have names that no source can have",
        "net.onnx is an ONNX model: the PyTorch model that it is made of can be checked",
        "whole.pt is a pickle, which would run code",
    ]


@pytest.mark.slow
def test_more_python_files_than_are_read_are_counted(tmp_path: Path) -> None:
    for number in range(4_003):
        (tmp_path / f"m{number}.py").touch()
    assert [str(note) for note in find(tmp_path).notes] == ["3 Python files were not read"]
