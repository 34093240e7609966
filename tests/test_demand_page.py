"""What keeps models off devices is counted with the fix of each, and the page tells it."""

from pathlib import Path

import pytest
import torch

from benchmarks.demand.models import Entry, entries
from benchmarks.demand.page import page
from benchmarks.demand.plans import Met, Pair, Plans
from benchmarks.demand.proofs import Proved, is_blocked
from benchmarks.zoo_fixes import NOT_HELD
from opcheck.db.store import Database
from opcheck.model.request import ModelSpec
from opcheck.model.target import TargetSpec
from opcheck.model.work import WorkResult
from opcheck.trace import trace_model

ONE, TWO = "vendor-a@1.0+torch2.1", "vendor-b@2.0+torch2.9"
NMS = Met("torchvision::nms", "host-fallback", "fallback", ("torchvision::nms",))
ROLL = Met("aten::roll", "no-kernel", "unsupported", ("aten::roll",), ("roll-by-joining",))
FOUND = {
    "zoo:bert": (Pair(ONE, {}, (ROLL,)), Pair(TWO, {})),
    "zoo:bert trained": (Pair(ONE, {}, (ROLL, NMS), ("torchvision::nms",)), Pair(TWO, {})),
    "zoo:yolo": (Pair(ONE, {}, (NMS,), ("torchvision::nms",)), Pair(TWO, {}, (ROLL, ROLL))),
}


def test_the_page_counts_pairs_and_ranks_what_was_met() -> None:
    text = page(FOUND, 1234, {})
    head, heading, rest = text.partition("| | pairs |")
    assert head.startswith("# Demand\n")
    assert "2 models\nin a forward and 1 in a training step, drawn from the 1,234 that" in head
    counts, limits, tables = rest.partition("\nA forward is traced")
    assert (
        heading + counts
        == """\
| | pairs | blocked | free once fixed | slowed alone | free once fixed |
| --- | ---: | ---: | ---: | ---: | ---: |
| forward | 4 | 2 | 2 (100.0%) | 1 | 0 (0.0%) |
| trained | 2 | 1 | 0 (0.0%) | 0 | 0 |
| all | 6 | 3 | 2 (66.7%) | 1 | 0 (0.0%) |
"""
    )
    assert limits
    assert (
        tables[tables.index("\n## Without") :]
        == """
## Without a fix

| operator | reason | makes a call | pairs | models | on |
| --- | --- | --- | ---: | ---: | --- |
| `torchvision::nms` | host-fallback | fallback | 2 | 2 | vendor-a@1.0 |

## With a fix

| operator | reason | makes a call | pairs | models | on | fix |
| --- | --- | --- | ---: | ---: | --- | --- |
| `aten::roll` | no-kernel | unsupported | 3 | 3 | vendor-a@1.0, vendor-b@2.0 | roll-by-joining |
"""
    )


def test_the_page_counts_what_was_really_fixed_and_says_what_was_not() -> None:
    proofs = {
        "zoo:bert": (
            Proved("vendor-a@1.0", whole=True, allowed="exact", forward=(0.0, 0.0)),
            Proved("vendor-b@2.0", whole=True, allowed="tolerance", forward=(1e-7, 1e-6)),
        ),
        "zoo:yolo": (
            Proved("vendor-b@2.0", whole=False, allowed="", why="a | b"),
            Proved("vendor-c@3.0", False, "exact", (0.0, 0.0), (2e-5, 1e-6), NOT_HELD),
            Proved("vendor-d@4.0", False, "exact", (None, 1e-6), None, NOT_HELD),
        ),
    }
    text = page(FOUND, 1234, proofs)
    _, _, rest = text.partition("| target | blocked pairs tried |")
    rows, _, _ = rest.partition("\n## Without")
    assert (
        rows
        == """ fixed | of which exact |
| --- | ---: | ---: | ---: |
| `vendor-a@1.0` | 1 | 1 | 1 |
| `vendor-b@2.0` | 2 | 1 | 0 |
| `vendor-c@3.0` | 1 | 0 | 0 |
| `vendor-d@4.0` | 1 | 0 | 0 |
| all | 5 | 2 | 1 |

| model | target | why it is not fixed |
| --- | --- | --- |
| zoo:yolo | `vendor-b@2.0` | a / b |
| zoo:yolo | `vendor-c@3.0` | gradients are off by 2.0e-05, and may be by 1.0e-06 |
| zoo:yolo | `vendor-d@4.0` | results are missing on the device, or no numbers |
"""
    )


def test_what_a_newer_release_frees_is_told_apart() -> None:
    """Of what is left; a newest release of which something is left frees nothing."""
    old, new = "vendor-a@0.9+torch2.0", ONE
    left = ("torchvision::nms",)
    found = {
        "zoo:bert": (Pair(new, {}), Pair(old, {}, (ROLL, NMS), left)),
        "zoo:yolo": (Pair(new, {}, (ROLL, NMS), left), Pair(old, {}, (ROLL, NMS), left)),
        "zoo:resnet": (Pair(new, {}), Pair(old, {}, (ROLL,))),
    }
    told = "Of the 3 blocked pairs that are left, 1 are free on the newest release"
    text = page(found, 1234, {}, {"vendor-a@1.0"})
    assert told in text
    assert "and 50.0% of blocked pairs have one" in text
    assert "| all | 6 | 4 | 1 (25.0%) | 0 | 0 |" in text
    assert "newest release of the same" not in page(found, 1234, {})


def test_a_pair_that_only_leaves_the_device_is_not_blocked() -> None:
    assert is_blocked(FOUND["zoo:bert"][0])
    assert not is_blocked(FOUND["zoo:yolo"][0])


@pytest.mark.slow
def test_a_traced_model_is_planned_on_each_target() -> None:
    database = Database.open()
    targets = [database.resolve(TargetSpec.parse(t)) for t in ("ascend-910b", "ascend-310b")]
    plans = Plans("npu", [database.matrix(target) for target in targets])
    trace = trace_model(torch.matmul, (torch.rand(2, 3), torch.rand(3, 4)), {}, device_type="npu")
    one, other = plans.pairs(Entry("matmul", ModelSpec("matmul")), [WorkResult(trace, "py", "")])
    assert (one.target, one.met, one.left) == (str(targets[0]), (), ())
    assert (other.target, other.left) == (str(targets[1]), ())
    assert {(met.op, met.code, met.rules) for met in other.met} == {
        (
            "aten::matmul",
            "dtype-not-supported",
            ("float16-after-scaling", "float16-instead-of-float32"),
        )
    }


@pytest.mark.slow
def test_more_than_a_thousand_models_are_named_once(tmp_path: Path) -> None:
    found = entries(tmp_path)
    names = [entry.name for entry in found]
    assert len(names) == len(set(names)) > 1000
    assert sum(entry.spec.step is not None for entry in found) > 200
    kinds = {name.partition(":")[0] for name in names[:100]}
    assert kinds == {"hf", "timm", "torchvision", "ultralytics", "zoo"}
