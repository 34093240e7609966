"""What is done with an installed opcheck, and what has to come of it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

MODEL = """
import torch

def model():
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()), torch.randn(2, 4)
"""
EXPORT = """
import sys, torch, net
module, inputs = net.model()
torch.export.save(torch.export.export(module.eval(), (inputs,)), "net.pt2")
"""
SCRIPT = """
import torch
net = torch.nn.Linear(4, 4).cuda()
print(tuple(net(torch.randn(2, 4, device="cuda")).shape))
"""
BLOCKED = """
import sys
sys.modules["torch"] = None  # importing it raises
from opcheck.app.main import main
sys.argv = ["opcheck", *sys.argv[1:]]
main()
"""


class Use(Struct, frozen=True):
    """One command, and what its stdout has to be like."""

    name: str
    command: Sequence[str]
    """``opcheck`` and ``python`` are those of the environment."""
    fault: Callable[[str], str]
    """What is wrong with stdout; "" where nothing is."""
    torch: bool = True
    """Whether it needs torch."""


def uses(version: str) -> tuple[Use, ...]:
    """In their order: later ones read what earlier ones wrote."""
    scan = ("opcheck", "scan", "net.py:model", "-t", "ascend-910b")
    saved = ("scan", "net.pt2", "-t", "ascend-910b", "--format", "json")
    return (
        Use("version", ("opcheck", "--version"), _has(version), torch=False),
        Use("help", ("opcheck", "--help"), _has("Usage: opcheck", "scan"), torch=False),
        Use("a first scan", (*scan, "--format", "json"), _runs),
        Use("a scan in Chinese", (*scan[:1], "--lang", "zh", *scan[1:]), _has("可以运行")),
        Use("an export", ("python", "export.py"), _has()),
        Use("a saved graph", ("opcheck", *saved), _runs),
        Use("the same without torch", ("python", "blocked.py", *saved), _runs, torch=False),
        Use("an example", ("opcheck", "scan", "rotary_attention.py:model", "-t", "ascend-910b"),
            _has("will not run", "aten::polar")),
        Use("an emulated device", ("opcheck", "emulate", "net.py:model", *scan[3:]),
            _has("runs: net.py:model on an emulated ascend-910b")),
        Use("a script", ("opcheck", "run", *scan[3:], "script.py"), _has("runs: script.py")),
        Use("a plan", ("opcheck", "plan", "rotary_attention.py:model", *scan[3:]),
            _has("aten::polar", "each has one")),
        Use("a gate", ("opcheck", "gate", "net.py:model", *scan[3:]), _has("passes the gate")),
        Use("targets", ("opcheck", "targets", "--format", "json"), _many, torch=False),
        Use("db check", ("opcheck", "db", "check"), _has("nothing is wrong"), torch=False),
    )  # fmt: skip


def prepare(folder: Path, example: Path) -> None:
    """Write the files that the commands read."""
    (folder / "net.py").write_text(MODEL)
    (folder / "export.py").write_text(EXPORT)
    (folder / "blocked.py").write_text(BLOCKED)
    (folder / "script.py").write_text(SCRIPT)
    (folder / example.name).write_bytes(example.read_bytes())


def compiled(cache: Path) -> list[str]:
    """Files of the database that were compiled after the installation; notes are none."""
    names = (path.name for path in cache.rglob("*") if path.is_file())
    return sorted(name for name in names if ".noted-" not in name and ".files-" not in name)


def _has(*texts: str) -> Callable[[str], str]:
    def fault(stdout: str) -> str:
        return ", ".join(f"no {text!r}" for text in texts if text not in stdout)

    return fault


def _runs(stdout: str) -> str:
    """The report of :data:`MODEL`, by its schema's name and its answer."""
    report: Any = json.loads(stdout)
    (target,) = report["targets"]
    ops = {finding["op"] for finding in target["findings"]}
    if report["schema"] != "opcheck.report/1" or ops != {"aten::linear", "aten::gelu"}:
        return f"not the report of this model: {report['schema']}, {sorted(ops)}"
    return "" if target["summary"]["runs"] is True else "the model does not run"


def _many(stdout: str) -> str:
    return "" if len(json.loads(stdout)["targets"]) > 50 else "fewer than 50 targets"
