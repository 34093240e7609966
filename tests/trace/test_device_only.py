"""What computes here for a device: its own kernels, and numbers that C++ made tensors of."""

from typing import Any

import pytest
import torch

from opcheck.trace.outputs.device_only import kernel_for

ATEN = torch.ops.aten
X = torch.arange(6)


@pytest.mark.parametrize(
    ("func", "args", "expected"),
    [
        (ATEN.remainder.Tensor, (X, 4), [0, 1, 2, 3, 0, 1]),
        (ATEN.add.Tensor, (X, 4), [4, 5, 6, 7, 8, 9]),
        (ATEN.pow.Tensor_Tensor, (X, 2), [0, 1, 4, 9, 16, 25]),
        (ATEN.remainder.Tensor, (X, torch.tensor(4)), [0, 1, 2, 3, 0, 1]),
    ],
    ids=["remainder", "add", "pow", "tensor"],
)
def test_a_number_may_stand_for_a_tensor(func: Any, args: Any, expected: list[int]) -> None:
    assert kernel_for(func, args)(*args).tolist() == expected


def test_an_error_is_the_operators_own() -> None:
    with pytest.raises(RuntimeError, match=r"must match the size"):
        kernel_for(ATEN.remainder.Tensor, (X, X[:4]))(X, X[:4])
