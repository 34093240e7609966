"""Figures of verdicts within one process, traces at hand; prints them as JSON."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from functools import partial

from benchmarks import models
from benchmarks.measure import Figure, in_turn, median_seconds, timed
from opcheck import device_types
from opcheck.db.store import Database
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Trace
from opcheck.resolve.findings import resolve
from opcheck.trace import trace_model


def every_target() -> Iterator[Figure]:
    """The verdicts on all targets beside the trace that one of their device types needs."""
    database = Database.open()
    matrices = tuple(map(database.matrix, database.targets()))
    resnet50, llama = models.resnet50_on_meta(), models.llama_on_meta()
    for name, (model, example), limit in (("ResNet-50", resnet50, 3.0), ("Llama 405B", llama, 1.0)):
        traced = partial(trace_model, model, (example,), {})
        traces = {
            work.device_type: traced(device_type=work.device_type, casts=work.casts)
            for work in device_types.works(matrices)
        }
        calls = {
            "verdicts": partial(timed, partial(_judged, matrices, traces)),
            "trace": partial(timed, partial(traced, device_type="npu")),
        }
        costs = in_turn(calls)
        verdicts, trace = (median_seconds(costs[call]) for call in calls)
        detail = f"{verdicts * 1e3:.0f} ms for {len(matrices)} targets / {trace * 1e3:.0f} ms"
        yield Figure(f"{name}: verdicts, all targets / one trace", verdicts / trace, limit, detail)


def _judged(matrices: tuple[SupportMatrix, ...], traces: Mapping[str, Trace]) -> None:
    for matrix in matrices:
        resolve(traces[matrix.target.device_type], matrix)


if __name__ == "__main__":
    print(json.dumps([dataclasses.asdict(figure) for figure in every_target()]))
