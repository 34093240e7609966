"""What a shim costs a forward that asks for nothing of it; prints it as JSON."""

import copy
import dataclasses
import json
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import torch
from torch import nn

from benchmarks.measure import Cost, Figure, in_turn, timed
from benchmarks.processes import PLANNED, PLANNED_TARGET
from opcheck.commands.plan import answer as plan_answer
from opcheck.db.store import Database
from opcheck.emulate.host_and_device import Placing
from opcheck.emulate.session import Emulator
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.rewrite.shim import shim


def unasked() -> Iterator[Figure]:
    """An emulated forward of plain layers, with a shim for other operators and without."""
    target = TargetSpec.parse(PLANNED_TARGET)
    with tempfile.TemporaryDirectory() as folder:
        net, file = Path(folder) / "net.py", Path(folder) / "shim.py"
        net.write_text(PLANNED, encoding="utf-8")
        report = plan_answer.plan(ScanRequest(ModelSpec(f"{net}:model"), (target,)))
        ways = [way for found in report.targets[0].findings for way in found.suggestions]
        database = Database.open()
        made = shim(database.matrix(database.resolve(target)), ways)
        file.write_text(made.text, encoding="utf-8")
        layers = nn.Sequential(*(nn.Linear(256, 256) for _ in range(24)))
        calls = {
            "with": partial(_forward, layers, (file,)),
            "without": partial(_forward, layers, ()),
        }
        costs = in_turn(calls)
    shimmed, plain = (min(cost.seconds for cost in costs[name]) for name in calls)
    detail = f"{shimmed * 1e3:.1f} ms / {plain * 1e3:.1f} ms, {len(made.registered)} kernels"
    yield Figure("emulated forward with an unasked shim / without", shimmed / plain, 1.05, detail)


def _forward(layers: nn.Module, shims: Sequence[Path]) -> Cost:
    """The fastest of some forwards on a freshly opened device."""
    emulator = Emulator(PLANNED_TARGET, shims=shims)
    with torch.no_grad(), emulator:
        placing = Placing(emulator.device, True)
        there = placing.inputs(torch.ones(64, 256))
        placed = copy.deepcopy(layers)
        placing.module(placed)
        placed(there)
        return min((timed(partial(placed, there)) for _ in range(20)), key=lambda c: c.seconds)


if __name__ == "__main__":
    print(json.dumps([dataclasses.asdict(figure) for figure in unasked()]))
