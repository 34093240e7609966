"""A model's process: code in it changes nothing of the user's, and the line that tried is named."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from opcheck.errors import SourceError
from opcheck.model.emulation import EmulationRequest
from opcheck.model.request import CallSpec, ModelSpec
from opcheck.model.target import TargetSpec
from opcheck.model.work import DeviceWork, WorkRequest
from opcheck.sandbox.limits import landlock
from opcheck.sandbox.parent.preloaded import loaded_once
from opcheck.sandbox.parent.run import emulate, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        landlock.abi() < landlock.SCOPE_ABI or sys.platform != "linux",
        reason="this kernel's Landlock is too old to enforce all of it",
    ),
]

MODEL = """
import torch
from torch import nn
{first}

class Net(nn.Linear):
    def forward(self, x):
        {inside}
        return super().forward(x)

def net():
    return Net(3, 4), torch.ones(1, 3)
"""
WRITES = {
    "a file": 'open("kept", "w").write("x")',
    "an end": 'open("kept", "a").close()',
    "a new file": 'open("new", "x").close()',
    "a checkpoint": 'torch.save(torch.ones(1), "kept")',
    "a new name": 'import os; os.rename("kept", "other")',
    "a removal": 'import os; os.remove("kept")',
    "a mode": 'import os; os.chmod("kept", 0o777)',
    "a link": 'import os; os.link("kept", "second")',
    "a folder": 'import os; os.mkdir("runs")',
    "a database": 'import sqlite3; sqlite3.connect("new.db")',
    "a path": 'import pathlib; pathlib.Path("kept").write_text("x")',
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("kept").write_text("kept")
    return tmp_path


def written(first: str = "", inside: str = "pass") -> str:
    Path("net.py").write_text(MODEL.format(first=first, inside=inside))
    return "net.py:net"


def unchanged() -> bool:
    status = Path("kept").stat()
    names = {*os.listdir()} - {"net.py", "sets.py", "m.pt2"}
    return (names, Path("kept").read_text(), status.st_mode & 0o777, status.st_nlink) == (
        {"kept"}, "kept", 0o644, 1,
    )  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_a_script_that_writes_is_refused_at_its_line(name: str) -> None:
    with pytest.raises(SourceError) as caught:
        run(WorkRequest(ModelSpec(written(first=WRITES[name])), ((DeviceWork("npu"),),)))
    assert "net.py:4" in caught.value.message
    assert "without writing to files" in caught.value.message
    assert unchanged()


def test_native_code_that_writes_is_refused_too() -> None:
    first = "from safetensors.torch import save_file as to\nto({'a': torch.ones(1)}, 'new.st')"
    with pytest.raises(SourceError) as caught:
        run(WorkRequest(ModelSpec(written(first=first)), ((DeviceWork("npu"),),)))
    assert "net.py:5" in caught.value.message
    assert "temporary" in caught.value.hint
    assert unchanged()


@pytest.mark.parametrize("place", ["first", "inside"])
def test_a_write_that_the_code_gives_up_is_a_note(place: str) -> None:
    code = 'exec("""try: open(\'kept\', \'w\')\nexcept OSError: pass""")'
    source = written(**{place: code})
    (result,) = run(WorkRequest(ModelSpec(source), ((DeviceWork("npu"),),)))
    (note,) = [note for note in result.notes if "refused" in note]
    assert note.startswith("net.py:")
    assert note.endswith("writes to kept, which was refused")
    found = emulate(EmulationRequest(ModelSpec(source), TargetSpec.parse("ascend-910b")))
    assert note in found.notes
    assert unchanged()


def test_what_is_read_of_the_database_there_is_kept_for_nobody(tmp_path: Path) -> None:
    """Where the index lacks a file yet, the user would be told of a write of the code's."""
    first = (
        "from pathlib import Path\n"
        "from opcheck.db.files.index import save_compiled\n"
        f"save_compiled(Path({str(tmp_path / 'index')!r}), 'a.yaml', 64 * '0', b'')\n"
    )
    (result,) = run(WorkRequest(ModelSpec(written(first=first)), ((DeviceWork("npu"),),)))
    assert not [note for note in result.notes if "refused" in note]
    assert not (tmp_path / "index").exists()


def test_a_script_has_temporary_files_and_its_own_processes() -> None:
    first = (
        "import multiprocessing, subprocess, sys, tempfile, shutil, pathlib\n"
        "place = pathlib.Path(tempfile.mkdtemp())\n"
        "(place / 'a').write_text('a')\n"
        "shutil.copy2(place / 'a', place / 'b')\n"
        "assert (place / 'b').read_text() == 'a'\n"
        "subprocess.run([sys.executable, '-c', ''], check=True)\n"
        "multiprocessing.Lock()\n"
        "open('/dev/null', 'w').close()\n"
    )
    (result,) = run(WorkRequest(ModelSpec(written(first=first)), ((DeviceWork("npu"),),)))
    assert not [note for note in result.notes if "refused" in note]


def test_a_script_has_no_network() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        port = server.getsockname()[1]
        first = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
        with pytest.raises(SourceError) as caught:
            run(WorkRequest(ModelSpec(written(first=first)), ((DeviceWork("npu"),),)))
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "net.py:4" in caught.value.message
    assert "no network" in caught.value.hint


INPUTS = """
import json, os, socket, torch
from pathlib import Path

def tried(function):
    try:
        function()
    except BaseException as error:
        return type(error).__name__
    return "done"

FOUND = {
    "read": tried(lambda: Path(KEY).read_text()),
    "write": tried(lambda: Path("kept").write_text("x")),
    "program": tried(lambda: os.execv("/bin/true", ["true"])),
    "copy": tried(lambda: os.fork() or os._exit(0)),
    "socket": tried(socket.socket),
    "variable": os.environ.get("A_TOKEN", "none"),
    "home": tried(lambda: (Path.home() / "made").write_text("x")),
    "project": tried(lambda: Path("kept").read_text()),
}

def sets():
    print("found", json.dumps(FOUND), flush=True)
    yield torch.ones(2, 3)
"""


@pytest.mark.parametrize("anew", [False, True])
def test_the_process_of_a_model_file_can_do_no_harm(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, anew: bool
) -> None:
    """The user's own function of inputs runs in that process, so it shows what code could do."""
    key = tmp_path_factory.mktemp("keys") / "id_rsa"
    key.write_text("a key")
    monkeypatch.setenv("A_TOKEN", "secret")
    Path("sets.py").write_text(INPUTS.replace("KEY", repr(str(key))))
    torch.export.save(torch.export.export(nn.Linear(3, 4), (torch.ones(2, 3),)), "m.pt2")
    said: list[str] = []
    request = WorkRequest(
        ModelSpec("m.pt2", calls=CallSpec.parse("sets.py:sets")), ((DeviceWork("npu"),),)
    )
    if anew:
        with loaded_once():
            run(request, output=said.append)
    else:
        run(request, output=said.append)
    (line,) = [line for line in said if line.startswith("found ")]
    assert json.loads(line.removeprefix("found ")) == {
        "read": "PermissionError", "write": "PermissionError", "program": "PermissionError",
        "copy": "BlockingIOError", "socket": "PermissionError", "variable": "none",
        "home": "done", "project": "done",
    }  # fmt: skip
    assert unchanged()
