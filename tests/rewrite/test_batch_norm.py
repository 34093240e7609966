"""What the rule for batch norm in training writes beside its results."""

import pytest
import torch

from opcheck.model.plan import Label
from opcheck.rewrite.rules.reductions.batch_norm import BatchNormByMeans, native_batch_norm


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (2, 3, 4, 4)], ids=str)
def test_running_statistics_are_written_as_pytorch_writes_them(
    shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=dtype) * 3 + 1
    weight, bias = torch.rand(3, dtype=dtype), torch.rand(3, dtype=dtype)
    mean, var = torch.rand(3, dtype=dtype), torch.rand(3, dtype=dtype)
    others = mean.clone(), var.clone()
    wanted = torch.native_batch_norm(x, weight, bias, mean, var, True, 0.1, 1e-5)
    found = native_batch_norm(x, weight, bias, *others, True, 0.1, 1e-5)
    torch.testing.assert_close((*found, *others), (*wanted, mean, var))


def test_half_precision_keeps_its_dtype_and_statistics_in_float32() -> None:
    x = torch.randn(4, 3, 2).bfloat16()
    found = native_batch_norm(x, None, None, torch.zeros(3), torch.ones(3), True, 0.1, 1e-5)
    assert [t.dtype for t in found] == [torch.bfloat16, torch.float32, torch.float32]
    assert BatchNormByMeans.label is Label.TOLERANCE
