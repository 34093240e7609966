"""One trace a device type: what one process may trace, and what several traces say together."""

from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.scan import answer as scan_answer
from opcheck.db.store import Database
from opcheck.device_types import Scanned, Traced, processes, works
from opcheck.model.matrix import Entry, SupportMatrix
from opcheck.model.report import Report, TraceInfo
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Gap, Use
from opcheck.model.verdict import Verdict
from tests.resolve import made
from tests.source.pt2_files import export
from tests.trace.small_models import ready

KEYS = {"cuda": "CUDA", "xla": "XLA", "mps": "MPS"}
NET = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return x.sin() if x.is_cuda else x.cos().exp()

def net():
    return Net(), (torch.ones(2),)
"""


def matrix(device_type: str, *registered: str) -> SupportMatrix:
    plain = made.matrix(*registered)
    target = replace(plain.target, device_type=device_type, chip=device_type)
    return replace(plain, target=target, dispatch_key=KEYS.get(device_type, "PrivateUse1"))


MATRICES = tuple(matrix(name, "aten::relu") for name in ("cuda", "npu", "mlu", "xla", "npu"))


def _by_process(*device_types: str) -> list[list[str]]:
    found = processes([matrix(name, "aten::relu") for name in device_types])
    return [[work.device_type for work in process] for process in found]


def test_a_process_is_named_after_one_vendor_and_half_of_the_types_are_traced_in_the_first() -> (
    None
):
    assert _by_process("cuda", "npu", "mlu", "xla", "npu") == [["npu", "cuda"], ["mlu", "xla"]]
    assert _by_process("npu", "mlu", "musa", "cuda", "xla", "mps") == [
        ["npu", "cuda", "xla"],
        ["mlu", "mps"],
        ["musa"],
    ]


def test_what_is_stood_in_for_needs_no_further_process() -> None:
    assert _by_process("cuda", "npu", "xla") == [["npu", "cuda", "xla"]]
    assert _by_process("cuda") == [["cuda"]]


def test_in_one_process_the_device_with_a_name_of_its_own_comes_first() -> None:
    assert [work.device_type for work in works(MATRICES)] == ["npu", "mlu", "cuda", "xla"]


def test_exact_kernels_are_counted_for_devices_that_a_trace_can_name() -> None:
    assert [dict(work.exact) for work in works(MATRICES[:1], exact=True)] == [{}]
    (work,) = works(MATRICES[1:2])
    assert dict(work.exact) == {str(MATRICES[1].target): ("aten::relu",)}
    assert [dict(work.exact) for work in works(MATRICES)] == [{}, {}, {}, {}]


def test_casts_are_those_that_the_targets_of_one_type_share() -> None:
    entry = Entry("aten::_to_copy", (made.LISTED,))
    becomes = replace(made.condition(Verdict.NATIVE), cast=("float64", "float32"))
    casting = replace(MATRICES[1], entries={entry.op: replace(entry, conditions=(becomes,))})
    assert [dict(work.casts) for work in works((casting, MATRICES[0]))] == [
        {"float64": "float32"},
        {},
    ]
    assert [dict(work.casts) for work in works((casting, MATRICES[1]))] == [{}]


def test_traces_of_several_types_are_told_of_together() -> None:
    one = made.trace(made.node("aten::relu"), gaps=(Gap("a.py:1", "b"),))
    other = replace(
        made.trace(made.node("aten::relu"), uses=(Use(0, "net", "net.py", 5, 2),)),
        device_type="cuda",
    )
    scanned = Scanned((Traced(one), Traced(other)), "python", "digest", ("chosen",))
    assert scanned.of(MATRICES[0].target) is other
    assert scanned.info() == TraceInfo(
        mode="inference",
        device_type="npu, cuda",
        calls=1,
        operators=1,
        gaps=(Gap("a.py:1", "b"),),
        modules_not_called=(),
        notes=("chosen", "traced for cuda: 2 calls of 1 operators"),
    )


def test_a_trace_of_some_targets_is_not_taken_for_others_of_their_type() -> None:
    target = MATRICES[1].target
    mine, theirs = (made.trace(made.node(f"aten::{name}")) for name in ("relu", "gelu"))
    other = replace(target, chip="other")
    parts = (Traced(theirs, (str(other),)), Traced(mine, (str(target),)))
    scanned = Scanned(parts, "python", "digest", ())
    assert (scanned.of(target), scanned.of(other)) == (mine, theirs)


def operators(report: Report) -> dict[str, set[str]]:
    return {t.target.partition("@")[0]: {f.op for f in t.findings} for t in report.targets}


@pytest.mark.slow
def test_each_target_is_held_against_the_branch_that_its_device_takes(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(NET, encoding="utf-8")
    names = ("nvidia-a100", "ascend-910b", "google-tpu-v4", "cambricon-mlu370")
    specs = tuple(map(TargetSpec.parse, names))
    report = scan_answer.scan(ScanRequest(ModelSpec(f"{file}:net"), specs))
    assert operators(report) == {
        "nvidia-a100": {"aten::sin"},
        **{name: {"aten::cos", "aten::exp"} for name in names[1:]},
    }
    stood_in_for = {
        target.vendor
        for target in report.targets
        if "stand-in" in {advisory.code for advisory in target.advisories}
    }
    assert stood_in_for == {"nvidia", "google"}
    assert report.trace.notes[-1].startswith("traced for ")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["attention", "conv"])
def test_a_saved_graph_is_settled_for_cuda_by_tables_as_a_run_settles_it(
    model: str, tmp_path: Path
) -> None:
    module, args, _ = ready(model)
    path = str(export(tmp_path / f"{model}.pt2", module, args))
    specs = tuple(map(TargetSpec.parse, ("nvidia-a100",)))
    tables, run = (
        scan_answer.scan(ScanRequest(ModelSpec(path), specs, exact)) for exact in (False, True)
    )
    assert tables.trace.notes == ("read from the saved graph and tables; torch was not loaded",)
    assert run.targets[0].kernels is None
    assert verdicts(tables) == verdicts(run)


def verdicts(report: Report) -> Counter[tuple[str, Verdict]]:
    (target,) = report.targets
    counts: Counter[tuple[str, Verdict]] = Counter()
    for finding in target.findings:
        counts[finding.op, finding.verdict] += finding.count
    return counts


def test_every_target_has_a_device_type_that_can_be_traced() -> None:
    from opcheck.trace.device.alias import ALIASED_TYPES

    database = Database.open()
    for target in database.targets():
        plugin = database.matrix(target).dispatch_key == "PrivateUse1"
        assert plugin is (target.device_type not in ALIASED_TYPES)
