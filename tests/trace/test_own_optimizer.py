"""What a model keeps beside its modules of its own parameters: they are those on the device."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.trace import trace_model
from opcheck.trace.running.training import Registrations
from tests.trace.look import calls


class Agent(nn.Module):
    """Updates itself, as agents of reinforcement learning do."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = nn.Linear(3, 2)
        self.optimizers = {"policy": torch.optim.SGD(self.policy.parameters(), 0.1, foreach=False)}
        self.trained = [*self.policy.parameters()]

    def forward(self, x: Tensor) -> Tensor:
        loss = self.policy(x).exp().mean()
        loss.backward()
        norm = torch.stack([p.grad.norm() for p in self.trained if p.grad is not None]).max()
        self.optimizers["policy"].step()
        return norm


def test_an_optimizer_that_a_model_keeps_steps_its_parameters() -> None:
    model = Agent()
    x = torch.ones(4, 3)
    trace = trace_model(
        model, (x,), {}, device_type="npu", gradients=lambda: Registrations(frozenset())
    )
    assert trace.gaps == ()
    found = calls(trace)
    assert found.count("aten::linalg_vector_norm") == 2
    assert found[-2:] == ["aten::add_.Tensor"] * 2
    assert model.optimizers["policy"].param_groups[0]["params"][0] is model.policy.weight


class Signs(torch.optim.SGD):
    """Keeps more than a file of it would."""

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        super().__init__(parameters, 0.1, foreach=False)
        self.signs = torch.tensor([-1.0, 0.0, 1.0])

    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # it has no loss
        for parameter in self.param_groups[0]["params"]:
            step = self.signs.to(parameter.device)[parameter.grad.sign().long() + 1]
            parameter.data.add_(step, alpha=-0.1)


def test_what_an_optimizer_keeps_besides_is_there_in_the_run() -> None:
    model = Agent()
    model.optimizers = {"policy": Signs(model.policy.parameters())}
    trace = trace_model(
        model, (torch.ones(4, 3),), {}, device_type="npu",
        gradients=lambda: Registrations(frozenset()),
    )  # fmt: skip
    assert trace.gaps == ()
    assert calls(trace).count("aten::sign") == 2
    assert not hasattr(torch.optim.Optimizer, "__deepcopy__")
