"""Imports in processes of their own: what loads, fails, crashes and hangs."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.doctor.base import Ground, judge
from opcheck.commands.doctor.installation import Imported, Outcome
from opcheck.commands.doctor.looking import look, with_imports
from opcheck.commands.doctor.machine import import_all
from opcheck.commands.doctor.values import Severity
from opcheck.db.store import Database
from opcheck.lang.speech import Language, speaking, tell
from tests.commands.doctor.machines import Made, ascend

TORCH = "class npu:\n    @staticmethod\n    def device_count():\n        return 0\ncuda = npu\n"
PLUGINS = {
    "loads": ("print('words of the package')\n", Outcome.LOADED, ""),
    "fails": ("raise RuntimeError('no  libascendcl.so')\n", Outcome.FAILED,
              "RuntimeError: no libascendcl.so"),
    "crashes": ("import os, sys\nsys.stderr.write('Aborted\\n')\nos._exit(134)\n", Outcome.CRASHED,
                "exit code 134: Aborted"),
    "exits": ("raise SystemExit(3)\n", Outcome.CRASHED, "exit code 3: it said nothing"),
    "hangs": ("import time\ntime.sleep(600)\n", Outcome.HUNG, "no answer within 3 s"),
}  # fmt: skip


def importing(made: Made, plugin: str) -> Made:
    """Let the machine import: a torch of a few lines, and a plugin that does something."""
    made.file("site-packages/torch/__init__.py", TORCH)
    made.file("site-packages/torch_npu/__init__.py", PLUGINS[plugin][0])
    made.machine = replace(made.machine, interpreter=sys.executable)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("plugin", PLUGINS)
def test_what_becomes_of_an_import(plugin: str, tmp_path: Path) -> None:
    made = importing(Made(tmp_path / "machine"), plugin)
    seconds = 3 if plugin == "hangs" else 60
    found = import_all(made.machine, {"torch_npu": "npu"}, seconds)["torch_npu"]
    devices = 0 if plugin == "loads" else None
    assert found == Imported("torch_npu", PLUGINS[plugin][1], PLUGINS[plugin][2], devices)


@pytest.mark.parametrize(
    ("plugin", "subject", "text"),
    [
        ("loads", "torch_npu", "it sees no device, where the driver has /dev/davinci0"),
        ("crashes", "torch_npu", "importing it ends the process: exit code 134: Aborted"),
    ],
)
def test_it_is_a_finding(plugin: str, subject: str, text: str, tmp_path: Path) -> None:
    database = Database.open()
    vendor = database.environment("ascend")
    assert vendor is not None
    made = importing(ascend(Made(tmp_path / "machine")), plugin)
    here = with_imports(look(made.machine, [vendor]), made.machine, [vendor], 60)
    found = judge(Ground(here, database.torch_environment(), vendor, "910b"))
    assert [(one.code, one.subject, one.text) for one in found] == [("import", subject, text)]


@pytest.mark.parametrize(
    ("plugin", "text", "chinese"),
    [
        (
            "fails",
            "importing it fails: RuntimeError: no libascendcl.so",
            "导入失败：RuntimeError: no libascendcl.so",
        ),
        (
            "crashes",
            "importing it ends the process: exit code 134: Aborted",
            "导入使进程结束：exit code 134: Aborted",
        ),
        (
            "hangs",
            "importing it does not end: no answer within 3 s",
            "导入没有结束：no answer within 3 s",
        ),
    ],
)
def test_what_keeps_a_plugin_from_being_imported_is_told(
    plugin: str, text: str, chinese: str, tmp_path: Path
) -> None:
    database = Database.open()
    vendor = database.environment("ascend")
    assert vendor is not None
    made = ascend(Made(tmp_path / "machine"))
    outcomes = {
        "torch": Imported("torch", Outcome.LOADED),
        "torch_npu": Imported("torch_npu", *PLUGINS[plugin][1:]),
    }
    here = replace(look(made.machine, [vendor]), imports=outcomes)
    found = judge(Ground(here, database.torch_environment(), vendor, "910b"))
    assert [(one.code, one.severity, one.text) for one in found] == [
        ("import", Severity.ERROR, text)
    ]
    with speaking(Language.CHINESE):
        assert tell(found[0].text) == chinese


def test_nothing_is_imported_without_torch(tmp_path: Path) -> None:
    made = importing(Made(tmp_path / "machine"), "hangs")
    here = look(made.machine, [])
    assert with_imports(here, made.machine, [], 1) == here
