"""Layers that say what is alike in them are run twice; the trace is that of running them all."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.trace.calls.repeats import Repeats
from opcheck.trace.run import trace_model


class Layer(nn.Module):
    """Rounds what comes in, and counts how often it was run."""

    runs = 0
    end: Tensor

    def __init__(self, factor: float = 2.0, inside: str = "") -> None:
        super().__init__()
        self.factor, self.inside = factor, inside
        self.weight = nn.Parameter(torch.empty(48, 48, device="meta"))
        self.register_buffer("end", torch.tensor(1.0))

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return self.factor, self.inside

    def forward(self, x: Tensor) -> Tensor:
        """Compute in some steps."""
        Layer.runs += 1
        if self.inside == "itself":
            return x
        if self.inside == "written":
            return x.add_(1)
        if self.inside == "view":
            return x.view(-1, 48)
        width = self.end - -self.end
        small = torch.clamp(x / self.factor, -width, width).to(torch.float16).to(x.dtype)
        return nn.functional.linear(small, self.weight * self.factor)


class Net(nn.Module):
    """Layers one after another, each of them in a block."""

    def __init__(self, *layers: Layer) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(layer, nn.ReLU()) for layer in layers)

    def forward(self, x: Tensor) -> Tensor:
        """Call them all."""
        for block in self.blocks:
            x = block(x)
        return x


def traced(model: nn.Module, x: Tensor) -> tuple[Any, int]:
    Layer.runs = 0
    return trace_model(model, (x,), {}, device_type="npu", costs=True), Layer.runs


def both(
    model: nn.Module, monkeypatch: pytest.MonkeyPatch, x: Tensor | None = None
) -> tuple[bool, int]:
    """Whether the trace is that of running all layers, and how many were run."""
    given = torch.empty(4, 48, device="meta") if x is None else x
    found, runs = traced(model, given)
    monkeypatch.setattr(Repeats, "_key", lambda *_: None)
    whole, _ = traced(model, given)
    return found == whole, runs


def test_the_third_of_layers_that_are_alike_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert both(Net(*(Layer() for _ in range(6))), monkeypatch) == (True, 2)


def test_it_is_not_run_where_nobody_keeps_account(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x = Net(*(Layer() for _ in range(6))), torch.empty(4, 48, device="meta")
    Layer.runs = 0
    found = trace_model(model, (x,), {}, device_type="npu")
    assert Layer.runs == 2
    monkeypatch.setattr(Repeats, "_key", lambda *_: None)
    assert found == trace_model(model, (x,), {}, device_type="npu")


def test_layers_that_differ_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = [Layer(float(at % 2 + 1)) for at in range(7)]
    assert both(Net(*layers), monkeypatch) == (True, 4)


@pytest.mark.parametrize("inside", ["itself", "written", "view"])
def test_a_layer_that_gives_what_came_in_is_run(
    inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = [Layer(inside=inside) for _ in range(5)]
    assert both(Net(*layers), monkeypatch) == (True, 5)


def test_a_layer_of_known_values_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.zeros(4, 48)
    layers = [Layer(inside="itself") for _ in range(4)]
    assert both(Net(*layers), monkeypatch, x) == (True, 4)


def test_a_layer_with_a_hook_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = [Layer() for _ in range(5)]
    layers[3].register_forward_hook(lambda *_: None)
    layers[4].register_forward_pre_hook(lambda *_: None)
    assert both(Net(*layers), monkeypatch) == (True, 4)


@pytest.mark.parametrize(
    "registers",
    [
        nn.modules.module.register_module_forward_hook,
        nn.modules.module.register_module_forward_pre_hook,
    ],
)
def test_a_hook_of_all_modules_has_them_run(
    registers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_hook = registers(lambda *_: None)
    try:
        assert both(Net(*(Layer() for _ in range(4))), monkeypatch) == (True, 4)
    finally:
        with_hook.remove()


def test_a_model_that_switches_gradients_on_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Graded(Net):
        def forward(self, x: Tensor) -> Tensor:
            with torch.enable_grad():
                return super().forward(x)

    assert both(Graded(*(Layer() for _ in range(4))), monkeypatch) == (True, 4)


def test_autocast_runs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cast(Net):
        def forward(self, x: Tensor) -> Tensor:
            with torch.autocast("npu", dtype=torch.float16):
                return super().forward(x)

    assert both(Cast(*(Layer() for _ in range(4))), monkeypatch) == (True, 4)
