"""``flex_attention``: followed on every device, beside PyTorch's own kernel for eager."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops.flex_attention import sdpa_dense
from torch.nn.attention import flex_attention as module
from torch.utils._python_dispatch import TorchDispatchMode

from opcheck.model.trace import Trace
from opcheck.trace import trace_model
from opcheck.trace.calls.flex_attention import BY_AUTOGRAD, plain_steps
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep
from tests.trace.look import calls, node

OP = "higher_order::flex_attention"
HEADS, LENGTH, SIZE = 4, 32, 16
STEP = Training(TrainingStep(), Registrations(frozenset()))
DEVICES = ("npu", "cuda", "mps", "xpu")


class Attention(nn.Module):
    """Attention with a learned number for each head, added by distance, and a causal mask."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(HEADS * SIZE, 3 * HEADS * SIZE)
        self.slope = nn.Parameter(torch.linspace(0, 1, HEADS))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, HEADS, SIZE).permute(2, 0, 3, 1, 4)
        mask = module.create_block_mask(_causal, None, None, LENGTH, LENGTH, device=x.device.type)
        found = module.flex_attention(q, k, v, score_mod=self._leaning, block_mask=mask)
        assert isinstance(found, Tensor)
        return found.transpose(1, 2).flatten(2)

    def _leaning(self, score: Tensor, b: Tensor, h: Tensor, q: Tensor, kv: Tensor) -> Tensor:
        return score + self.slope[h] * (kv - q)


def _causal(b: Tensor, h: Tensor, q: Tensor, kv: Tensor) -> Tensor:
    return q >= kv


X = torch.ones(2, LENGTH, HEADS * SIZE)


class _Seen(TorchDispatchMode):
    """What the kernel for eager asks for on the host: PyTorch's own, below the operator."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.inside: Counter[str] = Counter()
        self._deep = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if isinstance(func, torch._ops.HigherOrderOperator):
            self._deep = True
            with self:
                found = sdpa_dense(*args, **(kwargs or {}))
            self._deep = False
            return found
        self.inside[str(func.name())] += self._deep
        return func(*args, **(kwargs or {}))


@contextmanager
def _by_itself() -> Iterator[None]:
    """Have eager PyTorch call the operator without its compiler."""
    name = "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"
    before = getattr(module, name)
    setattr(module, name, True)
    try:
        yield
    finally:
        setattr(module, name, before)


def _traced(device_type: str, step: Training | None = None) -> Trace:
    return trace_model(Attention(), (X,), {}, device_type=device_type, training=step)


@pytest.mark.parametrize("device_type", DEVICES)
def test_what_it_runs_is_what_the_kernel_for_eager_asks_for(device_type: str) -> None:
    trace = _traced(device_type)
    assert trace.gaps == ()
    assert calls(trace).count(OP) == 1
    with _by_itself(), torch.no_grad(), _Seen() as seen:
        Attention()(X)
    found = {str(trace.nodes[child].op) for child, _ in node(trace, OP).children or ()}
    asked = {name for name, count in seen.inside.items() if count}
    own = {"aten::detach", "aten::lift_fresh", "aten::_unsafe_view", "aten::alias"}
    inner = {"aten::bmm", "aten::view"}  # what products of matrices are on the host
    assert asked - own - inner <= found | _below(trace)
    assert {"aten::_safe_softmax", "aten::where.self", "aten::logsumexp"} <= found


def _below(trace: Trace) -> set[str]:
    """All that was recorded: on the host a mode sees what composites become, and not them."""
    return {str(one.op) for one in trace.nodes}


# not for cuda, which torch would take for prepared in this process from then on
@pytest.mark.parametrize("device_type", ["npu", "mps", "xpu"])
def test_a_training_step_goes_through_its_plain_steps(device_type: str) -> None:
    trace = _traced(device_type, STEP)
    assert trace.gaps == ()
    assert BY_AUTOGRAD in trace.notes
    (use,) = [one for one in trace.taken_apart if str(trace.nodes[one.node].op) == OP]
    assert trace.nodes[use.node].modes == (("gradient", "wanted"),)
    backward = [str(trace.nodes[one.node].op) for one in trace.uses if one.phase == "backward"]
    assert "aten::bmm" in backward


@pytest.mark.parametrize(
    "laid", [lambda q: q, lambda q: q.transpose(1, 2).contiguous().transpose(1, 2)]
)
def test_the_result_is_that_of_the_kernel_for_eager(laid: Callable[[Tensor], Tensor]) -> None:
    q, k, v = (laid(torch.randn(2, HEADS, LENGTH, size)) for size in (SIZE, SIZE, 8))
    mask = module.create_block_mask(_causal, None, None, LENGTH, LENGTH, device="cpu")
    given: Any = (q, k, v, lambda score, *_: score * 2, mask.as_tuple(), 0.25, {})
    for ours, theirs in zip(plain_steps(*given), sdpa_dense(*given), strict=True):
        assert torch.equal(ours, theirs)
        assert ours.stride() == theirs.stride()


def test_pytorch_has_its_own_back_after_a_trace() -> None:
    names = ("_validate_device", "flex_attention_hop")
    before = [vars(module)[name] for name in names]
    _traced("npu")
    assert [vars(module)[name] for name in names] == before
