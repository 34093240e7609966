"""What keeps models off devices is counted with the fix of each, and the page tells it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.demand.models import Entry, entries
from benchmarks.demand.modes import in_mode
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


NET = """
import os
import torch

def model():
    return torch.nn.Linear(3, 2), (torch.rand(1, 3),)

def broken():
    raise ValueError("it does not run")

def ended():
    os._exit(7)
"""
TRACED = """
import json, sys
from pathlib import Path
from benchmarks.demand.models import Entry
from benchmarks.demand.traces import Traces
from opcheck.model.request import ModelSpec
folder = Path(sys.argv[1])
def entry(name, mode=""):
    return Entry(f"{name} {mode}".strip(), ModelSpec(f"{folder}/net.py:{name}"), mode)
entries = [entry("model"), entry("model", "bfloat16"), entry("broken"), entry("ended")]
traces = Traces(folder / "traces")
list(traces.make(entries, []))
told = {"again": len(list(traces.make(entries, [])))}
for one in entries[:2]:
    for kind in ("npu", "mlu"):
        (found,) = traces.read(one, kind)
        assert found.trace.device_type == kind
        node = found.trace.nodes[found.trace.uses[0].node]
        (_, tensor), *_ = node.tensors()
        told[f"{kind} {one.mode}".strip()] = [str(node.op), tensor.dtype]
told |= {one.name: traces.error(one) for one in entries[2:]}
print(json.dumps(told))
"""


def test_the_page_counts_pairs_and_ranks_what_was_met() -> None:
    text = page(FOUND, 1234, {})
    head, heading, rest = text.partition("| | pairs |")
    assert head.startswith("# Demand\n")
    assert "2 models,\nwith their modes 3, drawn from the 1,234 that" in head
    counts, limits, tables = rest.partition("\nThe modes of a forward")
    assert (
        heading + counts
        == """\
| | pairs | blocked | free once fixed | slowed alone | free once fixed |
| --- | ---: | ---: | ---: | ---: | ---: |
| float32 | 4 | 2 | 2 (100.0%) | 1 | 0 (0.0%) |
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
def test_a_type_with_lists_of_its_own_has_no_pairs_under_autocast() -> None:
    database = Database.open()
    target = database.resolve(TargetSpec.parse("cambricon-mlu590"))
    plans = Plans("mlu", [database.matrix(target)])
    trace = trace_model(torch.neg, (torch.rand(2),), {}, device_type="npu")
    found = [WorkResult(trace, "py", "")]
    assert [*plans.pairs(Entry("neg autocast", ModelSpec("neg"), "autocast"), found)] == []
    assert [pair.target for pair in plans.pairs(Entry("neg", ModelSpec("neg")), found)] == [
        str(target)
    ]


def test_a_mode_casts_weights_and_inputs_that_are_of_floating_point() -> None:
    model, given = torch.nn.Linear(3, 2), (torch.rand(1, 3), torch.ones(1, dtype=torch.int64))
    for mode, dtype in (("", torch.float32), ("bfloat16", torch.bfloat16)):
        made, args, kwargs = in_mode(mode, model, given, {"scale": torch.rand(1)})
        assert {weight.dtype for weight in made.parameters()} == {dtype}
        assert [one.dtype for one in args] == [dtype, torch.int64]
        assert kwargs["scale"].dtype == dtype


def test_autocast_runs_the_model_in_half_and_leaves_its_weights() -> None:
    made, args, kwargs = in_mode("autocast", torch.nn.Linear(3, 2), (torch.rand(1, 3),), {})
    assert made(*args, **kwargs).dtype == torch.float16
    assert {weight.dtype for weight in made.parameters()} == {torch.float32}


@pytest.mark.slow
def test_each_mode_of_a_model_is_traced_once_and_holds_for_every_type(tmp_path: Path) -> None:
    """In a process of its own: it registers the device's kernels for as long as it lives."""
    net = tmp_path / "net.py"
    net.write_text(NET, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", TRACED, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {
        "npu": ["aten::linear", "float32"],
        "mlu": ["aten::linear", "float32"],
        "npu bfloat16": ["aten::linear", "bfloat16"],
        "mlu bfloat16": ["aten::linear", "bfloat16"],
        "again": 0,
        "broken": f"broken() of {net} raised ValueError: it does not run (at {net}:9)",
        "ended": "its process ended with 7",
    }


@pytest.mark.slow
def test_more_than_a_thousand_models_are_named_once(tmp_path: Path) -> None:
    found = entries(tmp_path)
    names = [entry.name for entry in found]
    assert len(names) == len(set(names)) > 1000
    assert sum(entry.spec.step is not None for entry in found) > 200
    kinds = {name.partition(":")[0] for name in names[:100]}
    assert kinds >= {"hf", "timm", "torchvision", "zoo"}  # and what else is installed
