"""The rules for operators of libraries that are not installed: compared with plain loops."""

import inspect
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from opcheck.db.by_hand.libraries import read
from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import RandomDraw
from opcheck.source.building.stand_ins.operators import register
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.reasons import reads

SCHEMAS = Path(__file__).parents[2] / "compat_db" / "schemas"
LIBRARIES = [read(path) for path in sorted(SCHEMAS.glob("*.yaml"))]
OPERATORS = frozenset(op for library in LIBRARIES for op in library.operators)
for _library in LIBRARIES:
    register(_library)
PAIRS = [(rule, op) for rule in rules() for op in rule.replaces if op in OPERATORS]


def _softmax(scores: list[float]) -> list[float]:
    top = max(scores)
    made = [math.exp(score - top) for score in scores]
    return [value / sum(made) for value in made]


def _attended(q: Tensor, k: Tensor, v: Tensor, scale: float | None, score: Any) -> Tensor:
    """One head: ``score`` gives what is added for a query and a key, ``-inf`` where unseen."""
    factor = 1 / math.sqrt(q.size(-1)) if scale is None else scale
    q, k, v = q.double(), k.double(), v.double()
    made = torch.zeros(q.size(0), v.size(-1), dtype=torch.float64)
    for i in range(q.size(0)):
        scores = [float(q[i] @ k[j]) * factor + score(i, j) for j in range(k.size(0))]
        for j, weight in enumerate(_softmax(scores)):
            made[i] += weight * v[j]
    return made


def flash_attn_func(
    q: Tensor, k: Tensor, v: Tensor, p: float, scale: float | None, causal: bool, window: list[int]
) -> Tensor:
    def score(i: int, j: int) -> float:
        place = i + k.size(1) - q.size(1)
        left, right = window[0], 0 if causal else window[1]
        seen = (left < 0 or j >= place - left) and (right < 0 or j <= place + right)
        return 0.0 if seen else -math.inf

    made = torch.zeros(q.shape, dtype=torch.float64)
    for n in range(q.size(0)):
        for head in range(q.size(2)):
            shared = head // (q.size(2) // k.size(2))
            own, key, value = q[n, :, head], k[n, :, shared], v[n, :, shared]
            made[n, :, head] = _attended(own, key, value, scale, score)
    return made


def memory_efficient_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    p: float,
    scale: float | None,
    causal: bool,
) -> Tensor:
    if q.dim() == 3:
        q, k, v = (t.unsqueeze(2) for t in (q, k, v))
        found = memory_efficient_attention(
            q, k, v, None if bias is None else bias.unsqueeze(1), p, scale, causal
        )
        return found.squeeze(2)
    made = torch.zeros(*q.shape[:-1], v.size(-1), dtype=torch.float64)
    for n in range(q.size(0)):
        for head in range(q.size(2)):

            def score(i: int, j: int, n: int = n, head: int = head) -> float:
                unseen = -math.inf if causal and j > i else 0.0
                return unseen if bias is None else float(bias[n, head, i, j])

            own, keys, values = (t[n, :, head] for t in (q, k, v))
            made[n, :, head] = _attended(own, keys, values, scale, score)
    return made


def fused_layer_norm_affine(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: list[int], eps: float
) -> Tensor:
    x = x.double()
    made = (x - x.mean(-1, True)) / (x.var(-1, unbiased=False, keepdim=True) + eps).sqrt()
    return made if weight is None or bias is None else made * weight + bias


def fused_rms_norm_affine(x: Tensor, weight: Tensor | None, shape: list[int], eps: float) -> Tensor:
    x = x.double()
    made = x / ((x * x).mean(-1, True) + eps).sqrt()
    return made if weight is None else made * weight


def causal_conv1d_fn(x: Tensor, weight: Tensor, bias: Tensor | None, activation: str) -> Tensor:
    made = torch.zeros(x.shape, dtype=torch.float64)
    for place in range(x.size(-1)):
        for back in range(min(weight.size(1), place + 1)):
            made[..., place] += x[..., place - back] * weight[:, -1 - back]
    made = made if bias is None else made + bias[:, None]
    return made if activation is None else made / (1 + (-made).exp())


def test_every_rule_is_held_against_something() -> None:
    assert {op.partition("::")[2] for _, op in PAIRS} <= globals().keys()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("rule", "op"), PAIRS, ids=[op for _, op in PAIRS])
def test_a_rule_computes_what_loops_do(rule: Rule, op: str, seed: int) -> None:
    args, kwargs = rule.example(op, RandomDraw(seed))
    if rule.refuses(Call(overload_named(op), args, kwargs)):
        pytest.skip("refused")
    found = rule.function(op)(*args, **kwargs)
    wanted: Tensor = globals()[op.partition("::")[2]](*args, **kwargs)
    assert found.shape == wanted.shape
    assert torch.allclose(found.double(), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("rule", "op"), PAIRS, ids=[op for _, op in PAIRS])
def test_a_rule_takes_the_arguments_of_the_schema_and_gives_its_shapes(rule: Rule, op: str) -> None:
    func = overload_named(op)
    names = [argument.name for argument in func._schema.arguments]
    assert names == list(inspect.signature(rule.function(op)).parameters)
    args, kwargs = rule.example(op, RandomDraw(1))
    on_meta = torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.to("meta"), args)
    assert func(*on_meta, **kwargs).shape == rule.function(op)(*args, **kwargs).shape


def _t(*shape: int) -> Tensor:
    return torch.empty(shape, device="meta")


_HEAD, _ROWS = _t(1, 2, 1, 4), _t(1, 2, 4)
DROPS = "which values dropout takes away differs"
DECLINED: tuple[tuple[str, tuple[Any, ...], dict[str, Any], str], ...] = (
    ("flash-attn-by-sdpa", (_HEAD,) * 3, {"dropout_p": 0.1}, DROPS),
    ("flash-attn-by-sdpa", (_HEAD,) * 3, {"softcap": 2.0}, "the scores are capped"),
    ("flash-attn-by-sdpa", (_HEAD,) * 3, {"alibi_slopes": _t(1)}, "the scores have a slope"),
    ("flash-attn-by-sdpa", (_t(1, 3, 1, 4), _HEAD, _HEAD), {"causal": True},
     "the first queries see no key"),
    ("memory-efficient-attention-by-sdpa", (_HEAD,) * 3, {"p": 0.1}, DROPS),
    ("memory-efficient-attention-by-sdpa", (_t(1, 2, 1, 1, 4),) * 3, {}, "heads lie in groups"),
    ("memory-efficient-attention-by-sdpa", (_HEAD,) * 3,
     {"attn_bias": _t(1, 1, 2, 2), "causal": True}, "it has a mask beside the lower triangle"),
    ("causal-conv1d-by-conv1d", (_ROWS, _t(2, 3)), {"seq_idx": _t(1, 4)},
     "several sequences lie in one"),
    ("causal-conv1d-by-conv1d", (_ROWS, _t(2, 3)), {"initial_states": _t(1, 2, 2)},
     "it goes on from states"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "args", "kwargs", "reason"), DECLINED)
def test_what_pytorch_has_no_call_for_is_declined(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str
) -> None:
    (rule,) = (rule for rule in rules() if rule.name == name)
    reads(rule.refuses(Call(overload_named(rule.replaces[0]), args, kwargs)), reason)
