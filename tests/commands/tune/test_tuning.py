"""Each advice speaks of a model that deserves it, and of no other; figures are none but known."""

from collections.abc import Callable

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.commands.tune.base import advisors
from opcheck.commands.tune.values import Gain
from opcheck.costs.calls import NOT_FUSED
from opcheck.costs.roofline import Limit
from opcheck.model.costs import Figure, Grade
from opcheck.model.predicates import Dtype, OneOf
from opcheck.model.verdict import Verdict
from tests.commands.tune.tuned_models import (
    LINEAR,
    PLAIN,
    ROWS,
    SILENT,
    SPEAKS,
    TUNED,
    Case,
    attention,
    chip,
    spoken,
)
from tests.resolve.made import condition

NAMES = tuple(advisor.name for advisor in advisors())


def test_every_advice_has_models_of_both_kinds() -> None:
    assert set(SPEAKS) == set(SILENT) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_advice_speaks_of_a_model_that_deserves_it(name: str) -> None:
    (found,) = spoken(name)
    assert found.title
    assert found.reason
    assert found.gain.text or found.gain.share is not None


@pytest.mark.parametrize(
    ("name", "case"),
    [(name, case) for name in NAMES for case in SILENT[name]],
    ids=[f"{name}-{i}" for name in NAMES for i in range(len(SILENT[name]))],
)
def test_an_advice_says_nothing_of_other_models(name: str, case: Case) -> None:
    assert not case.advice(name)


def test_what_is_needed_comes_first_and_what_is_not_known_last() -> None:
    roomless = replace(
        SPEAKS["half-precision"],
        chip=replace(
            TUNED, products=chip(memory=1000, float32=1e9, float16=8e9, int8=9e9).products
        ),
    )
    found = roomless.tuned().advice
    assert [one.code for one in found] == [
        "memory", "half-precision", "tile-multiple", "int8",
    ]  # fmt: skip
    shares = [one.gain.share for one in found]
    assert shares[0] is None
    assert [share for share in shares[1:] if share is not None] == sorted(
        (share for share in shares[1:] if share is not None), reverse=True
    )


def test_without_figures_nothing_is_bounded_and_it_is_said() -> None:
    found = replace(SPEAKS["batch-size"], chip=replace(PLAIN, products=())).tuned()
    assert (found.bound.seconds, found.largest_batch, found.product) == (None, None, "")
    assert found.unknown == ("no figure of Vendor Chip is known, so nothing bounds the run",)
    assert not found.advice


def test_the_gain_of_half_precision_is_that_of_the_bounds() -> None:
    (found,) = SPEAKS["half-precision"].advice("half-precision")
    flops = 2 * 256 * 64 * 64
    moved = 4 * (256 * 64 * 2 + 64 * 64 + 64)
    before, after = max(flops / 1e9, moved / 1e9), max(flops / 8e9, moved / 2e9)
    assert found.title == "Run in bfloat16"
    assert found.gain.share == pytest.approx(1 - after / before)
    assert found.gain.seconds == pytest.approx(before - after)


def test_the_gain_of_int8_is_what_16_bits_do_not_bring() -> None:
    case = replace(SPEAKS["int8"], chip=chip(float32=1e9, float16=4e9, int8=8e9))
    (found,) = case.advice("int8")
    flops, moved = 2 * 256 * 64 * 64, 4 * (256 * 64 * 2 + 64 * 64 + 64)
    as_it_is, in_16 = max(flops / 1e9, moved / 1e9), max(flops / 4e9, moved / 2e9)
    assert found.gain.share == pytest.approx((in_16 - max(flops / 8e9, moved / 4e9)) / as_it_is)
    assert found.gain.text.startswith("at most, beyond float16: ")


def test_a_type_that_the_chip_does_not_take_is_not_advised() -> None:
    no_bfloat16 = condition(Verdict.UNSUPPORTED, Dtype("mat1", OneOf(frozenset({"bfloat16"}))))
    case = replace(SPEAKS["half-precision"], conditions={"aten::addmm": (no_bfloat16,)})
    (found,) = case.advice("half-precision")
    assert found.title == "Run in float16"
    assert found.reason.endswith("bfloat16 is not taken by aten::addmm")


def test_a_model_in_a_type_that_does_not_run_is_told_of_the_other() -> None:
    no_bfloat16 = condition(Verdict.UNSUPPORTED, Dtype("mat1", OneOf(frozenset({"bfloat16"}))))
    case = Case(
        nn.Linear(64, 64, dtype=torch.bfloat16),
        (ROWS.bfloat16(),),
        conditions={"aten::addmm": (no_bfloat16,)},
    )
    found, *_ = case.tuned().advice
    assert (found.title, found.needed) == ("Run in float16", True)
    assert found.reason == ("in bfloat16 the device does not run aten::addmm; in float16 it does")


def test_a_type_of_which_no_rate_is_known_gives_way_to_one_that_has() -> None:
    case = Case(nn.Linear(64, 64, dtype=torch.bfloat16), (ROWS.bfloat16(),), chip(float16=1e9))
    (found,) = case.advice("half-precision")
    assert (found.title, found.needed) == ("Run in float16", False)
    assert found.gain == Gain(text="not known")
    assert not replace(case, chip=chip(float16=1e9, bfloat16=1e9)).advice("half-precision")


def test_memory_that_may_be_larger_than_said_is_not_too_little() -> None:
    product = chip().products[0]
    twice = replace(product, memory=Figure(1000, Grade.VENDOR, upper=1e6))
    assert SPEAKS["memory"].advice("memory")
    assert not replace(SPEAKS["memory"], chip=replace(PLAIN, products=(twice,))).advice("memory")


def test_ways_to_make_room_are_those_of_the_moment_that_needs_the_most() -> None:
    wide = nn.Sequential(nn.Linear(512, 512), nn.Linear(512, 512))
    stepping = replace(SPEAKS["memory"], model=wide, inputs=(torch.ones(2, 512),), train=True)
    keeping = replace(stepping, model=LINEAR, inputs=(torch.ones(4096, 64),))
    (parameters,), (activations,) = stepping.advice("memory"), keeping.advice("memory")
    assert any("foreach=False" in way for way in parameters.actions)
    assert "activations computed again in backward" in activations.actions


def test_a_step_keeps_its_optimizer_in_full_precision() -> None:
    case = replace(SPEAKS["half-precision"], train=True)
    (found,) = case.advice("half-precision")
    steps = [leaf.bound.seconds or 0.0 for leaf in case.tuned().operators if "foreach" in leaf.op]
    bound = case.tuned().bound.seconds
    assert found.gain.seconds is not None
    assert bound is not None
    assert found.gain.seconds < bound - sum(steps)


def test_the_largest_batch_fills_memory_and_no_more() -> None:
    found = replace(SPEAKS["batch-size"], chip=chip(memory=1e6, float32=1e12)).tuned()
    need = found.memory
    assert found.largest_batch is not None
    each = (need.inputs + need.activations) / 2
    assert need.fixed + found.largest_batch * each <= 1e6
    assert need.fixed + (found.largest_batch + 1) * each > 1e6


def test_a_batch_is_advised_whose_examples_cost_next_to_the_least() -> None:
    (found,) = replace(SPEAKS["batch-size"], chip=chip(memory=1e8, float32=1e12)).advice(
        "batch-size"
    )
    weights, each = 4 * (64 * 64 + 64), 2 * 4 * 64
    batch = int(found.title.removeprefix("Use a batch of "))
    least = min((weights + each * 2**i) / 2**i for i in range(1, 17))
    assert (weights + each * batch) / batch <= least * 1.02
    assert (weights + each * batch / 2) / (batch / 2) > least * 1.02


def test_filling_up_costs_what_the_unit_computes_more() -> None:
    multiples = replace(TUNED, products=chip(float32=1e9).products)
    (found,) = replace(SPEAKS["tile-multiple"], chip=multiples).advice("tile-multiple")
    ratio = (96 / 64) ** 2
    assert found.gain.share == pytest.approx(1 - 1 / ratio)
    assert found.where == ("aten::addmm (in 64, out 64)",)


def test_without_a_rate_nothing_is_said_of_what_filling_up_costs() -> None:
    multiples = replace(TUNED, products=chip(float16=1e9).products)
    (found,) = replace(SPEAKS["tile-multiple"], chip=multiples).advice("tile-multiple")
    assert found.gain == Gain(text="not known: figures of the chip are missing")


@pytest.mark.parametrize("name", ["fused-attention", "fused-norm", "fused-rotary"])
def test_what_no_module_spells_out_the_model_itself_does(name: str) -> None:
    (found,) = spoken(name)
    assert found.where == ("(the model)",)


class Attends(nn.Module):
    def forward(self, query: Tensor) -> Tensor:
        return attention(query)


def test_fused_attention_saves_what_its_scores_move() -> None:
    case = replace(SPEAKS["fused-attention"], model=nn.Sequential(Attends()))
    (found,) = case.advice("fused-attention")
    scores = 4 * 2 * 64 * 64
    assert found.where == ("*",)
    assert found.gain.seconds == pytest.approx(4 * scores / 1e9)  # written twice, read twice


@pytest.mark.slow
def test_attention_that_its_kernel_does_not_fuse_is_told_with_the_vendors_reason() -> None:
    not_fused = condition(Verdict.NATIVE, code=NOT_FUSED, text="runs in parts")
    case = Case(
        lambda q: F.scaled_dot_product_attention(q, q, q),
        (torch.ones(1, 2, 64, 8),),
        extra=("aten::scaled_dot_product_attention",),
        conditions={"aten::scaled_dot_product_attention": (not_fused,)},
    )
    (found,) = case.advice("fused-attention")
    assert found.title == "Have attention take its fused kernel"
    assert found.reason.startswith("runs in parts; scores move ")
    fused = replace(case, conditions=None)
    assert not fused.advice("fused-attention")
    assert [one.op for one in fused.tuned().operators] == ["aten::scaled_dot_product_attention"]
    whole, apart = fused.tuned(), case.tuned()
    assert whole.flops == apart.flops
    assert whole.memory.activations < apart.memory.activations


@pytest.mark.parametrize(
    ("copy", "title"),
    [
        (lambda x: x.half() + 1, "Keep one dtype"),
        (lambda x: torch.empty_like(x, dtype=torch.float16).copy_(x), "Keep one dtype"),
        (lambda x: x.t().contiguous() + 1, "Keep one layout"),
    ],
)
def test_a_cast_is_told_from_a_copy(copy: Callable[[Tensor], Tensor], title: str) -> None:
    assert [one.title for one in Case(copy, (ROWS,)).advice("copies")] == [title]


def test_layers_that_the_user_left_in_training_mode_are_named() -> None:
    found = replace(SILENT["training-mode"][0], modes=("drop (Dropout)",)).advice("training-mode")
    assert [(one.title, one.where, one.needed) for one in found] == [
        ("Call model.eval() before inference", ("drop (Dropout)",), True)
    ]


def test_what_falls_back_is_in_no_bound() -> None:
    found = SPEAKS["host-fallback"].tuned()
    assert found.unknown == ("run on the host; in no bound: aten::median",)
    assert found.operators[0].bound.limit is Limit.HOST
    assert found.bound.seconds is None


def test_the_answer_is_the_same_each_time() -> None:
    case = Case(nn.Sequential(LINEAR, nn.ReLU(), LINEAR), (ROWS,), TUNED)
    assert case.tuned() == case.tuned()
