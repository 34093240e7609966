"""Which kernels a training step asks an emulated device for, and in which phase."""

from typing import Any

import pytest
import torch

import opcheck
from opcheck.model.trace import Phase
from tests.emulate.outcome import HOST
from tests.emulate.training import OPTIMIZERS, network, stepped


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"aten::_foreach_addcdiv_.ScalarList"}),
        ({"foreach": False}, {"aten::addcdiv_"}),
        ({"fused": True}, {"aten::_fused_adamw_"}),
    ],
    ids=["as it chooses", "one by one", "fused"],
)
def test_an_optimizer_asks_for_the_kernels_that_it_chose(
    options: dict[str, Any], expected: set[str]
) -> None:
    """PyTorch takes lists of tensors on a PrivateUse1 device, as on CUDA, unless told otherwise."""
    emulator = opcheck.emulate("ascend-910b")
    with emulator as device:
        stepped(device, lambda p: torch.optim.AdamW(p, 0.1, **options))
    steps = {k.op for k in emulator.kernels if k.phase is Phase.OPTIMIZER}
    asked = {"aten::_foreach_addcdiv_.ScalarList", "aten::addcdiv_", "aten::_fused_adamw_"}
    assert steps & asked == expected


@pytest.mark.slow
def test_phases_are_told_apart_without_being_told() -> None:
    emulator = opcheck.emulate("ascend-910b")
    with emulator as device:
        weight = torch.ones(3, device=device, requires_grad=True)
        optimizer = torch.optim.SGD([weight], 0.5, foreach=False)
        weight.exp().sum().backward()
        optimizer.step()
        weight.detach().exp()
    counted = {(k.op, k.phase.value): k.count for k in emulator.kernels}
    assert counted == {
        ("aten::ones", "forward"): 1,
        ("aten::exp", "forward"): 2,
        ("aten::sum", "forward"): 1,
        ("aten::ones_like", "forward"): 1,
        ("aten::as_strided", "backward"): 1,
        ("aten::mul.Tensor", "backward"): 1,
        ("aten::add_.Tensor", "optimizer"): 1,
    }


@pytest.mark.slow
def test_a_step_that_fails_leaves_its_phase() -> None:
    emulator = opcheck.emulate("ascend-910b", stop=False)
    with emulator as device:
        weight = torch.ones(3, device=device, requires_grad=True)
        weight.grad = torch.ones(3, device=device)
        with pytest.raises(ZeroDivisionError):
            torch.optim.SGD([weight], 0.5).step(lambda: 1 / 0)
        weight.detach().exp()
        torch.optim.SGD([weight], 0.5, foreach=False).step()
        weight.detach().exp()
    assert {k.phase for k in emulator.kernels if k.op == "aten::exp"} == {Phase.FORWARD}


@pytest.mark.slow
def test_a_model_trains_without_values() -> None:
    emulator = opcheck.emulate("ascend-910b", values=False)
    with emulator as device:
        found = stepped(device, OPTIMIZERS["AdamW"])
        assert [p.shape for p in found] == [p.shape for p in network(HOST).parameters()]
    asked = {phase: ops_of(emulator.kernels, phase) for phase in Phase}
    computing = opcheck.emulate("ascend-910b")
    with computing as device:
        stepped(device, OPTIMIZERS["AdamW"])
    assert asked == {phase: ops_of(computing.kernels, phase) for phase in Phase}
    assert all(asked.values())


def ops_of(kernels: Any, phase: Phase) -> set[tuple[str, int]]:
    return {(k.op, k.count) for k in kernels if k.phase is phase}
