"""Every advice as the page tells it: whole, and in Chinese."""

import re
from functools import cache
from itertools import chain

import pytest
import torch
from msgspec.structs import replace
from torch import nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.commands.tune.base import advisors
from opcheck.commands.tune.values import Advice
from opcheck.costs.calls import NOT_FUSED
from opcheck.lang.speech import Language, speaking
from opcheck.model.costs import Multiple
from opcheck.model.matrix import Fallback
from opcheck.model.verdict import Verdict
from opcheck.views.formats import Page, command_view
from tests.commands.tune.tuned_models import (
    LINEAR,
    ROWS,
    SAID,
    SILENT,
    SPEAKS,
    TUNED,
    Case,
    chip,
    spoken,
)
from tests.lang.told import in_chinese
from tests.resolve.made import condition
from tests.views import snapshots
from tests.views.tunings import TUNINGS

NAMES = tuple(advisor.name for advisor in advisors())
OTHERS = {
    "copies-layout": Case(lambda x: x.t().contiguous() + 1, (ROWS,)),
    "training-left-on": replace(SILENT["training-mode"][0], modes=("drop (Dropout)",)),
    "memory-of-a-batch": replace(SPEAKS["memory"], chip=chip(memory=100_000)),
    "memory-of-a-step": replace(
        SPEAKS["memory"],
        model=nn.Sequential(nn.Linear(512, 512), nn.Linear(512, 512)),
        inputs=(torch.ones(2, 512),),
        train=True,
    ),
    "attention-in-parts": Case(
        lambda q: F.scaled_dot_product_attention(q, q, q),
        (torch.ones(1, 2, 64, 8),),
        extra=("aten::scaled_dot_product_attention",),
        conditions={
            "aten::scaled_dot_product_attention": (
                condition(Verdict.NATIVE, code=NOT_FUSED, text="runs in parts"),
            )
        },
    ),
    "no-rate": replace(
        SPEAKS["tile-multiple"], chip=replace(TUNED, products=chip(float16=1e9).products)
    ),
    "filling-up": replace(
        SPEAKS["tile-multiple"], chip=replace(TUNED, products=chip(float32=1e9).products)
    ),
    "filling-up-later": Case(
        LINEAR, (ROWS,), replace(TUNED, multiples={"float16": Multiple(48, (SAID,))})
    ),
}
"""What the models that each advice speaks of have none of."""
CODES = {
    "copies-layout": "copies",
    "training-left-on": "training-mode",
    "memory-of-a-batch": "memory",
    "memory-of-a-step": "memory",
    "attention-in-parts": "fused-attention",
    "no-rate": "tile-multiple",
    "filling-up": "tile-multiple",
    "filling-up-later": "tile-multiple",
}


@pytest.mark.slow
def test_what_a_compiler_leaves_runs_outside_of_its_graph() -> None:
    compiler = Fallback(False, "", (), elsewhere="which PyTorch runs on the same GPU")
    (advice,) = replace(SPEAKS["host-fallback"], fallback=compiler).advice("host-fallback")
    assert advice.reason.partition("; ")[0] == "1 call outside of the compiled graph"
    assert in_chinese([advice.reason])[0].partition("；")[0] == "1 次调用在编译图之外"


@cache
def told() -> tuple[Advice, ...]:
    """The advice that every one of these models gets, each kind after the other."""
    others = (case.advice(CODES[name]) for name, case in OTHERS.items())
    return tuple(chain(*map(spoken, NAMES), *others))


def page_of(page: Page) -> str:
    """The page of a model that gets all of it."""
    found = TUNINGS["advised"]
    target = replace(found.targets[0], advice=told(), operators=(), unknown=())
    text = command_view("tune", "text").render(replace(found, targets=(target,)), page)
    return re.sub(r"tests/\S+\.py:\d+", "net.py:1", text)  # lines of these tests move


@pytest.mark.slow
@pytest.mark.since("2.13")
def test_every_advice_is_told_whole() -> None:
    text = page_of(Page(width=100))
    snapshots.check("text/tune/every-advice.txt", text[text.index("Advice") :])


@pytest.mark.slow
@pytest.mark.since("2.13")
def test_every_advice_is_told_in_chinese() -> None:
    with speaking(Language.CHINESE):
        text = page_of(Page(width=100))
    snapshots.check("text/tune/every-advice-zh.txt", text[text.index("建议") :])


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (Verdict.UNSUPPORTED, "not run there; bounded as if they did: aten::addmm"),
        (Verdict.UNKNOWN, "not known to run there; bounded as if they did: aten::addmm"),
    ],
)
def test_what_does_not_run_is_said_to_be_bounded(verdict: Verdict, text: str) -> None:
    case = Case(LINEAR, (ROWS,), conditions={"aten::addmm": (condition(verdict),)})
    assert case.tuned().unknown == (text,)


def test_figures_that_are_missing_are_named() -> None:
    (product,) = TUNED.products
    bare = replace(TUNED, products=(replace(product, memory=None, matrix={}),))
    assert Case(LINEAR, (ROWS,), bare).tuned().unknown == (
        "the memory of P 1 is not known",
        "the rate in float32 of P 1 is not known",
    )
