"""Single calls, and what they ask a device with a few kernels for."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from opcheck.trace.predict import predicting
from opcheck.trace.running.training import Registrations

REGISTERED = Registrations(
    frozenset(
        f"aten::{name}"
        for name in ("to.dtype_layout", "_to_copy", "copy_", "empty_strided", "remainder.Tensor")
    )
)


@pytest.mark.since("2.10")
@pytest.mark.parametrize(
    ("function", "asked"),
    [
        (lambda x: torch.ones(3).to(x.device), {"_to_copy"}),
        (lambda x: torch.ones(3).type_as(x), {"_to_copy"}),
        (lambda x: x.cpu(), {"to.dtype_layout"}),
        (lambda x: torch.remainder(x, 2), {"remainder.Tensor"}),
    ],
    ids=["from the host", "as another", "to the host", "a number as a tensor"],
)
def test_a_call_asks_for_just_these(function: Callable[..., Any], asked: set[str]) -> None:
    with predicting("npu", REGISTERED) as predictor:
        found = predictor.call(function, (torch.ones(3),), {})
    assert {str(kernel.op).removeprefix("aten::") for kernel in found.kernels} == asked
    assert not any(kernel.missing for kernel in found.kernels)
