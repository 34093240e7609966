"""Small models traced with costs, and chips that are made up, for the tests of advice."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch
from msgspec import Struct
from msgspec.structs import replace
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.commands.tune.answer import Subject, tuned
from opcheck.commands.tune.values import Advice, TunedTarget
from opcheck.model.costs import Chip, Compiler, Figure, Format, Grade, Multiple, Product
from opcheck.model.matrix import Condition, Fallback, SupportMatrix
from opcheck.model.plan import Remedy
from opcheck.model.request import TrainingSpec
from opcheck.model.target import Target
from opcheck.model.trace import Trace
from opcheck.model.verdict import Evidence, Method
from opcheck.resolve.findings import resolve
from opcheck.trace import trace_model
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep
from tests.resolve.made import TO_HOST, matrix

SAID = Evidence(Method.DOCUMENTED, "vendor.com", "datasheet.pdf", None, "", "2026-01-01")


def figure(value: float) -> Figure:
    return Figure(value, Grade.VENDOR, (SAID,))


def product(memory: float = 1e9, **rates: float) -> Product:
    """A product of so many bytes, a gigabyte a second, and these rates of its matrix unit."""
    return Product(
        "P 1", figure(memory), figure(1e9), {name: figure(rate) for name, rate in rates.items()}
    )


PLAIN = Chip("vendor", "chip", "Vendor Chip", (product(float32=1e12, float16=1e12),))
"""A chip that computes alike in every dtype, and prefers nothing."""


def chip(**rates: float) -> Chip:
    return replace(PLAIN, products=(product(**rates),))


class Case(Struct, frozen=True):
    """A model that gives reason for an advice, or does not."""

    model: Callable[..., Any]
    inputs: tuple[Any, ...]
    chip: Chip = PLAIN
    without: frozenset[str] = frozenset()
    """Overloads that the target does not register, of those that the trace has."""
    extra: tuple[str, ...] = ()
    """Overloads that it registers beside those."""
    conditions: Mapping[str, Sequence[Condition]] | None = None
    train: bool = False
    device_type: str = "npu"
    remedies: tuple[Remedy, ...] = ()
    modes: tuple[str, ...] = ()
    fallback: Fallback = TO_HOST

    def trace(self) -> Trace:
        training = Training(TrainingStep(), Registrations(frozenset())) if self.train else None
        made = trace_model(
            self.model, self.inputs, {}, device_type="npu", costs=True, training=training
        )
        assert made.costs is not None
        return replace(made, costs=replace(made.costs, in_training=self.modes))

    def matrix(self, trace: Trace) -> SupportMatrix:
        leaves = {str(node.op) for node in trace.nodes if not node.children}
        registered = sorted({*leaves, *self.extra} - self.without)
        made = matrix(*registered, conditions=self.conditions, fallback=self.fallback)
        return replace(made, target=Target("vendor", "chip", "1.0", "2.13", self.device_type))

    def tuned(self) -> TunedTarget:
        """The answer on a target that registers all that the trace ends in."""
        trace = self.trace()
        against = self.matrix(trace)
        subject = Subject(
            "net.py:build",
            trace,
            against,
            resolve(trace, against),
            TrainingSpec() if self.train else None,
        )
        return tuned(subject, self.chip, "", self.remedies)

    def advice(self, code: str) -> tuple[Advice, ...]:
        """All advice of one kind."""
        return tuple(one for one in self.tuned().advice if one.code == code)


LINEAR = nn.Linear(64, 64)
ROWS = torch.ones(256, 64)
CONVOLUTION = nn.Conv2d(16, 16, 3, padding=1)
IMAGE = torch.ones(1, 16, 8, 8)


def rms_norm(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def attention(query: Tensor) -> Tensor:
    return torch.softmax(query @ query.transpose(-1, -2), -1) @ query


def with_gradients(x: Tensor) -> Tensor:
    with torch.enable_grad():
        return x.exp()


def reads(x: Tensor) -> Tensor:
    return x * x.sum().item()


TUNED = replace(
    PLAIN,
    formats=(Format("channels_last", "convolutions", (SAID,)),),
    compilers=(Compiler("Compiler", "compile(model)", (SAID,)),),
    multiples={"float32": Multiple(48, (SAID,))},
)
POINTWISE = nn.Sequential(nn.ReLU(), nn.Sigmoid(), nn.Tanh())
SPEAKS: Mapping[str, Case] = {
    "batch-size": Case(LINEAR, (ROWS[:2],)),
    "copies": Case(lambda x: x.half() + 1, (ROWS,)),
    "fused-attention": Case(
        attention, (torch.ones(1, 2, 64, 8),), extra=("aten::_scaled_dot_product_flash_attention",)
    ),
    "fused-norm": Case(rms_norm, (ROWS,), extra=("npu::npu_rms_norm",)),
    "fused-optimizer": Case(LINEAR, (ROWS,), extra=("aten::_fused_adamw_",), train=True),
    "fused-rotary": Case(
        rotated, (ROWS, torch.ones(64), torch.ones(64)), extra=("npu::npu_rotary_mul",)
    ),
    "gradients-in-inference": Case(with_gradients, (ROWS,)),
    "graph-compiler": Case(POINTWISE, (ROWS,), TUNED),
    "half-precision": Case(LINEAR, (ROWS,), chip(float32=1e9, bfloat16=8e9, float16=8e9)),
    "host-fallback": Case(torch.median, (ROWS,), without=frozenset({"aten::median"})),
    "host-reads": Case(reads, (ROWS,)),
    "int8": Case(LINEAR, (ROWS,), chip(float32=1e9, int8=8e9), extra=("aten::_int_mm",)),
    "memory": Case(LINEAR, (ROWS,), chip(memory=1000)),
    "memory-format": Case(CONVOLUTION, (IMAGE,), TUNED),
    "tf32": Case(LINEAR, (ROWS,), chip(float32=1e9, tf32=8e9), device_type="cuda"),
    "tile-multiple": Case(LINEAR, (ROWS,), TUNED),
    "training-mode": Case(lambda x: F.dropout(x, 0.5), (ROWS,)),
}
"""Advice -> a model that deserves it."""


@cache
def spoken(name: str) -> tuple[Advice, ...]:
    """The advice of a kind on the model that deserves it."""
    return SPEAKS[name].advice(name)


SILENT: Mapping[str, Sequence[Case]] = {
    "batch-size": (
        Case(POINTWISE, (ROWS,)),  # nothing but activations
        Case(LINEAR, (ROWS[:2],), chip(memory=18_500)),  # and no room
        Case(LINEAR, (torch.ones(64),)),  # and no batch
    ),
    "copies": (Case(lambda x: x.t() + 1, (ROWS,)), Case(lambda x: x.float() + 1, (ROWS,))),
    "fused-attention": (
        Case(attention, (torch.ones(1, 2, 64, 8),)),
        Case(
            lambda x: torch.softmax(x @ x.mT, -1),
            (torch.ones(1, 2, 64, 8),),
            extra=("aten::_scaled_dot_product_flash_attention",),
        ),
    ),
    "fused-norm": (
        Case(rms_norm, (ROWS,)),
        Case(nn.LayerNorm(64), (ROWS,), extra=("npu::npu_rms_norm",)),
    ),
    "fused-optimizer": (
        Case(LINEAR, (ROWS,), train=True),
        Case(LINEAR, (ROWS,), extra=("aten::_fused_adamw_",)),
    ),
    "fused-rotary": (
        Case(rotated, (ROWS, torch.ones(64), torch.ones(64))),
        Case(lambda x: torch.cat((-x, x), -1), (ROWS,), extra=("npu::npu_rope",)),
    ),
    "gradients-in-inference": (Case(torch.exp, (ROWS,)), Case(LINEAR, (ROWS,), train=True)),
    "graph-compiler": (Case(POINTWISE, (ROWS,)), Case(LINEAR, (ROWS,), TUNED)),
    "half-precision": (
        Case(nn.Linear(64, 64, dtype=torch.float16), (ROWS.half(),)),
        Case(LINEAR, (ROWS,), chip(float32=8e9)),
        Case(POINTWISE, (ROWS,), chip(float32=1e9, float16=8e9)),
    ),
    "host-fallback": (Case(torch.median, (ROWS,)),),
    "host-reads": (Case(lambda x: x * x.sum(), (ROWS,)),),
    "int8": (
        Case(LINEAR, (ROWS,), extra=("aten::_int_mm",)),
        Case(LINEAR, (ROWS,), chip(float32=1e9, int8=8e9)),  # and no way to compute so
        Case(LINEAR, (ROWS,), chip(float32=1e9, int8=8e9), extra=("aten::_int_mm",), train=True),
        Case(POINTWISE, (ROWS,), chip(float32=1e9, int8=8e9), extra=("aten::_int_mm",)),
    ),
    "memory": (Case(LINEAR, (ROWS,)), Case(LINEAR, (ROWS,), replace(PLAIN, products=()))),
    "memory-format": (
        Case(CONVOLUTION, (IMAGE,)),
        Case(LINEAR, (ROWS,), TUNED),
        Case(CONVOLUTION, (IMAGE.to(memory_format=torch.channels_last),), TUNED),
    ),
    "tf32": (
        Case(LINEAR, (ROWS,), chip(float32=1e9, tf32=8e9)),  # nobody says that it is off there
        Case(CONVOLUTION, (IMAGE,), chip(float32=1e9, tf32=8e9), device_type="cuda"),
    ),
    "tile-multiple": (
        Case(LINEAR, (ROWS,)),
        Case(nn.Linear(48, 96), (torch.ones(256, 48),), TUNED),
        Case(nn.Conv2d(3, 48, 3), (torch.ones(1, 3, 32, 32),), TUNED),
    ),
    "training-mode": (
        Case(nn.Dropout(0.5), (ROWS,)),
        Case(nn.Sequential(nn.BatchNorm1d(64), nn.Dropout(0.5)), (ROWS,)),
        Case(nn.BatchNorm1d(64, track_running_stats=False), (ROWS,)),
        Case(nn.Sequential(LINEAR, nn.Dropout(0.5)), (ROWS,), train=True),
    ),
}
"""Advice -> models that do not."""
