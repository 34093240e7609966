"""A model that switches inference mode on itself, as code that generates does."""

import torch
from torch import Tensor, nn

from tests.trace.look import calls, traced


class Cached(nn.Module):
    """Writes to a part of its cache."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(4, 4))
        self.modes: list[tuple[bool, bool]] = []

    @torch.inference_mode()
    def forward(self, x: Tensor) -> Tensor:
        self.note()
        with torch.inference_mode(False):
            self.note()
        self.note()
        self.get_buffer("cache")[:, 1] = x[0]
        made = x.clone()
        made.t()[1].add_(1)
        return made

    def note(self) -> None:
        self.modes.append((torch.is_inference_mode_enabled(), torch.is_grad_enabled()))


def test_a_view_is_written_in_inference_mode() -> None:
    trace = traced(Cached(), torch.ones(4, 4))
    assert trace.gaps == ()
    assert calls(trace) == [
        "aten::select.int", "aten::select.int", "aten::copy_", "aten::clone", "aten::t",
        "aten::select.int", "aten::add_.Tensor",
    ]  # fmt: skip


def test_inference_mode_is_on_where_code_asks_and_off_afterwards() -> None:
    seen: list[tuple[bool, bool]] = []

    def model(x: Tensor) -> Tensor:
        inner = Cached()
        inner.cache = inner.cache.to(x.device)
        inner(x)
        seen.extend(inner.modes)
        seen.append((torch.is_inference_mode_enabled(), torch.is_grad_enabled()))
        return x

    traced(model, torch.ones(4, 4))
    assert seen == [(True, False), (False, True), (True, False), (False, False)]
    assert torch.inference_mode().mode
    with torch.inference_mode():
        assert torch.ones(1).is_inference()
