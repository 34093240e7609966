"""A condition on deterministic mode, on the emulated device and in the scan."""

import warnings
from collections.abc import Iterator

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from opcheck.emulate.session import Emulator
from opcheck.model.verdict import Verdict
from opcheck.resolve.findings import resolve
from opcheck.trace import trace_model
from opcheck.trace.torch_internals.modes import as_found
from tests.emulate.matrices import matrix_of

NEWEST = matrix_of("ascend-910b")
OF_MUSA = tuple(
    condition
    for condition in matrix_of("moorethreads-s5000").conditions["aten::histc"]
    if condition.code in ("not-deterministic", "not-deterministic-warns")
)
MATRIX = replace(NEWEST, conditions={**NEWEST.conditions, "aten::histc": OF_MUSA})
X = torch.arange(12.0).reshape(3, 4)
RAISES = (
    "torch.use_deterministic_algorithms(True) is on, and PyTorch raises "
    '"_histc_musa does not have a deterministic implementation"'
)
WARNS = (
    "torch.use_deterministic_algorithms(True, warn_only=True) is on, and PyTorch warns "
    '"_histc_musa does not have a deterministic implementation": its values may differ from run '
    "to run"
)


@pytest.fixture(autouse=True)
def _left_off() -> Iterator[None]:
    with as_found():
        torch.use_deterministic_algorithms(False)
        yield


def _counted(x: Tensor) -> Tensor:
    first = torch.histc(x, 4)
    torch.use_deterministic_algorithms(True)
    second = torch.histc(x, 4)
    torch.use_deterministic_algorithms(True, warn_only=True)
    third = torch.histc(x, 4)
    torch.use_deterministic_algorithms(False)
    return first + second + third


@pytest.mark.slow
@pytest.mark.parametrize("values", [True, False], ids=["values", "shapes"])
def test_the_device_refuses_the_call_that_was_made_in_the_mode(values: bool) -> None:
    emulator = Emulator(MATRIX, values=values, stop=False)
    with warnings.catch_warnings(), emulator as device:
        warnings.simplefilter("ignore")
        counted = _counted(X.to(device)).cpu()
    assert [(refusal.op, refusal.reason.text) for refusal in emulator.refusals] == [
        ("aten::histc", RAISES)
    ]
    if values:  # refused calls are computed all the same, where the run is to go on
        assert counted.tolist() == [9.0] * 4


@pytest.mark.slow
def test_the_scan_refuses_the_same_call_and_warns_of_the_other() -> None:
    trace = trace_model(_counted, (X,), {}, device_type="npu")
    found = [f for f in resolve(trace, MATRIX).findings if f.op == "aten::histc"]
    assert sorted((f.reason.code, f.verdict, f.count) for f in found) == [
        ("not-deterministic", Verdict.UNSUPPORTED, 1),
        ("not-deterministic-warns", Verdict.NATIVE, 1),
        ("registered", Verdict.NATIVE, 1),
    ]
    assert {f.reason.text for f in found} >= {RAISES, WARNS}


@pytest.mark.slow
def test_bare_nodes_say_nothing_of_a_mode() -> None:
    torch.use_deterministic_algorithms(True)
    trace = trace_model(_counted, (X,), {}, device_type="npu")
    bare = replace(trace, nodes=tuple(replace(node, modes=()) for node in trace.nodes))
    found = [f for f in resolve(bare, MATRIX).findings if f.op == "aten::histc"]
    assert {f.verdict for f in found} == {Verdict.NATIVE}
