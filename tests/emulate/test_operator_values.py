"""Every operator of PyTorch's own test database, on the emulated device and on the host."""

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves, tree_map_only

import opcheck
from opcheck.emulate.host_and_device import Placing
from opcheck.emulate.session import Emulator
from opcheck.errors import EmulationError
from opcheck.trace.running.model_state import dense_copy

pytestmark = pytest.mark.slow

SAMPLES = 3
UNINITIALISED = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided",
}  # fmt: skip
"""Operators whose values are whatever the memory held."""
Outcomes = dict[str, set[str]]
OTHERWISE: Outcomes = {
    # Ascend's cast to float64 gives float32
    "dtype": {"double", "float_power", "log_softmax", "to"},
    # PyTorch takes the places to split at only from a tensor on the host
    "RuntimeError": {"tensor_split"},
    # sparse tensors are refused
    "EmulationError": {"sparse.mm", "sparse.sampled_addmm", "to_sparse"},
}
"""What is other about an operator on the device -> the operators."""


def samples() -> Iterator[tuple[Any, Any, Any]]:
    """Each operator in float32 with its first sample inputs, as far as the host runs them."""
    for op in op_db:
        if torch.float32 in op.supported_dtypes("cpu"):
            # not by way of ``sample_inputs``, which looks for a running unittest on the whole stack
            for sample in islice(op.sample_inputs_func(op, "cpu", torch.float32, False), SAMPLES):
                yield (
                    op,
                    tree_map_only(Tensor, own_copy, (sample.input, *sample.args)),
                    sample.kwargs,
                )


def own_copy(tensor: Tensor) -> Tensor:
    """With a storage of its own, as tensors that moved have."""
    return dense_copy(tensor) if tensor.layout is torch.strided else tensor


def differing(values: bool) -> Outcomes:
    """Operators that give something else on the device, by what is other about it."""
    found: Outcomes = {}
    emulator = opcheck.emulate("ascend-910b", values=values, stop=False)
    with emulator, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op, args, kwargs in samples():
            how = difference(op, args, kwargs, emulator)
            if how:
                found.setdefault(how, set()).add(op.name)
    return found


def difference(op: Any, args: Any, kwargs: Any, emulator: Emulator) -> str:
    """What is other on the device; "" if nothing is."""
    place = Placing(emulator.device, emulator.values).inputs
    try:
        torch.default_generator.manual_seed(0)
        expected = op(*tree_map_only(Tensor, own_copy, args), **kwargs)
    except (RuntimeError, AssertionError):  # a sample for other devices, or there to fail
        return ""
    try:
        torch.default_generator.manual_seed(0)
        found = op(*place(args), **place(kwargs))
    except (RuntimeError, NotImplementedError, EmulationError) as error:
        return type(error).__name__
    both = list(zip(tensors(found), tensors(expected), strict=True))
    for name in ("dtype", "shape", "stride"):
        if any(attribute(a, name) != attribute(b, name) for a, b in both):
            return name
    if not emulator.values or op.name in UNINITIALISED:
        return ""
    return "" if all(same(a, b) for a, b in both) else "value"


def tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


def attribute(tensor: Tensor, name: str) -> Any:
    found = getattr(tensor, name)
    return found() if callable(found) else found


def same(device: Tensor, host: Tensor) -> bool:
    return torch.allclose(device.cpu().to(host.dtype), host, equal_nan=True)


def test_values_and_strides_are_those_of_the_host() -> None:
    assert differing(True) == OTHERWISE


def test_without_values_shapes_and_strides_are_those_of_the_host() -> None:
    assert differing(False) == OTHERWISE
