"""Every rule against the operators that it replaces: drawn calls, forward and backward."""

import inspect
import os
from collections import Counter
from functools import cache

import pytest
import torch
import torch.fx.experimental._config
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opcheck.model.plan import Label, Tier
from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw, RandomDraw
from opcheck.rewrite.text import standalone
from opcheck.rewrite.trial import attempt
from opcheck.source.building import torchvision_operators
from opcheck.trace.torch_internals.dispatcher import overload_named

torchvision_operators.prepare()
import torchvision  # noqa: E402, F401  # brings the shape rules of its operators

torchvision_operators.compute()

ELSEWHERE = (
    "torchvision::deform_conv2d", "apex::fused_layer_norm_affine", "apex::fused_rms_norm_affine",
    "causal_conv1d::causal_conv1d_fn", "flash_attn::flash_attn_func",
    "xformers::memory_efficient_attention",
)  # fmt: skip
"""Without a kernel on the host: compared with plain loops in test_regions and test_libraries."""
EXAMPLES = int(os.environ.get("OPCHECK_RULE_EXAMPLES", "25"))
"""Drawn calls of each overload; a thousand after a rule was changed."""
PAIRS = [(rule, op) for rule in rules() for op in rule.replaces if op not in ELSEWHERE]
each_pair = pytest.mark.parametrize(
    ("rule", "op"), PAIRS, ids=[f"{rule.name}-{op.removeprefix('aten::')}" for rule, op in PAIRS]
)
each_rule = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)


class Drawn(Draw):
    """Choices that hypothesis makes, and makes smaller where something fails."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def integer(self, low: int, high: int) -> int:
        return self._data.draw(st.integers(low, high))


@each_pair
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_a_rule_computes_what_it_replaces(rule: Rule, op: str, data: st.DataObject) -> None:
    trial = attempt(rule, op, Drawn(data))
    assert not trial.wrong, trial.call


@cache
def _skipped(rule: Rule, op: str, seed: int) -> str:
    """Why a drawn call is not compared."""
    return attempt(rule, op, RandomDraw(seed)).skipped


@each_pair
def test_a_rule_takes_most_of_what_it_is_for(rule: Rule, op: str) -> None:
    skipped: Counter[str] = Counter()
    for seed in range(30):
        skipped[_skipped(rule, op, seed)] += 1
        if skipped[""] >= 10:
            return
    pytest.fail(f"{skipped}")


@each_pair
def test_a_call_that_a_plan_measures_is_one_of_the_same_arguments(rule: Rule, op: str) -> None:
    """A plan draws random values, and has the rule make a call of them that has an answer."""
    for seed in range(30):
        args, kwargs = rule.example(op, RandomDraw(seed))
        if not attempt(rule, op, RandomDraw(seed)).skipped:
            call = Call(overload_named(op), args, kwargs)
            made = rule.valid(call)
            assert (made.func, len(made.args)) == (call.func, len(args))
            assert set(made.kwargs) == set(kwargs)
            return
    pytest.fail("no call to measure")


@each_pair
def test_arguments_are_named_as_in_the_schema(rule: Rule, op: str) -> None:
    schema = [argument.name for argument in overload_named(op)._schema.arguments]
    assert set(schema) <= set(inspect.signature(rule.function(op)).parameters)


@each_rule
def test_a_rule_says_what_users_need(rule: Rule) -> None:
    assert rule.summary
    assert not rule.summary.endswith(".")
    assert inspect.getdoc(type(rule)) != inspect.getdoc(Rule)
    assert rule.tier in (Tier.SWAP, Tier.STRUCTURAL)
    assert (rule.label is Label.TOLERANCE) is (rule.tolerance > 0)
    if rule.label is Label.APPROXIMATE:
        assert rule.gives_up
    assert {*rule.functions} in (set(), {*rule.replaces})
    assert not (rule.functions and rule.spellings)  # of which there is no one function


@each_rule
def test_the_text_of_a_rule_stands_for_itself(rule: Rule) -> None:
    space: dict[str, object] = {}
    functions = {rule.function(op) for op in rule.replaces}
    exec(standalone(*functions), space)
    assert {function.__name__ for function in functions} <= {*space}
    assert "opcheck" not in standalone(*functions)


@each_pair
def test_a_rule_needs_no_values(rule: Rule, op: str) -> None:
    """Shapes alone must do: a scan has no more."""
    for seed in range(8):
        args, kwargs = rule.example(op, RandomDraw(seed))
        if _skipped(rule, op, seed):
            continue
        wanted = rule.function(op)(*args, **kwargs)
        on_meta = torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.to("meta"), args)
        named = torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.to("meta"), kwargs)
        config = torch.fx.experimental._config
        with config.patch(meta_nonzero_assume_all_nonzero=rule.dynamic):  # type: ignore[attr-defined]
            found = rule.function(op)(*on_meta, **named)
        if rule.dynamic:  # on meta everything is taken to be there
            continue
        shapes = torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.shape, (wanted, found))
        assert shapes[0] == shapes[1]
