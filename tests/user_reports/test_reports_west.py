"""Reports of Apple, Intel, AMD and NVIDIA, and all later ones: programs run on the CPU, and name
what there is.
"""

from collections import Counter
from contextlib import nullcontext
from importlib import import_module

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses import FakeTensorMode

from opcheck.commands.targets.answer import targets
from opcheck.source.building import torchvision_operators
from tests.user_reports.exports_compilers import COMPILE
from tests.user_reports.report import LeftOut, Report
from tests.whole import WHOLE

ROOMS = tuple(
    import_module(f"tests.user_reports.{name}")
    for name in (
        "apple", "intel", "amd", "nvidia", "nvidia_tensorrt",
        "later_apple", "later_west", "later_east",
        "third_apple", "third_metal", "third_west", "third_kernels", "third_east",
        "third_more", "third_rest",
        "fourth_intel", "fourth_west", "fourth_apple", "fourth_east",
        "fourth_kernels", "fourth_more", "fourth_rest",
        "fifth_apple", "fifth_west", "fifth_intel", "fifth_graph",
        "sixth_symptoms", "sixth_calls", "seventh_users", "seventh_videos",
        "eighth_devices", "eighth_sciences", "eighth_trades", "newer_devices",
        "ninth_libraries", "ninth_messages",
        "eleventh_training", "eleventh_requests", "eleventh_gradients",
        "twelfth_apple", "twelfth_libraries", "twelfth_devices", "twelfth_converters",
        "exports_onnx", "exports_openvino", "exports_compilers",
        "exports_executorch", "exports_coreml",
    )
)  # fmt: skip
REPORTS: tuple[Report, ...] = tuple(report for room in ROOMS for report in room.REPORTS)
LEFT_OUT: tuple[LeftOut, ...] = tuple(left for room in ROOMS for left in room.LEFT_OUT)
LARGE = frozenset(
    {"ROCm: LSTM of large batches", "CUDA: arange beyond 2**32",
     "CUDA: randint of 2**31 - 2 elements", "CUDA: a video enlarged beyond 2**31 elements",
     "Max: gradients of means of 2**31 elements", "MPS: attention of CogVideoX",
     "MUSA: more than 2**31 numbers cleared by a mask"}
)  # fmt: skip
"""Programs of billions of elements: seconds and gigabytes, where shapes show that they run."""


@pytest.fixture(scope="module", autouse=True)
def _torchvision() -> None:
    torchvision_operators.prepare()
    torchvision_operators.compute()


def _tensors(found: object) -> list[Tensor]:
    if isinstance(found, Tensor):
        return [found]
    return [tensor for item in found for tensor in _tensors(item)]  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_the_program_runs_on_the_cpu(report: Report) -> None:
    torch.default_generator.manual_seed(0)
    if isinstance(report.program, nn.Module):
        report.program.train(report.training)
    large = report.name in LARGE and not WHOLE
    as_written = torch.compiler.set_stance("force_eager")
    with as_written, FakeTensorMode(allow_non_fake_inputs=True) if large else nullcontext():
        found = _tensors(report.program(*report.inputs))
    assert found
    if report.training:
        torch.stack([x.sum() for x in found if x.requires_grad]).sum().backward()


def test_the_large_programs_are_known() -> None:
    assert {report.name for report in REPORTS} >= LARGE


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_its_operators_are_registered(report: Report) -> None:
    assert report.ops
    for op in report.ops:
        if op == COMPILE:
            continue
        namespace, _, rest = op.partition("::")
        base, _, overload = rest.partition(".")
        overloads = getattr(getattr(torch.ops, namespace), base).overloads()
        assert not overload or overload in overloads, op


def test_targets_are_in_the_database() -> None:
    known = {f"{row.target.name}@{release}" for row in targets() for release in row.releases}
    named = {target.partition("+")[0] for r in REPORTS for target in (r.target, *r.mended)}
    assert named <= known


def test_names_and_threads_are_unique() -> None:
    names = Counter(report.name for report in REPORTS)
    assert [name for name, count in names.items() if count > 1] == []
    for room in ROOMS:
        threads = Counter(item.thread for item in (*room.REPORTS, *room.LEFT_OUT))
        assert [thread for thread, count in threads.items() if count > 1] == []


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_reports_are_in_the_order_of_the_queries(room: object) -> None:
    numbers = [report.query for report in room.REPORTS]  # type: ignore[attr-defined]
    assert numbers == sorted(numbers)
    assert numbers[-1] < len(room.QUERIES)  # type: ignore[attr-defined]
