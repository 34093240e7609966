"""Writes ``docs/fixes.md``: ``python -m benchmarks.fixes`` (``make fixes``), in minutes.

Every PrivateUse1 target at some of its releases, against PyTorch's own operator samples and the
model zoo: which missing overloads have a fix that was recorded and measured, and which models
run wholly on the device before, once the plan is followed, and fixed and run on it, emulated.
"""

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import chain
from typing import Any

from benchmarks.fixes_page import Tally, page
from benchmarks.measure import ROOT
from benchmarks.zoo_fixes import fixed
from opcheck.model.plan import Tier

PAGE = ROOT / "docs" / "fixes.md"
TARGETS: Mapping[str, tuple[str, ...]] = {
    "npu": ("ascend-910b", "ascend-910a", "ascend-910b@6.0.0", "ascend-910b@5.0.0"),
    "mlu": ("cambricon-mlu590", "cambricon-mlu370", "cambricon-mlu590@r1.22_pt2.1.0"),
    "musa": ("moorethreads-s5000", "moorethreads-s4000@1.3.0", "moorethreads-s4000@1.0.0"),
}
"""Device type, of which a process has one -> its targets."""
TORCH = version("torch").partition("+")[0]
_PROVEN = (Tier.SWAP, Tier.COMPAT, Tier.STRUCTURAL)


# --- one device type, in a process of its own ----------------------------------------------------


def tallied(device_type: str) -> dict[str, Tally]:
    """Plan every sample and every model for the targets of one device type."""
    from opcheck.db.store import Database
    from opcheck.model.target import TargetSpec
    from opcheck.trace import trace_model

    warnings.simplefilter("ignore")
    database = Database.open()
    targets = [database.resolve(TargetSpec.parse(text)) for text in TARGETS[device_type]]
    matrices = [database.matrix(target) for target in targets]
    remedies = [database.remedies(target) for target in targets]
    found = {str(target): Tally() for target in targets}
    for model, function, args, kwargs in chain(_samples(), _zoo()):
        try:
            trace = trace_model(function, args, kwargs, device_type=device_type)
        except Exception:
            if model:
                raise
            continue  # a sample that no device takes
        plans = _planned(trace, device_type, matrices, remedies)
        for tally, plan in zip(found.values(), plans, strict=True):
            _add(tally, trace, plan, model)
    return found


def _planned(trace: Any, device_type: str, matrices: Any, remedies: Any) -> Iterator[Any]:
    from opcheck.rewrite.planner import Planner
    from opcheck.rewrite.record import Recorder

    planner = Planner(trace, Recorder(device_type, {}))
    for matrix, shipped in zip(matrices, remedies, strict=True):
        yield planner.plan(matrix, shipped)


def _add(tally: Tally, trace: Any, plan: Any, model: str) -> None:
    stuck = False
    for node in plan:
        own = [w for w in node.suggestions if w.tier in _PROVEN and not w.is_advice]
        ways = {w.replaces for w in own if w.on_device}
        whole = str(trace.nodes[node.node].op) in ways
        lost = () if whole else node.stuck
        stuck |= bool(lost)
        for op in ways:
            tally.missing.setdefault(op, [0, 0])[0] += 1
        for op in lost:
            tally.missing.setdefault(op, [0, 0])[1] += 1
    if model:
        tally.models += 1
        tally.planned += not stuck
        tally.off += [model] if plan else []


def _samples() -> Iterator[tuple[str, Any, Any, Any]]:
    """The first samples of every operator, in float32, or in int64 where it takes no floats."""
    from tests.emulate.operator_samples import cases

    seen: set[str] = set()
    for dtypes in (["float32"], ["int64"]):
        taken = set()
        for case in cases(dtypes):
            if case.backward or case.operator in seen:
                continue
            taken.add(case.operator)
            first, args, kwargs = case.inputs
            yield "", case.function, (first, *args), kwargs
        seen |= taken


def _zoo() -> Iterator[tuple[str, Any, Any, Any]]:
    from tests.zoo import ZOO

    for name, make in ZOO.items():
        yield name, *make()


def main(arguments: Sequence[str]) -> int:
    """Write the page; with a device type, print what was found for it."""
    if arguments:
        tallies = tallied(arguments[0])
        print(json.dumps({name: vars(tally) for name, tally in tallies.items()}))
        return 0
    found: dict[str, Tally] = {}
    for device_type in TARGETS:
        command = [sys.executable, "-m", "benchmarks.fixes", device_type]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
        last = done.stdout.splitlines()[-1]
        found |= {name: Tally(**tally) for name, tally in json.loads(last).items()}
    pairs = [(model, target) for target, tally in found.items() for model in tally.off]
    with ThreadPoolExecutor(2) as pool:  # each fix is a process of its own
        outcomes = list(pool.map(lambda pair: fixed(*pair), pairs))
    PAGE.write_text(page(found, outcomes, TORCH), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
