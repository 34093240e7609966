"""Tensors that C++ makes of numbers inside composites, of which few overloads take the numbers."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from opcheck.model.trace import TensorMeta
from opcheck.trace.run import trace_model

X = torch.ones(2, 8, dtype=torch.int32)
CALLS: tuple[tuple[Callable[[Any], Any], str], ...] = (
    (lambda x: torch.bitwise_right_shift(x, 4), "bitwise_right_shift"),
    (lambda x: torch.bitwise_right_shift(3, x), "bitwise_right_shift"),
    (lambda x: torch.bitwise_left_shift(x, 4), "bitwise_left_shift"),
    (lambda x: torch.bitwise_left_shift(3, x), "bitwise_left_shift"),
    (lambda x: torch.bitwise_xor(3, x), "bitwise_xor"),
    (lambda x: torch.remainder(7, x), "remainder"),
    (lambda x: torch.fmod(x, 2.5), "fmod"),
    (lambda x: torch.xlogy(2, x.float()), "xlogy"),
    (lambda x: torch.copysign(x.float(), -1), "copysign"),
    (lambda x: torch.float_power(2.0, x), "pow"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("call", "base"), CALLS)
def test_a_number_reaches_the_kernel_of_a_composite(call: Callable[[Any], Any], base: str) -> None:
    """Whether the target has the kernel of tensors, or only that which writes to a given one."""
    with_tensors = frozenset({f"aten::{base}.Tensor", "aten::_to_copy"})
    with_out = frozenset({f"aten::{base}.{out}" for out in ("Tensor_out", "Scalar_out", "out")})
    exact = {"tensors": with_tensors, "out": with_out, "none": frozenset[str]()}
    found = trace_model(call, (X,), {}, device_type="npu", exact=exact)
    assert (found.gaps, found.notes) == ((), ())
    assert [node.note for node in found.nodes if node.note] == []
    for kernels in found.kernels.values():
        assert any(kernel.op.base == base for kernel in kernels)


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize(("call", "base"), CALLS)
def test_a_number_moves_the_dtype_as_a_number_does(
    call: Callable[[Any], Any], base: str, shape: tuple[int, ...]
) -> None:
    """At each depth of the composite, for ``out`` has the dtype that C++ chose."""
    x = torch.ones(shape, dtype=torch.int8)
    found = trace_model(call, (x,), {}, device_type="npu")
    wanted = str(call(x).dtype).removeprefix("torch.")
    given = {
        output.dtype
        for node in found.nodes
        if node.op.base == base
        for output in node.outputs
        if isinstance(output, TensorMeta)
    }
    assert given == {wanted}
