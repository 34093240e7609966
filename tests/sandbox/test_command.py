"""The command line's own process: confined when it opens a model file, and not before."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import nn

from opcheck.sandbox.limits import landlock
from tests.preloaded import python

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        landlock.abi() < landlock.SCOPE_ABI,
        reason="this kernel's Landlock is too old to enforce all of it",
    ),
]
AT_THE_FIRST_LOOK = """
import os, socket, sys
from pathlib import Path

SEEN = []

def tried(function):
    try:
        function()
    except OSError as error:
        return type(error).__name__
    return "done"

def hear(event, arguments):
    if event != "open" or SEEN or arguments[2] & os.O_PATH:  # which opens nothing to read
        return
    if str(arguments[0]).endswith(MODEL):
        SEEN.append(True)
        print(
            "LOOK", tried(lambda: Path("kept").write_text("x")), tried(socket.socket),
            tried(lambda: os.listdir(SECRETS)),
            tried(lambda: os.chmod("kept", 0o777)), file=sys.stderr, flush=True,
        )

sys.addaudithook(hear)
"""
STARTED = 'import os\nMODEL, SECRETS = os.environ["MODEL"], os.environ["SECRETS"]\n'
COPIED = "MODEL, SECRETS = {!r}, {!r}\n"
COMMAND = "from opcheck.app.main import main\nmain()\n"
LOADED = ("torch", "opcheck.app.main", "tests.hostile.workers", "tests.preloaded.database")
CONFIG = {
    "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 8, "vocab_size": 9,
    "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8,
}  # fmt: skip
REFUSED = "PermissionError PermissionError PermissionError PermissionError"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project, hooks, secrets = (tmp_path / name for name in ("project", "hooks", "secrets"))
    for made in (project, hooks, secrets):
        made.mkdir()
    monkeypatch.chdir(project)
    (hooks / "sitecustomize.py").write_text(STARTED + AT_THE_FIRST_LOOK)
    monkeypatch.setenv("PYTHONPATH", str(hooks))
    monkeypatch.setenv("SECRETS", str(secrets))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    Path("kept").write_text("kept")
    model = nn.Linear(3, 4)
    torch.export.save(torch.export.export(model, (torch.ones(2, 3),)), "m.pt2")
    Path("config.json").write_text(json.dumps(CONFIG))
    torch.save(model.state_dict(), "weights.pt")
    return tmp_path


def opcheck(*arguments: str, model: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "opcheck", *arguments, "-t", "ascend-910b"],
        capture_output=True, text=True, check=False, env={**os.environ, "MODEL": model},
    )  # fmt: skip


def copied(folder: Path, *arguments: str, model: str) -> subprocess.CompletedProcess[str]:
    """The same in a copy of a process that has loaded the libraries, and has confined nothing."""
    hook = COPIED.format(model, str(folder / "secrets")) + AT_THE_FIRST_LOOK
    environment = _environment()
    return subprocess.run(
        [
            *python(*LOADED, environment=tuple(environment.items())),
            *("-c", hook + COMMAND, *arguments, "-t", "ascend-910b"),
        ],
        capture_output=True, text=True, check=False,
        env={**environment, "TMPDIR": str(folder / "temporary")},
    )  # fmt: skip


@cache
def _environment() -> Mapping[str, str]:
    """What is the same for all copies: for another one, workers would load everything anew."""
    own = ("PYTEST_CURRENT_TEST", "PYTHONPATH", "SECRETS", "TMPDIR")
    return {name: text for name, text in os.environ.items() if name not in own}


def looks(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [row[5:] for row in done.stderr.splitlines() if row.startswith("LOOK ")]


@pytest.mark.parametrize(
    ("arguments", "model", "code"),
    [
        (["scan", "m.pt2"], "m.pt2", 0),
        (["scan", "m.pt2", "--exact"], "m.pt2", 0),
        (["gate", "m.pt2"], "m.pt2", 0),
        (["emulate", "m.pt2"], "m.pt2", 0),
        (["scan", "config.json"], "config.json", 0),
    ],
)
def test_a_model_file_is_opened_by_a_confined_process(
    folder: Path, arguments: list[str], model: str, code: int
) -> None:
    done = opcheck(*arguments, model=model)
    assert (done.returncode, looks(done)[:1]) == (code, [REFUSED]), done.stderr
    assert Path("kept").read_text() == "kept"
    assert [*(folder / "temporary").iterdir()] == []


def test_weights_beside_a_config_are_opened_by_a_confined_process(folder: Path) -> None:
    done = copied(folder, "scan", "weights.pt", model="weights.pt")
    assert (done.returncode, looks(done)[:1]) == (0, [REFUSED]), done.stderr
    assert Path("kept").read_text() == "kept"
    assert [*(folder / "temporary").iterdir()] == []


@pytest.mark.parametrize(
    ("command", "source"),
    [
        ("scan", "hf:{}"),
        ("scan", "hf:{}/config.json"),
        ("scan", "{}/config.json"),
        ("scan", "{}/weights.pt"),
        ("scan", "{}"),
        ("emulate", "hf:{}"),
    ],
)
def test_a_source_may_lie_anywhere_however_it_is_named(
    folder: Path, command: str, source: str
) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    for name in ("config.json", "weights.pt"):
        shutil.move(name, elsewhere)
    model = str(elsewhere / "config.json")
    done = copied(folder, command, source.format(elsewhere), model=model)
    assert (done.returncode, looks(done)[:1]) == (0, [REFUSED]), done.stderr


def test_what_lies_beside_a_config_is_read_wherever_that_is(folder: Path) -> None:
    """How weights are packed, told by a file beside it, was passed over outside of a project."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    shutil.move("config.json", elsewhere)
    config, described = elsewhere / "config.json", elsewhere / "quant_model_description.json"
    described.write_text(json.dumps({"model_quant_type": "W8A8", "pooler.dense.weight": "W8A8"}))
    done = copied(folder, "scan", str(config), model=str(config))
    assert described.name in done.stdout + done.stderr


SETS = """
import torch

def sets():
    yield torch.ones(2, 3)
"""


def test_sets_of_inputs_may_lie_anywhere(folder: Path) -> None:
    """A confined process cannot list the folder that its worker is to read them from."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "sets.py").write_text(SETS)
    done = opcheck(
        "scan", "m.pt2", "--exact", "--inputs", f"{elsewhere}/sets.py:sets", model="m.pt2"
    )
    assert (done.returncode, looks(done)[:1]) == (0, [REFUSED]), done.stderr


def test_reports_are_written_where_they_were_named(folder: Path) -> None:
    """Whole, over what was there, with its permissions, by the steward."""
    there = folder / "there.json"
    there.write_text("old")
    there.chmod(0o600)
    done = opcheck(
        "scan", "m.pt2", "--format", f"json={there}", "--format", "html=new.html", "--format",
        "text", model="m.pt2",
    )  # fmt: skip
    assert (done.returncode, looks(done)) == (0, [REFUSED])
    assert json.loads(there.read_text())["model"]["source"] == "m.pt2"
    assert there.stat().st_mode & 0o777 == 0o600
    assert Path("new.html").read_text().startswith("<!")
    assert "m.pt2" in done.stdout


def test_a_report_that_cannot_be_written_is_one_error(folder: Path) -> None:
    target = folder / "full"
    target.symlink_to("/dev/full")
    done = opcheck("scan", "m.pt2", "-o", str(target), model="m.pt2")
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "No space left" in done.stderr


def test_a_users_own_python_is_not_read_by_a_confined_process(folder: Path) -> None:
    Path("net.py").write_text(
        "import torch\ndef net(): return torch.nn.Linear(3, 4), torch.ones(1, 3)\n"
    )
    done = opcheck("scan", "net.py:net", model="net.py")
    assert done.returncode == 0
    assert looks(done)[:1] == ["done done done done"]
