"""The check of a release finds what is wrong with one."""

import stat
import sys
from pathlib import Path

import pytest

from opcheck.version import __version__
from tests.release.__main__ import pinned, told
from tests.release.contents import faults, wanted
from tests.release.environments import Environment, Outcome, used
from tests.release.pythons import clean, found, promised
from tests.release.uses import compiled, uses

WHOLE = {*wanted(__version__), "opcheck/_index/x.json"}


def test_a_whole_wheel_has_no_fault() -> None:
    assert {"opcheck/py.typed", "opcheck/lang/zh.po", "opcheck/__init__.py"} < WHOLE
    assert faults(WHOLE, __version__) == []


@pytest.mark.parametrize(
    "name", ["opcheck/py.typed", "opcheck/lang/zh.po", "opcheck/_compat_db/ascend/vendor.yaml"]
)
def test_what_is_missing_is_a_fault(name: str) -> None:
    assert faults(WHOLE - {name}, __version__) == [f"missing: {name}"]


def test_an_index_is_wanted_and_tests_are_not() -> None:
    names = {*wanted(__version__), "tests/conftest.py"}
    expected = ["missing: opcheck/_index/", "not for users: tests/conftest.py"]
    assert faults(names, __version__) == expected


def test_this_python_is_found_and_one_to_come_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    this = f"{sys.version_info[0]}.{sys.version_info[1]}"
    _program(tmp_path / f"python{this}", f'exec "{sys.executable}" "$@"')
    _program(tmp_path / "python3.99", "echo no such version; exit 127")  # as a shim says it
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert found([this, "3.99", "3.98"]) == {this: tmp_path / f"python{this}"}
    assert "3.11" in promised()


def test_nothing_leads_back_to_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    assert not [name for name in clean() if name.startswith("PYTHON")]
    assert clean(A="1")["A"] == "1"


def test_the_pinned_torch_is_an_exact_one() -> None:
    assert pinned().startswith("torch==2.")


def test_uses_find_faults() -> None:
    by_name = {use.name: use for use in uses(__version__)}
    assert by_name["version"].fault(f"opcheck {__version__}\n") == ""
    assert by_name["version"].fault("opcheck 0.0\n") == f"no {__version__!r}"
    finding = '{"op": "aten::linear"}, {"op": "aten::gelu"}'
    report = (
        '{"schema": "opcheck.report/1", "targets": [{"summary": {"runs": %s}, "findings": [%s]}]}'
    )
    first = by_name["a first scan"]
    assert first.fault(report % ("true", finding)) == ""
    assert first.fault(report % ("null", finding)) == "the model does not run"
    assert first.fault(report % ("true", "")).startswith("not the report of this model")
    assert by_name["targets"].fault('{"targets": []}') == "fewer than 50 targets"


def test_compiled_files_are_told_from_notes(tmp_path: Path) -> None:
    for name in ("26.1.0.yaml-4-a-b.json", "26.1.0.yaml.noted-4-a-b.json", "x.files-4-a-b.json"):
        (tmp_path / name).write_text("")
    assert compiled(tmp_path) == ["26.1.0.yaml-4-a-b.json"]


def test_a_command_that_fails_is_a_fault(tmp_path: Path) -> None:
    """In an environment whose programs all fail, as after an installation that was cut short."""
    (tmp_path / "bin").mkdir()
    for name in ("python", "opcheck"):
        _program(tmp_path / "bin" / name, "echo it broke >&2; exit 7")
    outcomes = [*used(Environment(tmp_path, tmp_path), __version__)]
    said = {outcome.name: outcome.fault for outcome in outcomes}
    assert said["version"] == "exit code 7: it broke\n"
    assert said["is the installed one"] == "imported from "
    assert "a first scan" not in said, "there is no torch"


def test_faults_are_counted_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(iter([Outcome("one", ""), Outcome("two", "it is not there")])) == 1
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown] == ["✔", "✘"]
    assert shown[1].endswith("it is not there")


def _program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
