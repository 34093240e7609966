"""Figures of calls within one process that has torch loaded; prints them as JSON."""

import dataclasses
import json
from collections.abc import Iterator
from functools import partial

import torch

from benchmarks import emulation, models
from benchmarks.measure import Figure, in_turn, median_seconds, timed
from opcheck.model.trace import Trace
from opcheck.trace import trace_model


def large_forward() -> Iterator[Figure]:
    """The same model within one process: bare, traced, exported."""
    model, ids = models.llama_on_meta()
    trace = partial(trace_model, model, (ids,), {}, device_type="npu")
    with torch.no_grad():
        model(ids)
        trace()
        costs = in_turn(
            {"bare": partial(timed, partial(model, ids)), "traced": partial(timed, trace)}
        )
        exported = timed(partial(torch.export.export, models.Logits(model), (ids,))).seconds
    bare, traced = median_seconds(costs["bare"]), median_seconds(costs["traced"])
    detail = f"{traced:.2f} s / {bare:.2f} s"
    yield Figure("Llama 405B: traced / bare forward", traced / bare, 2.5, detail, goal=1.5)
    detail = f"{exported:.1f} s / {traced:.2f} s"
    yield Figure("Llama 405B: torch.export / trace", exported / traced, 5.0, detail, at_least=True)


def growth() -> Iterator[Figure]:
    """Time grows linearly with layers, distinct calls do not grow."""
    layers = (64, 128, 256)
    traces: dict[int, Trace] = {}
    built = {count: models.llama_on_meta(count) for count in layers}

    def trace(count: int) -> None:
        model, ids = built[count]
        traces[count] = trace_model(model, (ids,), {}, device_type="npu")

    trace(layers[0])
    calls = {str(count): partial(timed, partial(trace, count)) for count in layers}
    costs = in_turn(calls, runs=9)
    # a difference of differences: the least disturbed run of each says most
    few, some, many = (min(c.seconds for c in costs[str(count)]) for count in layers)
    ratio = (many - some) / (some - few) / 2
    detail = f"{few:.2f} s, {some:.2f} s, {many:.2f} s for 64, 128, 256 layers"
    yield Figure("time of a layer, 128 to 256 / 64 to 128", ratio, 1.3, detail)
    small, large = len(traces[layers[0]].nodes), len(traces[layers[-1]].nodes)
    yield Figure("distinct calls, 256 / 64 layers", large / small, 1.0, f"{large} / {small}")


if __name__ == "__main__":
    found = [
        *emulation.opening(), *emulation.forwards(), *emulation.steps(), *emulation.operators(),
        *large_forward(), *growth(),
    ]  # fmt: skip
    print(json.dumps([dataclasses.asdict(figure) for figure in found]))
