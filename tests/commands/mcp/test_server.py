"""``opcheck mcp`` as the official library's client sees it, started as a client starts it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra opcheck[mcp] is not installed")

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from opcheck.commands.mcp.running import run_command
from opcheck.commands.mcp.values import SHIM

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
TARGET = "ascend-910b@26.1.0+torch2.12"
NET = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return torch.special.i0e(torch.relu(x))

model = Net()
"""
GIVEN = {"source": "net.py:model", "inputs": ["2x3"]}
SCAN = {**GIVEN, "targets": [TARGET]}
FIX = {**GIVEN, "target": TARGET, "allow": "tolerance"}
ENVIRONMENT = {
    "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100",
    "OPCHECK_LANG": "en", "HOME": os.environ.get("HOME", "/"), "PATH": os.environ["PATH"],
}  # fmt: skip
Calls = Sequence[tuple[str, Mapping[str, Any]]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(NET)
    return tmp_path


def called(folder: Path, calls: Calls, *options: str) -> list[tuple[bool, list[str]]]:
    """Whether each call failed, and its texts; of one server, one after the other."""

    async def session() -> list[tuple[bool, list[str]]]:
        async with Client(stdio_client(_server(folder, *options))) as client:
            results = [await client.call_tool(name, dict(given)) for name, given in calls]
        return [(r.is_error, [block.text for block in r.content]) for r in results]  # type: ignore[union-attr]  # texts alone

    return anyio.run(session)


def _server(folder: Path, *options: str) -> StdioServerParameters:
    words = ["-P", "-m", "opcheck", "mcp", *options]
    return StdioServerParameters(command=sys.executable, args=words, env=ENVIRONMENT, cwd=folder)


def typed(folder: Path, *words: str) -> str:
    """What the same command line prints."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "opcheck", *words],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_a_client_is_given_the_tools_and_what_they_take(folder: Path) -> None:
    async def session() -> Any:
        async with Client(stdio_client(_server(folder))) as client:
            return client.server_info, (await client.list_tools()).tools

    server, tools = anyio.run(session)
    assert server.name == "opcheck"
    assert {tool.name: tool.input_schema.get("required", []) for tool in tools} == {
        "scan": ["source", "targets"],
        "plan": ["source", "targets"],
        "fix": ["source", "target"],
        "explain": ["operator", "targets"],
        "targets": [],
    }
    assert [tool.name for tool in tools if not tool.annotations.read_only_hint] == ["fix"]
    for tool in tools:
        assert tool.description.endswith(".")
        for said in tool.input_schema["properties"].values():
            assert said["description"]
        assert "trust" not in tool.input_schema["properties"]


def test_answers_are_those_of_the_command_line(folder: Path) -> None:
    model = ("net.py:model", "--input", "2x3", "-t", TARGET)
    calls: dict[str, tuple[Mapping[str, Any], list[str]]] = {
        "scan": (SCAN, ["scan", *model]),
        "plan": ({**SCAN, "verbose": True}, ["plan", *model, "--verbose"]),
        "explain": (
            {"operator": "aten::relu", "targets": [TARGET], "format": "json"},
            ["explain", "aten::relu", "-t", TARGET, "--format", "json"],
        ),
        "targets": ({}, ["targets"]),
    }
    answers = called(folder, [(name, given) for name, (given, _) in calls.items()])
    for (failed, texts), (_, words) in zip(answers, calls.values(), strict=True):
        assert (failed, [text.strip() for text in texts]) == (
            False,
            [typed(folder, *words).strip()],
        )


def test_a_name_that_was_understood_is_said_after_the_page(folder: Path) -> None:
    [(failed, [text])] = called(folder, [("scan", {**GIVEN, "targets": ["h100"]})])
    assert not failed
    assert text.endswith("opcheck: took 'h100' for nvidia-h100")


def test_a_long_answer_is_given_in_parts_of_which_none_is_left_out(folder: Path) -> None:
    whole = typed(folder, "targets").strip()
    most = ("--characters", str(len(whole) * 2 // 3))  # so that there are two parts
    calls = [("targets", {"offset": 0})]
    [(_, [first, note])] = called(folder, calls, *most)
    assert note == (
        f"Characters 1 to {len(first):,} of {len(whole):,}; the same call with "
        f"offset={len(first)} goes on."
    )
    calls = [("targets", {"offset": offset}) for offset in (0, len(first), len(whole))]
    begun, rest, beyond = called(folder, calls, *most)
    assert begun[1][0] + rest[1][0] == whole
    assert beyond == (
        True,
        [
            f"offset {len(whole)} is not within the {len(whole):,} characters of the answer\n"
            "  offset=0 gives its beginning"
        ],
    )


def test_a_shim_is_a_text_unless_a_folder_is_named(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    [(failed, [text])] = called(folder, [("fix", {**FIX, "way": "shim"})])
    assert not failed
    assert f"wrote {SHIM}" in text
    assert "LIBRARIES = [" in text
    assert sorted(folder.rglob("*")) == before


def test_a_fix_writes_into_the_named_folder_and_over_nothing(folder: Path) -> None:
    place, elsewhere = folder / "out", folder / "elsewhere"
    place.mkdir()
    given = {**FIX, "way": "shim", "folder": str(place)}
    first, again = called(folder, [("fix", given), ("fix", given)])
    assert not first[0]
    assert [path.name for path in place.iterdir()] == [SHIM]
    assert again[0]
    assert "is there already" in again[1][0]
    (place / SHIM).unlink()
    (place / SHIM).symlink_to(elsewhere)
    graph = {**FIX, "way": "graph"}
    answers = called(folder, [("fix", given), ("fix", graph)])
    assert [failed for failed, _ in answers] == [True, True]
    assert answers[1][1] == ["a .pt2 file cannot be given as text\n  name a folder to write it to"]
    assert not elsewhere.exists()


def test_a_diff_changes_no_file(folder: Path) -> None:
    [(failed, [text])] = called(folder, [("fix", FIX)])
    assert not failed
    assert "net.py:model" in text
    assert (folder / "net.py").read_text() == NET


def test_an_error_is_the_message_of_the_command_line(folder: Path) -> None:
    calls = [
        ("scan", {**SCAN, "source": "missing.pt2"}),
        ("explain", {"operator": "nosuch", "targets": [TARGET]}),
        ("scan", {**SCAN, "inputs": ["2x3:nosuch"]}),
    ]
    missing, operator, inputs = called(folder, calls)
    assert missing == (
        True,
        ["opcheck: error: missing.pt2: no such file\n  hint: check the path of the model file"],
    )
    assert operator[0]
    assert operator[1][0].startswith("opcheck: error: unknown operator 'nosuch'")
    assert inputs[0]
    assert inputs[1][0].startswith("opcheck: error: ")


def test_no_argument_of_a_tool_trusts_a_file(folder: Path) -> None:
    (folder / "pickled.py").write_text(NET)
    code = "import torch, pickled; torch.save(pickled.model, 'pickled.pt')"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    given = {"source": "pickled.pt", "inputs": ["2x3"], "targets": [TARGET]}
    calls: Calls = [
        ("scan", given),
        ("scan", {**given, "trust": True}),
        ("scan", {**given, "source": "--trust"}),
        ("scan", {**given, "inputs": ["2x3", "--trust"]}),
        ("scan", {**given, "targets": ["--trust"]}),
        ("explain", {"operator": "--trust", "targets": [TARGET]}),
    ]
    answers = called(folder, calls)
    assert [failed for failed, _ in answers] == [True] * len(calls)
    for _, (text,) in answers[:2]:
        assert "--trust" in text  # as the command line says how


def test_answers_are_in_the_language_of_the_server(folder: Path) -> None:
    calls: Calls = [("scan", SCAN), ("fix", {**FIX, "way": "graph"})]
    scanned, refused = called(folder, calls, "--lang", "zh")
    assert (
        scanned[1][0].strip()
        == typed(
            folder, "scan", "net.py:model", "--input", "2x3", "-t", TARGET, "--lang", "zh"
        ).strip()
    )
    assert refused[1] == [".pt2 文件不能以文本形式给出\n  请指定写入它的文件夹"]


def test_a_call_that_is_given_up_ends_its_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "slow.py").write_text(NET + "\nimport time\ntime.sleep(600)\n")
    monkeypatch.chdir(folder)

    async def given_up() -> bool:
        with anyio.move_on_after(3) as scope:
            await run_command(["scan", f"--target={TARGET}", "--input=2x3", "--", "slow.py:model"])
        return scope.cancelled_caught

    children = Path("/proc/self/task", str(os.getpid()), "children")
    before = children.read_text().split()  # other tests of the process have workers
    assert anyio.run(given_up)
    assert {*children.read_text().split()} <= {*before}


def test_an_older_library_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").touch()
    (tmp_path / "mcp" / "server.py").touch()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "opcheck", "mcp"],
        env={**ENVIRONMENT, "PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        2,
        "opcheck: error: this needs mcp 2, which is not installed\n"
        "  hint: pip install 'opcheck[mcp]'\n",
    )
