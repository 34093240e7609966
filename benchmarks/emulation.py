"""Figures of the emulated device, in the process that has torch loaded."""

import copy
from collections.abc import Callable, Iterator
from functools import partial

import torch

from benchmarks import models
from benchmarks.measure import Figure, in_turn, timed
from opcheck.emulate.host_and_device import Placing
from opcheck.emulate.session import Emulator
from tests.emulate.agreement import sides

TARGET = "ascend-910b"
LAYERS = 4
"""Of the Llama whose training step is measured: its other layers are the same again."""


def opening() -> Iterator[Figure]:
    """Seconds that opening a device takes once torch is there."""

    def opened() -> None:
        with Emulator(TARGET):
            pass

    seconds = timed(opened).seconds
    yield Figure("open an emulated device, s / 0.3 s", seconds / 0.3, 1.0, f"{seconds:.2f} s")


def forwards() -> Iterator[Figure]:
    """ResNet-50 on the device beside a forward on meta and one on the host."""
    on_meta, shape = models.resnet50_on_meta()
    on_host = copy.deepcopy(on_meta).eval().to_empty(device="cpu")
    image = torch.randn(shape.shape)
    with torch.no_grad():
        yield _beside("shapes only / meta", on_meta.eval(), shape, values=False, limit=3.0)
        yield _beside("with values / CPU", on_host, image, values=True, limit=2.0)


def steps() -> Iterator[Figure]:
    """Forward, backward and AdamW on the device, shapes alone, beside the same step on meta."""
    resnet, image = models.resnet50_on_meta()
    yield _step_beside("ResNet-50", resnet, image)
    llama, ids = models.llama_on_meta(LAYERS)
    yield _step_beside(f"Llama of {LAYERS} layers", models.Logits(llama), ids)


def operators() -> Iterator[Figure]:
    """Every operator, dtype and sample of the agreement for one target; whole processes."""

    def ran(*names: str) -> float:
        return timed(partial(sides, names, [(TARGET, {})])).seconds

    host = ran("host")
    both = ran("predicted", "asked")
    detail = f"{both:.0f} s"
    yield Figure("OpInfo agreement over one target, both sides, s / 600 s", both / 600, 1.0, detail)
    detail = f"{both:.0f} s / {host:.0f} s"
    yield Figure("OpInfo agreement: both sides / the host alone", both / host, 8.0, detail)


def _step_beside(name: str, module: torch.nn.Module, x: torch.Tensor) -> Figure:
    """One training step of a model that is on meta, on the device and there."""
    module.train()
    emulator = Emulator(TARGET, values=False)
    with emulator:
        placed = copy.deepcopy(module)
        placing = Placing(emulator.device, False)
        placing.module(placed)
        calls = {"meta": _step(module, x), "device": _step(placed, placing.inputs(x))}
        for call in calls.values():
            call()  # the optimizer makes its state in the first one
        costs = in_turn({key: partial(timed, call) for key, call in calls.items()})
    meta, device = (min(c.seconds for c in costs[key]) for key in calls)
    return Figure(
        f"{name} emulated: shapes only / meta training step", device / meta, 3.0,
        f"{1000 * device:.0f} ms / {1000 * meta:.0f} ms",
    )  # fmt: skip


def _step(module: torch.nn.Module, x: torch.Tensor) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(module.parameters())

    def step() -> None:
        module(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def _beside(
    name: str, module: torch.nn.Module, x: torch.Tensor, *, values: bool, limit: float
) -> Figure:
    emulator = Emulator(TARGET, values=values)
    with emulator:
        placed = copy.deepcopy(module)
        placing = Placing(emulator.device, values)
        placing.module(placed)
        there = placing.inputs(x)
        placed(there)
        module(x)
        calls = {"plain": partial(module, x), "device": partial(placed, there)}
        costs = in_turn({key: partial(timed, call) for key, call in calls.items()})
    plain, device = (min(c.seconds for c in costs[key]) for key in calls)
    return Figure(
        f"ResNet-50 emulated: {name} forward", device / plain, limit,
        f"{1000 * device:.0f} ms / {1000 * plain:.0f} ms",
    )  # fmt: skip
