"""Rules that draw random numbers: the distribution is the operator's, and others are noticed."""

from typing import Any

import pytest
import torch
from torch import Tensor

from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import RandomDraw
from opcheck.rewrite.trial import unlike
from opcheck.rewrite.variants import serving
from opcheck.trace.torch_internals.dispatcher import overload_named

RANDOM = [(rule, op) for rule in rules() if rule.random for op in rule.replaces]
MANY = 2000


@pytest.mark.parametrize(
    ("rule", "op"), RANDOM, ids=[f"{rule.name}-{op.removeprefix('aten::')}" for rule, op in RANDOM]
)
def test_a_rule_draws_from_the_distribution_of_what_it_replaces(rule: Rule, op: str) -> None:
    compared = 0
    for seed in range(12):
        args, kwargs = rule.example(op, RandomDraw(seed))
        call = Call(overload_named(op), args, kwargs)
        if compared < 3 and not rule.refuses(call):
            compared += 1
            assert not unlike(call, serving(op, rule.function(op)), MANY), (args, kwargs)
    assert compared == 3


def _wider(self: Tensor, *, generator: Any = None) -> Tensor:
    return torch.randn_like(self) * 1.3


def _repeated(self: Tensor, *, generator: Any = None) -> Tensor:
    return torch.randn(1).expand_as(self)


def _short(self: Tensor, *, generator: Any = None) -> Tensor:
    return torch.randn(1)


@pytest.mark.parametrize(
    ("function", "said"),
    [(torch.randn_like, ""), (_wider, "apart"), (_repeated, "apart"), (_short, "instead of")],
)
def test_another_distribution_is_noticed(function: Any, said: str) -> None:
    """A wider one, one whose elements depend on each other, and other sizes."""
    call = Call(overload_named("aten::randn_like"), (torch.zeros(3, 2),), {})
    found = unlike(call, lambda x: function(x), MANY)
    assert said in found if said else not found
