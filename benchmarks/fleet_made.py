"""A store of made-up answers, as large as asked for: the same for the same numbers."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.store.writing import Asked, Begun, begin, end, finish
from opcheck.commands.fleet.values import (
    Blocker,
    Cause,
    Done,
    Ending,
    Entry,
    Outcome,
    RunTarget,
    TargetResult,
)
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.verdict import Confidence, Verdict

_VENDORS = {
    "ascend": ("npu", "26.1.0", ("910a", "910b", "910c", "310p", "310b")),
    "cambricon": ("mlu", "1.28.0", ("mlu370", "mlu590")),
    "mthreads": ("musa", "4.3.0", ("s4000", "s5000")),
    "nvidia": ("cuda", "13.0", ("a100", "h100", "h200", "b200", "l40s", "t4", "orin")),
    "amd": ("cuda", "7.1", ("mi250", "mi300x", "mi355x")),
    "intel": ("xpu", "2.9", ("pvc", "bmg", "arc")),
    "apple": ("mps", "26.0", ("m2", "m4")),
    "directml": ("privateuseone", "1.15", ("gpu",)),
}
_ENDED = (Ending.FAILED, Ending.TIMED_OUT, Ending.OUT_OF_MEMORY, Ending.CRASHED)
MENDED = "fedcba9876543210"
"""A digest of data that has kernels which that of any other lacks."""
_CAME = 17
"""Every so many overloads one that it has."""
_DRAWS = 400
"""Overloads that may be missing; the first of them are so often."""


def targets(digest: str = "0123456789abcdef") -> tuple[RunTarget, ...]:
    """Twenty-five chips of eight vendors, checked against data of a digest."""
    return tuple(
        RunTarget(
            f"{vendor}-{chip}@{sdk}+torch2.12", vendor, chip, sdk, "2.12", device, digest,
            "2026-10-01",
        )
        for vendor, (device, sdk, chips) in _VENDORS.items()
        for chip in chips
    )  # fmt: skip


def fill(path: Path, models: int, seed: int = 0, digest: str = "0123456789abcdef") -> None:
    """Add a run over ``models`` models on every target; one in fifty has no answer."""
    chance = random.Random(seed)
    on = targets(digest)
    entries = [
        Entry(f"zoo:model_{at:05}", ScanRequest(ModelSpec(f"zoo:model_{at:05}"), ()))
        for at in range(models)
    ]
    with Store(path) as store:
        # one transaction less for each model would be another store; one sync less is not
        store.connection.execute("PRAGMA synchronous=OFF")
        run = begin(
            store, entries, on, manifest="zoo:*", digest=f"{seed} {models} {digest}",
            opcheck="0.1.0", torch="2.13.0", engine="local",
        )  # fmt: skip
        for done in _done(models, on, chance):
            finish(store, run, Asked(entries[done.position], f"{done.position} {seed}", "0.1.0",
                                     "2.13.0"), done)  # fmt: skip
        _end(store, run)


def _end(store: Store, run: Begun) -> None:
    end(store, run)
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _done(models: int, on: Sequence[RunTarget], chance: random.Random) -> Iterator[Done]:
    for position in range(models):
        if chance.random() < 0.02:
            ending = chance.choice(_ENDED)
            yield Done(position, Outcome(ending, f"it {ending.value}", "look there"), 2.0)
            continue
        wanted = [min(int(chance.paretovariate(0.7)), _DRAWS) for _ in range(chance.randint(0, 4))]
        yield Done(position, Outcome(
            Ending.SCANNED, kind="timm", digest=f"{position:016x}", torch_version="2.13.0",
            calls=chance.randint(50, 5000), operators=chance.randint(10, 90),
            targets=tuple(_result(target, wanted, chance) for target in on),
        ), 2.0)  # fmt: skip


def _result(target: RunTarget, wanted: Sequence[int], chance: random.Random) -> TargetResult:
    """What of the wanted overloads the target lacks follows from its name."""
    lacks = random.Random(target.target)
    odds = lacks.random() * 0.6
    blockers = [
        _blocker(number, target)
        for number in sorted(set(wanted))
        if (target.database_digest != MENDED or number % _CAME)
        and random.Random(f"{target.vendor} {number}").random() < odds
    ]
    blockers.sort(key=lambda one: (-one.verdict.rank, one.op, one.code, one.text))
    counts = {verdict: sum(one.verdict is verdict for one in blockers) for verdict in Verdict}
    counts[Verdict.NATIVE] = 30
    worst = max((one.verdict for one in blockers), default=Verdict.NATIVE, key=lambda v: v.rank)
    runs = {Verdict.UNSUPPORTED: False, Verdict.UNKNOWN: None}.get(worst, True)
    return TargetResult(
        target.target, target.database_digest, worst, runs, round(30 / (30 + len(blockers)), 4),
        counts, counts, 1, chance.randint(0, 10**6), tuple(blockers),
    )  # fmt: skip


def _blocker(number: int, target: RunTarget) -> Blocker:
    kind = number % 5
    op = f"aten::operator_{number:03}"
    cause = (Cause.KERNEL, Cause.KERNEL, Cause.CONDITION, Cause.UNKNOWN, Cause.KERNEL)[kind]
    code, verdict, text = (
        ("no-kernel", Verdict.UNSUPPORTED, f"{target.vendor} registers no kernel for {op}"),
        ("host-fallback", Verdict.FALLBACK, f"{target.vendor} runs {op} on the host"),
        ("dtype-not-supported", Verdict.UNSUPPORTED, f"{op} does not take float64 there"),
        ("not-stated", Verdict.UNKNOWN, f"nobody has said whether {target.vendor} has {op}"),
        ("no-kernel", Verdict.UNSUPPORTED, f"{target.vendor} registers no kernel for {op}"),
    )[kind]
    return Blocker(
        op, cause, code, verdict, text, Confidence.HIGH, 1 + number % 7, (op,), f"layer{number}",
        "model.py", number,
    )  # fmt: skip
