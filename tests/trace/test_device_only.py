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


@pytest.mark.parametrize(("packed", "rows"), [((4, 2, 32, 4), 32), ((4, 16), 4)])
def test_an_int4_product_has_as_many_columns_as_its_weight_rows(
    packed: tuple[int, ...], rows: int
) -> None:
    x = torch.empty(3, 128, dtype=torch.bfloat16, device="meta")
    weight = torch.empty(packed, dtype=torch.int32, device="meta")
    scales = torch.empty(4, rows, 2, dtype=torch.bfloat16, device="meta")
    args = x, weight, 32, scales
    made = kernel_for(ATEN._weight_int4pack_mm.default, args)(*args)
    assert (tuple(made.shape), made.dtype, made.device.type) == ((3, rows), x.dtype, "meta")


@pytest.mark.parametrize("window", [(2,), (3, 2, 1), ([3, 2], [2, 1], [1, 1], [1, 1], True)])
def test_the_gradient_of_a_whole_max_pool_is_that_of_its_parts(window: tuple[Any, ...]) -> None:
    x = torch.rand(2, 3, 8, 9, generator=torch.Generator().manual_seed(0), requires_grad=True)
    pooled = ATEN.max_pool2d.default(x, *window)
    grad = torch.rand(pooled.shape, generator=torch.Generator().manual_seed(1))
    (expected,) = torch.autograd.grad(pooled, x, grad)
    args = (grad, x.detach(), *window)
    assert torch.equal(kernel_for(ATEN.max_pool2d_backward.default, args)(*args), expected)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_products_with_packed_int4_weights_have_their_sizes_and_no_numbers(device: str) -> None:
    aten = torch.ops.aten
    weight = torch.zeros(32, 128, dtype=torch.uint8, device=device)
    packed = kernel_for(aten._convert_weight_to_int4pack.default, ())(weight, 8)
    assert (packed.dtype, tuple(packed.shape)) == (torch.int32, (4, 2, 32, 4))
    x = torch.ones(5, 256, dtype=torch.bfloat16, device=device)
    scales = torch.ones(2, 32, 2, dtype=torch.bfloat16, device=device)
    found = kernel_for(aten._weight_int4pack_mm.default, ())(x, packed, 128, scales)
    assert (found.dtype, tuple(found.shape)) == (torch.bfloat16, (5, 32))
    assert device == "meta" or found.isnan().all()
