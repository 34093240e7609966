"""Pads by index: each bit of the values, gradients but for the order of their sums."""

import pytest
import torch

from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.draw import RandomDraw
from opcheck.rewrite.rules.indexing.pad_repeat_roll import ReplicationPadByIndex
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.elements import same

PAIRS = [(r, op) for r in rules() if isinstance(r, ReplicationPadByIndex) for op in r.replaces]
SEEDS = 30


@pytest.mark.parametrize(("rule", "op"), PAIRS, ids=[op for _, op in PAIRS])
@pytest.mark.parametrize(
    ("dtype", "units"),
    [(torch.float32, 0.0), (torch.float64, 0.0), (torch.float16, 8.0), (torch.bfloat16, 8.0)],
)
def test_a_pad_by_index_is_exact(rule: Rule, op: str, dtype: torch.dtype, units: float) -> None:
    """In half precision each sum of a gradient is rounded on the way, in PyTorch as well."""
    func, compared = overload_named(op), 0
    for seed in range(SEEDS):
        (drawn, pad), _ = rule.example(op, RandomDraw(seed))
        if drawn.is_complex() or not drawn.numel():
            continue
        x = drawn.to(dtype).requires_grad_()
        try:
            wanted = func(x, pad)
        except RuntimeError:  # a size that cannot be padded so
            continue
        found = type(rule).replace(x, pad)
        assert bool(same(wanted.detach(), found.detach()).all())
        random = torch.Generator().manual_seed(seed)
        seeds = torch.randn(wanted.shape, generator=random, dtype=torch.float64).to(dtype)
        (right,) = torch.autograd.grad(wanted, x, seeds)
        (other,) = torch.autograd.grad(found, x, seeds)
        allowed = units * torch.finfo(dtype).eps * float(right.abs().max())
        assert float((right.double() - other.double()).abs().max()) <= allowed
        compared += 1
    assert compared > SEEDS // 3
