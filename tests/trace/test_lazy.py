"""Lazy conjugates and negatives, and values that C++ hands on: as the dispatcher has them."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from opcheck.model.trace import Kernel
from opcheck.trace.device.tensors import DeviceTensor, Spec, device_tensor, prepare
from opcheck.trace.outputs.plan import remark
from opcheck.trace.predict import predicting
from opcheck.trace.running.training import Registrations

REGISTERED = Registrations(
    frozenset(
        f"aten::{name}"
        for name in (
            "clone", "mul.Tensor", "neg", "mm", "_fft_c2r", "_linalg_solve_ex.result", "any",
            "_local_scalar_dense", "empty.memory_format", "empty_strided", "as_strided", "view",
        )
    )
)  # fmt: skip
SMALL = torch.complex(torch.arange(6.0).reshape(2, 3), torch.ones(2, 3))
LARGE = torch.complex(torch.ones(80, 80), torch.ones(80, 80))
"""Too large for its values to be kept."""


def kernels(function: Callable[..., Any], *args: Any) -> tuple[Kernel, ...]:
    with predicting("npu", REGISTERED) as predictor:
        return predictor.call(function, args, {}).kernels


def count(op: str, found: tuple[Kernel, ...]) -> int:
    return sum(kernel.count for kernel in found if str(kernel.op) == f"aten::{op}")


@pytest.mark.parametrize("x", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize(
    ("function", "clones"),
    [
        (lambda x: x.conj(), 0),
        (lambda x: x.conj() * x, 1),
        (lambda x: x.conj().conj() * x, 0),
        (lambda x: x.mH[0] * x[:, 0], 1),
        (lambda x: (x.conj() * 1, x.conj() * 2), 2),
        (lambda x: x.conj().resolve_conj() * x, 1),
        (lambda x: x @ x.mH, 0),
        (lambda x: x.conj().imag * 2, 1),
        (lambda x: x.conj().real * 2, 0),
        (torch.fft.hfft, 1),
    ],
    ids=["view", "use", "twice", "view of it", "each use", "resolved", "product", "imag", "real",
         "inside"],
)  # fmt: skip
def test_what_reads_a_lazy_tensor_has_it_cloned_first(
    x: Tensor, function: Callable[[Tensor], Any], clones: int
) -> None:
    assert count("clone", kernels(function, x)) == clones


def test_a_composite_is_taken_apart_before_its_argument_is_resolved() -> None:
    """Only where the device runs it whole does ``matmul`` read a tensor; ``mm`` takes lazy ones."""
    whole = Registrations(REGISTERED.kernels | {"aten::matmul"})
    with predicting("npu", whole) as predictor:
        found = predictor.call(lambda x: x @ x.mH, (SMALL,), {}).kernels
    assert (count("clone", found), count("matmul", found), count("mm", found)) == (1, 1, 0)


def test_a_lazy_tensor_of_the_host_is_resolved_there() -> None:
    seen: list[list[complex]] = []
    kernels(lambda x: seen.append((SMALL[0].conj() * 2).tolist()), SMALL)
    assert seen == [[0 - 2j, 2 - 2j, 4 - 2j]]


def test_values_are_conjugated_too() -> None:
    seen: list[complex] = []
    kernels(lambda x: seen.append(x.conj()[1, 2].item()), SMALL)
    kernels(lambda x: seen.append(x.conj().imag[0, 0].item()), SMALL)
    assert seen == [5 - 1j, -1]


@pytest.mark.parametrize("name", ["on_meta", "zeros"])
def test_a_spec_tells_lazy_tensors_apart(name: str) -> None:
    plain = Spec.like(SMALL)
    lazy = Spec.like(SMALL.conj())
    assert lazy is not plain
    assert lazy is Spec.like(torch.zeros_like(SMALL).conj())
    assert lazy.meta == plain.meta
    made = getattr(lazy, name)()
    assert (made.is_conj(), made.is_neg(), Spec.like(made)) == (True, False, lazy)
    assert device_tensor(lazy, None, prepare("npu")).is_conj()


def test_a_remarked_tensor_keeps_its_values() -> None:
    x = SMALL.clone()
    remark(x, True, False)
    assert x.is_conj()
    assert x.tolist() == SMALL.tolist()
    assert x.conj().tolist() == SMALL.conj().tolist()


def test_a_view_that_cpp_makes_of_known_values_knows_them() -> None:
    seen: list[DeviceTensor] = []
    kernels(lambda x: seen.append(torch.ops.aten._unsafe_view(x, [3, 2])), SMALL)
    assert seen[0].value is not None
    assert seen[0].value.tolist() == SMALL.reshape(3, 2).tolist()


def test_what_a_kernel_writes_to_is_what_it_returns() -> None:
    """Its meta function returns new tensors instead, and the old ones would keep old values."""
    found = kernels(torch.linalg.solve, torch.eye(80), torch.ones(80))
    assert count("_linalg_solve_ex.result", found) == 1
    assert count("_local_scalar_dense", found) == 1


def test_a_device_that_copies_by_copy_from_is_asked_for_it_once() -> None:
    """Cloning its argument first would come to ``_copy_from`` again, for ever."""
    kernels_of = Registrations(frozenset({"aten::_copy_from", "aten::empty_strided"}))
    with predicting("npu", kernels_of) as predictor:
        found = predictor.call(lambda x: x.conj().clone(), (SMALL,), {}).kernels
    assert count("_copy_from", found) == 1


def test_known_values_follow_a_view_that_c_makes_in_place() -> None:
    def narrowed(x: Tensor) -> float:
        return torch.as_strided_(x, (2,), (2,), 1).sum().item()

    values: list[float] = []
    with predicting("npu", REGISTERED) as predictor:
        predictor.call(lambda x: values.append(narrowed(x)), (torch.arange(4.0),), {})
    assert values == [4.0]


def test_a_copy_to_the_host_that_need_not_wait_asks_for_no_pinned_memory() -> None:
    found = kernels(lambda x: x.to("cpu", non_blocking=True), SMALL)
    assert [str(kernel.op) for kernel in found if kernel.missing] == ["aten::_copy_from"]
