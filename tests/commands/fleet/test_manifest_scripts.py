"""Scripts in a manifest: what they give, and one clear error with its line."""

from pathlib import Path

import pytest

from opcheck.commands.fleet.manifest.fields import SCRIPT_FIELDS
from opcheck.commands.fleet.manifest.read import read_manifest
from opcheck.commands.fleet.values import Entry
from opcheck.errors import UsageError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.script import Data, ScriptRequest, ScriptSpec
from opcheck.model.target import TargetSpec

FULL = """\
defaults: {timeout: 60, steps: 4, train: true}
models:
  - nets.py:build
  - script: train.py --lr 0.1 --name 'two words'
  - name: ranks
    script: [torchrun, --nproc-per-node, "2", train.py]
    steps: 2
    forwards: 3
    data: fake
    values: true
    as-cuda: false
    memory: 8
    timeout: 5
  - script: [-m, train, --fast]
    ranks: 8
"""
TABLE = """\
source,script,name,steps,train,timeout
nets.py:build,,,,true,
,train.py --lr 0.1,nano,2,,5
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("print(1)\n")


def entries(text: str, name: str = "models.yaml") -> tuple[Entry, ...]:
    Path(name).write_text(text, encoding="utf-8")
    return read_manifest(name).entries


def made(name: str, spec: ScriptSpec, model: ModelSpec, line: int, **rest: object) -> Entry:
    script = ScriptRequest(spec, model, TargetSpec(""), **rest)  # type: ignore[arg-type]  # its fields
    return Entry(name, ScanRequest(model, ()), f"models.yaml:{line}", script)


def test_a_yaml_file_says_all_that_run_takes() -> None:
    model, *scripts = entries(FULL)
    assert (model.script, bool(model.request.model.step)) == (None, True)
    plain = ModelSpec("train.py", timeout=60.0)
    assert scripts == [
        made("train.py --lr 0.1 --name 'two words'",
             ScriptSpec("train.py", argv=("--lr", "0.1", "--name", "two words")),
             plain, 4, steps=4),
        made("ranks",
             ScriptSpec("train.py", launcher="torchrun", options=("--nproc-per-node", "2"),
                        processes=2),
             ModelSpec("train.py", timeout=5.0, memory=8.0), 5,
             steps=2, forwards=3, data=Data.FAKE, values=True, as_cuda=False),
        made("-m train --fast", ScriptSpec("train", module=True, argv=("--fast",), processes=8),
             ModelSpec("train", timeout=60.0), 14, steps=4),
    ]  # fmt: skip
    assert [one.source for one in scripts] == [
        "train.py --lr 0.1 --name 'two words'", "torchrun --nproc-per-node 2 train.py",
        "-m train --fast",
    ]  # fmt: skip


def test_a_table_has_scripts_beside_models() -> None:
    model, script = entries(TABLE, "models.csv")
    assert (model.source, model.script) == ("nets.py:build", None)
    assert (script.name, script.source, script.where) == (
        "nano", "train.py --lr 0.1", "models.csv:3",
    )  # fmt: skip
    assert script.script is not None
    assert (script.script.steps, script.script.model.timeout) == (2, 5.0)


def test_paths_of_scripts_begin_at_the_manifest() -> None:
    Path("zoo").mkdir()
    Path("zoo/train.py").write_text("print(1)\n")
    (entry,) = entries("- script: train.py data/\n", "zoo/models.yaml")
    assert (entry.name, entry.source) == ("train.py data/", "zoo/train.py data/")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{source: 'nets.py:a', script: train.py}", "expected 'source' or 'script', found both"),
        ("{script: train.py, train: true}", "expected no key 'train' here (known: "),
        ("{script: train.py, stepz: 2}", "expected no key 'stepz' here (known: "),
        ("{script: train.py, trust: true}", "a manifest cannot say that its models are trusted"),
        ("{source: 'nets.py:a', steps: 2}", "expected no key 'steps' here (known: "),
        ("3", "expected a source, or a mapping with the key 'source' or 'script'"),
        ("{script: gone.py}", "script: cannot read gone.py: No such file or directory"),
        ("{script: 7}", "script: expected a command line or a list of its words, found 7"),
        ("{script: []}", "script: expected a command line or a list of its words, found []"),
        ('{script: "train.py \'a"}', "script: No closing quotation"),
        ("{script: -m}", "script: expected the name of a module after -m"),
        ("{script: torchrun --nnodes 2}", "script: the command line of torchrun names no script"),
        ("{script: train.py, steps: 0}", "steps: expected a whole number above zero, found 0"),
        (
            "{script: train.py, ranks: true}",
            "ranks: expected a whole number above zero, found True",
        ),
        ("{script: train.py, data: real}", "data: expected one of none, fake, found 'real'"),
        ("{script: train.py, values: 3}", "values: expected true or false, found 3"),
    ],
)
def test_a_bad_entry_is_one_error_with_its_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        entries(f"- nets.py:build\n- {text}\n")
    assert caught.value.message.startswith("models.yaml:2: ")
    assert message in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("nets.py:a,train.py,,,,", "expected 'source' or 'script', found both"),
        (",,nobody,,,", "expected a source, found nothing"),
        (",train.py,,,true,", "unknown field 'train'"),
        ("nets.py:a,,,2,,", "unknown field 'steps'"),
        (",train.py,,two,,", "steps: expected a whole number above zero, found 'two'"),
    ],
)
def test_a_bad_row_of_a_table_is_one_error_with_its_line(row: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        entries(f"{TABLE.splitlines()[0]}\n{row}\n", "models.csv")
    assert caught.value.message == f"models.csv:2: {message}"
    assert caught.value.hint


def test_two_scripts_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="a second model called 'nano', the first is at"):
        entries("- {script: train.py 1, name: nano}\n- {script: train.py 2, name: nano}\n")


def test_every_field_of_a_script_is_an_option_of_run() -> None:
    from opcheck.app.main import application

    run = application().commands["run"]
    taken = {option.name.replace("_", "-") for option in run.params}
    assert set(SCRIPT_FIELDS) <= taken
