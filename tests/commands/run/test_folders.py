"""Where a script may write: what its command line names counts as well."""

import sys
from pathlib import Path

import pytest

from opcheck.model.request import ModelSpec
from opcheck.model.script import ScriptRequest, ScriptSpec
from opcheck.model.target import TargetSpec
from opcheck.sandbox.parent.limits import profile_of

PREFIX = str(Path(sys.base_prefix).resolve())


def overlaid(folder: Path, *argv: str) -> tuple[str, ...]:
    spec = ScriptSpec("train.py", argv=argv)
    request = ScriptRequest(spec, ModelSpec("train.py"), TargetSpec("ascend-910b"))
    return profile_of(request, folder / "scratch").overlaid


@pytest.mark.parametrize("argv", [("--out", f"{PREFIX}/new/run1"), (f"--out={PREFIX}/new",)])
def test_a_folder_that_the_command_line_names_has_an_overlay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert PREFIX not in overlaid(tmp_path, "--out", "runs", "--lr=0.1")
    assert PREFIX in overlaid(tmp_path, *argv)


def test_the_root_and_what_is_below_nothing_have_none(tmp_path: Path) -> None:
    assert overlaid(tmp_path, "/nowhere/at/all", "--x=/", "-p/") == overlaid(tmp_path)
