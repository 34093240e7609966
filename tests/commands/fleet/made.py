"""Outcomes made by hand, and stores that hold them."""

from collections.abc import Sequence
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
    StoredTrace,
    TargetResult,
)
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.script import ScriptRequest, ScriptSpec
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Confidence, Verdict


def entry(name: str, source: str = "") -> Entry:
    return Entry(name, ScanRequest(ModelSpec(source or f"models.py:{name}"), ()), "models.yaml:2")


def script_on(one: RunTarget, name: str = "nano") -> Entry:
    """A script of that name on one target."""
    spec = ScriptSpec("train.py", argv=("--lr", "1"))
    model = ModelSpec("train.py")
    script = ScriptRequest(spec, model, TargetSpec.parse(one.target))
    return Entry(name, ScanRequest(model, ()), "models.yaml:1", script, one.target)


def target(name: str, digest: str = "1234567890abcdef") -> RunTarget:
    """``ascend-910b@26.1.0+torch2.12``, compared with data of some digest."""
    vendor, _, chip = name.partition("@")[0].partition("-")
    sdk, _, torch = name.partition("@")[2].partition("+torch")
    return RunTarget(name, vendor, chip, sdk, torch, "npu", digest, "2026-10-01")


def kernel(op: str, verdict: Verdict = Verdict.UNSUPPORTED, calls: int = 1) -> Blocker:
    text = f"ascend registers no kernel for {op} and has no host fallback"
    return Blocker(
        op, Cause.KERNEL, "no-kernel", verdict, text, Confidence.HIGH, calls, (op,), "head",
        "models.py", 7,
    )  # fmt: skip


def result(on: RunTarget, *blockers: Blocker) -> TargetResult:
    """Three operators called, beside those that are blocked."""
    counts = dict.fromkeys(Verdict, 0) | {Verdict.NATIVE: 3}
    for blocker in blockers:
        counts[blocker.verdict] += 1
    worst = max((b.verdict for b in blockers), default=Verdict.NATIVE, key=lambda v: v.rank)
    runs = {Verdict.UNSUPPORTED: False, Verdict.UNKNOWN: None}.get(worst, True)
    rate = round(3 / (3 + len(blockers)), 4)
    return TargetResult(
        on.target, on.database_digest, worst, runs, rate, counts, counts, 1, 0, blockers
    )


def scanned(*results: TargetResult) -> Outcome:
    return Outcome(
        Ending.SCANNED, kind="python", digest="feed", torch_version="2.13.0", calls=5, operators=3,
        targets=results, traces=(StoredTrace("npu", "", "eJw="),),
    )  # fmt: skip


def failed(ending: Ending, reason: str) -> Outcome:
    return Outcome(ending, reason, "look there")


def asked(one: Entry) -> Asked:
    return Asked(one, f"key of {one.name}", "0.1.0", "2.13.0")


def begun(
    store: Store, entries: Sequence[Entry], targets: Sequence[RunTarget], digest: str = "asked"
) -> Begun:
    return begin(
        store, entries, targets, manifest="models.yaml", digest=digest, opcheck="0.1.0",
        torch="2.13.0", engine="local",
    )  # fmt: skip


def filled(
    path: Path, outcomes: dict[str, Outcome], targets: Sequence[RunTarget], digest: str = "asked"
) -> Begun:
    """A store with one whole run more, of the models in the order of ``outcomes``."""
    with Store(path) as store:
        entries = [entry(name) for name in outcomes]
        run = begun(store, entries, targets, digest)
        for position, one in enumerate(entries):
            done = Done(position, outcomes[one.name], 1.5, "1")
            finish(store, run, asked(one), done)
        end(store, run)
        return run
