"""Writes ``docs/ways-out.md``: ``python -m benchmarks.ways_out`` (``make ways``), in minutes.

Every PrivateUse1 target at some of its releases, against PyTorch's own operator samples and the
model zoo: which missing overloads have a way out that was recorded and measured, and which models
run wholly on the device before and after.
"""

import json
import subprocess
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from benchmarks.measure import ROOT
from opcheck.model.plan import Tier

PAGE = ROOT / "docs" / "ways-out.md"
TARGETS: Mapping[str, tuple[str, ...]] = {
    "npu": ("ascend-910b", "ascend-910a", "ascend-910b@6.0.0", "ascend-910b@5.0.0"),
    "mlu": ("cambricon-mlu590", "cambricon-mlu370", "cambricon-mlu590@r1.22_pt2.1.0"),
    "musa": ("moorethreads-s5000", "moorethreads-s4000@1.3.0", "moorethreads-s4000@1.0.0"),
}
"""Device type, of which a process has one -> its targets."""
_PROVEN = (Tier.SWAP, Tier.COMPAT, Tier.STRUCTURAL)


@dataclass
class Tally:
    """What was found on one target."""

    missing: dict[str, list[int]] = field(default_factory=dict)
    """Overload that keeps calls off the device -> how many distinct ones have a way out, and how
    many have none."""
    models: int = 0
    native: int = 0
    """Models of which every call stays on the device."""
    native_after: int = 0
    """The same once the plan is followed."""


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
    for is_model, function, args, kwargs in chain(_samples(), _zoo()):
        try:
            trace = trace_model(function, args, kwargs, device_type=device_type)
        except Exception:  # a sample that no device takes
            continue
        plans = _planned(trace, device_type, matrices, remedies)
        for tally, plan in zip(found.values(), plans, strict=True):
            _add(tally, trace, plan, is_model)
    return found


def _planned(trace: Any, device_type: str, matrices: Any, remedies: Any) -> Iterator[Any]:
    from opcheck.rewrite.planner import Planner
    from opcheck.rewrite.record import Recorder

    planner = Planner(trace, Recorder(device_type, {}))
    for matrix, shipped in zip(matrices, remedies, strict=True):
        yield planner.plan(matrix, shipped)


def _add(tally: Tally, trace: Any, plan: Any, is_model: bool) -> None:
    stuck = False
    for node in plan:
        ways = {w.replaces for w in node.suggestions if w.tier in _PROVEN and w.on_device}
        whole = str(trace.nodes[node.node].op) in ways
        lost = () if whole else node.stuck
        stuck |= bool(lost)
        for op in ways:
            tally.missing.setdefault(op, [0, 0])[0] += 1
        for op in lost:
            tally.missing.setdefault(op, [0, 0])[1] += 1
    if is_model:
        tally.models += 1
        tally.native += not plan
        tally.native_after += not stuck


def _samples() -> Iterator[tuple[bool, Any, Any, Any]]:
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
            yield False, case.function, (first, *args), kwargs
        seen |= taken


def _zoo() -> Iterator[tuple[bool, Any, Any, Any]]:
    from tests.zoo import ZOO

    for make in ZOO.values():
        yield True, *make()


# --- the page ------------------------------------------------------------------------------------

_HEAD = """\
# Ways out

For each target: the overloads that it lacks, or refuses as they were called, among PyTorch's own
samples of its operators (float32, else int64, the first three of each) and the models of
`tests/zoo`; and on how many of those `opcheck plan` finds a way out in tiers 1 to 3 that was
recorded to run as what the target has and measured beside the original. Written by
`python -m benchmarks.ways_out`.

| target | missing overloads | all calls have one | some | share | models on the device | then |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def page(found: Mapping[str, Tally]) -> str:
    """The whole page."""
    lines = [_HEAD]
    for target, tally in found.items():
        served = sum(not lost for _, lost in tally.missing.values())
        partly = sum(bool(good and lost) for good, lost in tally.missing.values())
        share = served / len(tally.missing) if tally.missing else 1.0
        lines.append(
            f"| {target} | {len(tally.missing)} | {served} | {partly} | {share:.1%} | "
            f"{tally.native} of {tally.models} | {tally.native_after} of {tally.models} |\n"
        )
    lines += ["\n## Without a way out\n\n", *_without(found)]
    return "".join(lines)


def _without(found: Mapping[str, Tally]) -> Iterator[str]:
    targets: dict[str, list[str]] = defaultdict(list)
    for target, tally in found.items():
        for op, (good, lost) in tally.missing.items():
            if lost:
                some = f" ({lost} of {good + lost} calls)" if good else ""
                targets[op].append(target.partition("+")[0] + some)
    yield "| overload | on |\n| --- | --- |\n"
    for op, names in sorted(targets.items(), key=lambda item: (-len(item[1]), item[0])):
        on = "all" if len(names) == len(found) else ", ".join(names)
        yield f"| `{op}` | {on} |\n"


def main(arguments: Sequence[str]) -> int:
    """Write the page; with a device type, print what was found for it."""
    if arguments:
        tallies = tallied(arguments[0])
        print(json.dumps({name: vars(tally) for name, tally in tallies.items()}))
        return 0
    found: dict[str, Tally] = {}
    for device_type in TARGETS:
        command = [sys.executable, "-m", "benchmarks.ways_out", device_type]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
        last = done.stdout.splitlines()[-1]
        found |= {name: Tally(**tally) for name, tally in json.loads(last).items()}
    PAGE.write_text(page(found), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
