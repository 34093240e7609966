"""A condition on where a tensor begins in its storage, on the emulated device and in the scan."""

from collections.abc import Callable

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from opcheck.emulate.session import Emulator
from opcheck.model.matrix import Condition
from opcheck.model.predicates import Offset, Outside
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.findings import resolve
from opcheck.trace import trace_model
from tests.emulate.matrices import matrix_of

NEWEST = matrix_of("ascend-910b")
REFUSED = Condition(
    "no-slices", Verdict.UNSUPPORTED, "{argument} begins {actual} bytes later", Confidence.HIGH,
    (Offset("self", Outside(maximum=0)),),
)  # fmt: skip
MATRIX = replace(NEWEST, conditions={**NEWEST.conditions, "aten::relu": (REFUSED,)})


VIEWS: tuple[tuple[Callable[[Tensor], Tensor], int | None], ...] = (
    (lambda x: x, None),
    (lambda x: x[:2], None),
    (lambda x: x[1:], 32),
    (lambda x: x.chunk(2, dim=1)[1], 16),
    (lambda x: x[1:].t()[3], 4),
    (lambda x: x[1:].clone(), None),
    (lambda x: x[1:].reshape(-1)[1:], 4),
    (lambda x: x[:, 1:].contiguous(), None),
    (lambda x: x.split([1, 3])[1].unbind(0)[1], 64),
)


def _all_views(x: Tensor) -> list[Tensor]:
    return [torch.relu(view(x)) for view, _ in VIEWS]


SAID = sorted({f"self begins {begins} bytes later" for _, begins in VIEWS if begins is not None})
X = torch.arange(32.0).reshape(4, 8)


@pytest.mark.slow
@pytest.mark.parametrize("values", [True, False], ids=["values", "shapes"])
def test_the_device_refuses_the_views_that_begin_later(values: bool) -> None:
    emulator = Emulator(MATRIX, values=values, stop=False)
    with emulator as device:
        _all_views(X.to(device))
    assert sorted(refusal.reason.text for refusal in emulator.refusals) == SAID


def test_the_scan_refuses_the_same_views() -> None:
    trace = trace_model(_all_views, (X,), {}, device_type="npu")
    found = [f for f in resolve(trace, MATRIX).findings if f.op == "aten::relu"]
    refused = [f for f in found if f.verdict is Verdict.UNSUPPORTED]
    assert sorted(f.reason.text for f in refused) == SAID
    counts = {f.verdict: 0 for f in found}
    for one in found:
        counts[one.verdict] += one.count
    assert counts == {Verdict.UNSUPPORTED: 5, Verdict.NATIVE: 4}
