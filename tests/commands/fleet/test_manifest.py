"""Manifests: what they give, and one clear error with its line where they give nothing."""

import glob
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.fleet.keys import key_of
from opcheck.commands.fleet.manifest import read
from opcheck.commands.fleet.manifest.fields import FIELDS
from opcheck.commands.fleet.manifest.read import FORMS, read_manifest
from opcheck.commands.fleet.manifest.rows import Row
from opcheck.commands.fleet.values import Entry
from opcheck.errors import UsageError
from opcheck.model.dynamic import DynamicInput
from opcheck.model.request import CallSpec, ModelSpec, ScanRequest, TrainingSpec
from tests.source import gguf_files

FULL = """\
defaults: {timeout: 60, memory: 2}
models:
  - timm:resnet18  # a source alone
  - source: nets.py:build
    name: mine
    input: ["x=1x3", "y=1x4:int64"]
    dynamic: x:0
    timeout: 5
  - source: nets.py:other
    inputs: sets.py:three
    decode: true
  - source: nets.py:trained
    step: {optimizer: "adamw:fused", scaler: true}
"""
TABLE = """\
source,name,input,step,timeout
timm:resnet18,,,,
nets.py:build,mine,x=1x3; y=1x4:int64,,5

nets.py:trained,,,optimizer=sgd;clip=1,
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def entries(text: str, name: str = "models.yaml") -> tuple[Entry, ...]:
    Path(name).write_text(text, encoding="utf-8")
    return read_manifest(name).entries


def refusal(text: str, name: str = "models.yaml") -> str:
    with pytest.raises(UsageError) as caught:
        entries(text, name)
    assert caught.value.hint
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("sumary", "did you mean opcheck fleet summary?"),
        ("frobnicate", "opcheck fleet --help has all forms of MANIFEST and all commands"),
    ],
)
def test_a_word_that_names_nothing_is_no_list_of_one_model(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_manifest(text)
    assert caught.value.message == (
        f"{text} is no list, no model source and no command of opcheck fleet"
    )
    assert caught.value.hint == hint
    Path("sumary").mkdir()
    if text == "sumary":
        with pytest.raises(UsageError, match=r"no model"):  # a folder, in which nothing lies
            read_manifest(text)


def test_a_yaml_file_says_all_that_scan_takes() -> None:
    assert entries(FULL) == (
        Entry(
            "timm:resnet18",
            ScanRequest(ModelSpec("timm:resnet18", timeout=60.0, memory=2.0), ()),
            "models.yaml:3",
        ),
        Entry(
            "mine",
            ScanRequest(
                ModelSpec(
                    "nets.py:build",
                    ("x=1x3", "y=1x4:int64"),
                    dynamic=(DynamicInput("x", (0,)),),
                    timeout=5.0,
                    memory=2.0,
                ),
                (),
            ),
            "models.yaml:4",
        ),
        Entry(
            "nets.py:other",
            ScanRequest(
                ModelSpec(
                    "nets.py:other", calls=CallSpec("sets.py:three", True), timeout=60.0, memory=2.0
                ),
                (),
            ),
            "models.yaml:9",
        ),
        Entry(
            "nets.py:trained",
            ScanRequest(
                ModelSpec(
                    "nets.py:trained",
                    step=TrainingSpec("adamw", "fused", scaler=True),
                    timeout=60.0,
                    memory=2.0,
                ),
                (),
            ),
            "models.yaml:12",
        ),
    )


def test_a_table_says_the_same_in_cells() -> None:
    first, mine, trained = entries(TABLE, "models.csv")
    assert first == Entry(
        "timm:resnet18", ScanRequest(ModelSpec("timm:resnet18"), ()), "models.csv:2"
    )
    inputs = ("x=1x3", "y=1x4:int64")
    assert mine == Entry(
        "mine", ScanRequest(ModelSpec("nets.py:build", inputs, timeout=5.0), ()), "models.csv:3"
    )
    assert trained.request.model.step == TrainingSpec("sgd", clip=1.0)
    assert trained.where == "models.csv:5"


def test_what_a_manifest_does_not_say_is_as_on_the_command_line() -> None:
    Path("models.yaml").write_text("- a.py:a\n- {source: b.py:b, timeout: 3}\n")
    given = Row("", "", {"timeout": 9.0})
    found = [entry.request for entry in read_manifest("models.yaml", given).entries]
    assert [one.model.timeout for one in found] == [9.0, 3.0]


@pytest.mark.parametrize("trust", [True, False])
def test_trust_holds_for_every_model_of_a_manifest_or_for_none(trust: bool) -> None:
    Path("models.yaml").write_text("- a.py:a\n- {source: b.py:b, timeout: 3}\n")
    found = read_manifest("models.yaml", trust=trust).entries
    assert [entry.request.model.trust for entry in found] == [trust, trust]


def test_what_is_known_of_a_model_is_not_known_of_it_with_trust() -> None:
    request = ScanRequest(ModelSpec("model.pt"), ())
    assert key_of(request, ()) != key_of(
        replace(request, model=replace(request.model, trust=True)), ()
    )


def test_what_is_known_of_a_gguf_file_is_known_of_its_header_alone() -> None:
    def key(values: Mapping[str, object], data: bytes) -> str:
        Path("net").mkdir(exist_ok=True)
        Path("net", "model.gguf").write_bytes(gguf_files.whole(values, data=data))
        return key_of(ScanRequest(ModelSpec("net"), ()), ())

    first = key(gguf_files.LLAMA, bytes(608))
    assert key(gguf_files.LLAMA, bytes([1]) * 608) == first
    assert key({**gguf_files.LLAMA, "llama.block_count": 2}, bytes(608)) != first


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("models.yaml", "- a.py:a\n- {source: b.pt, trust: true}\n", 2),
        ("models.yaml", "defaults: {trust: yes}\nmodels:\n- b.pt\n", 3),
        ("models.yaml", "- {source: b.pt, trust: false}\n", 1),
        ("models.csv", "source,trust\nb.pt,true\n", 1),
        ("models.csv", "source,trust\nb.pt,\n", 1),
    ],
)
def test_no_manifest_can_trust_the_models_that_it_names(name: str, text: str, line: int) -> None:
    Path(name).write_text(text)
    with pytest.raises(UsageError) as caught:
        read_manifest(name)
    assert caught.value.message == (
        f"{name}:{line}: a manifest cannot say that its models are trusted"
    )
    assert "opcheck fleet MANIFEST --trust" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a.py:a\n- 3\n", "models.yaml:2: expected a source"),
        ("- a.py:a\n- name: b\n", "models.yaml:2: expected the key 'source', which is missing"),
        ("- a.py:a\n- source: b.py:b\n  limit: 3\n", "models.yaml:3: expected no key 'limit' here"),
        ("models: []\n", "models.yaml:1: expected a list of 1 or more"),
        ("models: [a.py:a]\nextra: 1\n", "models.yaml:2: expected no key 'extra' here"),
        ("- a.py:a\n- {source: b.py:b, timeout: soon}\n", "models.yaml:2: timeout: expected a pos"),
        ("- {source: b.py:b, decode: perhaps}\n", "models.yaml:1: decode: expected true or fal"),
        ("- {source: b.py:b, input: 3}\n", "models.yaml:1: input: expected text or a list"),
        ("- {source: b.py:b, input: x=1xx}\n", "models.yaml:1: "),
        ("- {source: b.py:b, step: {optimizer: best}}\n", "models.yaml:1: --step 'optimizer=best'"),
        ("- {source: b.py:b, decode: true, train: true}\n", "models.yaml:1: a training step"),
        ("- a.py:a\n- {source: b.py:b, name: a.py:a}\n", "models.yaml:2: a second model called"),
        ("- [unclosed\n", "models.yaml:"),
        ("", "models.yaml:1: expected a list, found nothing"),
        ("hunter2\n", "models.yaml:1: expected a list, found a text (at top of the file)"),
        ("271828\n", "models.yaml:1: expected a list, found a number (at top of the file)"),
    ],
    ids=range(16),
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(text: str, message: str) -> None:
    assert refusal(text).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name\nx\n", "models.csv:1: expected a column 'source', found name"),
        ("source,colour\nx,red\n", "models.csv:1: unknown column 'colour'"),
        ("source,name,name\nx,y,z\n", "models.csv:1: the column 'name' stands twice"),
        ("source,name\na.py:a,b,c\n", "models.csv:2: expected 2 cells, found 3"),
        ("source,name\n,b\n", "models.csv:2: expected a source, found nothing"),
        ("source,timeout\na.py:a,-1\n", "models.csv:2: timeout: expected a positive number"),
        ('source\n"a', "models.csv: expected a table in UTF-8, but"),
        ("source\n", "models.csv: names no model"),
        ("", "models.csv:1: expected a column 'source', found nothing"),
        (
            "hunter2\n",
            "models.csv:1: expected a column 'source', found none of a manifest's columns",
        ),
    ],
)
def test_what_is_wrong_with_a_table_is_told_with_its_line(text: str, message: str) -> None:
    assert refusal(text, "models.csv").startswith(message)


def test_a_manifest_that_is_not_there_is_named() -> None:
    for name in ("absent.yaml", "absent.csv"):
        with pytest.raises(UsageError, match=f"cannot read {name}"):
            read_manifest(name)


def test_paths_begin_at_the_manifest() -> None:
    Path("zoo").mkdir()
    Path("zoo/models.yaml").write_text("- nets.py:build\n- timm:resnet18\n- /abs/net.pt2\n")
    found = [entry.request.model.source for entry in read_manifest("zoo/models.yaml").entries]
    assert found == ["zoo/nets.py:build", "timm:resnet18", "/abs/net.pt2"]


@pytest.fixture
def zoo() -> Path:
    """A folder with two configs, a pipeline, a saved graph by its name, and a text."""
    zoo = Path("zoo")
    for name in ("bert", "deep/gpt"):
        (zoo / name).mkdir(parents=True)
        (zoo / name / "config.json").write_text('{"model_type": "bert"}')
        (zoo / name / "weights.pt2").write_text("of the same model")
    (zoo / "net.pt2").write_text("PK")
    (zoo / "nets.py").write_text("def build(): ...")
    (zoo / "readme.txt").write_text("no model")
    return zoo


@pytest.mark.usefixtures("zoo")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("zoo", ["zoo/net.pt2", "zoo/bert", "zoo/deep/gpt"]),
        ("zoo/*", ["zoo/bert", "zoo/net.pt2"]),
        ("zoo/**/*.pt2", ["zoo/bert/weights.pt2", "zoo/deep/gpt/weights.pt2", "zoo/net.pt2"]),
        ("hf:zoo/*", ["hf:zoo/bert"]),
        ("zoo/bert", ["zoo/bert"]),
        ("zoo/nets.py:build", ["zoo/nets.py:build"]),
        ("timm:resnet18", ["timm:resnet18"]),
    ],
)
def test_folders_and_patterns_stand_for_their_models(text: str, names: list[str]) -> None:
    assert [entry.name for entry in read_manifest(text).entries] == names


@pytest.mark.usefixtures("zoo")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zoo/*.onnx", "zoo/*.onnx: fits no model"),
        ("zoo/deep/*/x*", "zoo/deep/*/x*: fits no model"),
        ("hf:zoo/bert/*2", "hf:zoo/bert/*2: no folder with a config.json"),
        ("empty", "empty: there is no model in this folder"),
    ],
)
def test_what_stands_for_nothing_is_refused(text: str, message: str) -> None:
    Path("empty").mkdir()
    with pytest.raises(UsageError) as caught:
        read_manifest(text)
    assert caught.value.message == message


@pytest.mark.usefixtures("zoo")
def test_options_of_a_pattern_are_those_of_each_model() -> None:
    found = entries('- {source: "zoo/*", timeout: 4}\n- zoo/net.pt2\n'.replace("- zoo", "# zoo"))
    assert [entry.request.model.timeout for entry in found] == [4.0, 4.0]
    message = "models.yaml:1: one name for 2 models: 'all'"
    assert refusal('- {source: "zoo/*", name: all}\n') == message


def test_what_is_hidden_below_a_folder_is_not_opened() -> None:
    for path in (".ssh/config.json", "models/.cache/config.json", "models/.m.pt2"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("{}")
    with pytest.raises(UsageError):
        read_manifest(".")


def test_every_field_is_an_option_of_scan() -> None:
    from opcheck.app.main import application

    scan = application().commands["scan"]
    taken = {option.name.replace("_", "-") for option in scan.params}
    assert set(FIELDS) - {"input"} <= taken
    assert all(FORMS.values())


@pytest.mark.parametrize("name", ["a" * 300, "a/" * 3000, "a\0b"])
def test_what_no_file_can_be_called_is_a_model_that_is_not_there(name: str) -> None:
    request = ScanRequest(ModelSpec(f"{name}.pt"), ())
    assert key_of(request, ()) == key_of(request, ())
    assert [entry.name for entry in read_manifest(f"{name}.pt").entries] == [f"{name}.pt"]


def test_a_name_that_no_store_can_keep_is_told() -> None:
    with pytest.raises(UsageError, match=r"no text in UTF-8: 'a\\udcff\.pt'"):
        read_manifest("a\udcff.pt")
    Path("models").mkdir()
    Path("models", os.fsdecode(b"net\xff.pt2")).write_bytes(b"PK\3\4")
    with pytest.raises(UsageError, match=r"no text in UTF-8: .models/net"):
        read_manifest("models")


@pytest.mark.parametrize(
    "source",
    ["many", "many/*", "many/**", "hf:many/*", "**", "many/**/none", "m*/**/none/**/x"],
)
def test_a_folder_is_not_walked_without_end(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(read, "_MOST", 20)
    for number in range(21):
        (tmp_path / f"many/{number}").mkdir(parents=True)
        (tmp_path / f"many/{number}/note.txt").touch()
    Path("models.yaml").write_text(f"[{source!r}]")
    with pytest.raises(UsageError, match="has more than 20 files and folders"):
        read_manifest("models.yaml")


def test_folders_at_any_depth_are_those_that_glob_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b/a.txt", "b/c/a.txt", "b/c/d.pt", ".git/a.txt", "b/.c/a.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "b/round").symlink_to(tmp_path, target_is_directory=True)
    for pattern in ("*.txt", "**/*.txt", "b/**/a.txt", "b/**/c/*", "**/c/**/a.txt", "*/**/d.pt"):
        ours = {os.path.normpath(path) for path in read._fitting(pattern)}
        theirs = {os.path.normpath(path) for path in glob.glob(pattern, recursive=True)}
        assert ours == {path for path in theirs if "round" not in path}, pattern
        assert ours
