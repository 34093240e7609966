"""Runs one model on one emulated device and says what happened."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from msgspec.structs import replace

from opcheck.emulate.agreement import agreement, predict_model, predict_refused
from opcheck.emulate.compare import Named, differences
from opcheck.emulate.host_and_device import Job, Ran, on_device, on_host
from opcheck.emulate.record import Journal
from opcheck.emulate.session import Emulator, prepared
from opcheck.errors import EmulationError
from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import Agreement, Asked, Emulation, EmulationRequest, Site
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import ModelInfo
from opcheck.model.request import TrainingSpec
from opcheck.model.target import Target
from opcheck.model.trace import Gap
from opcheck.resolve.findings import of_target
from opcheck.source.building.training_data import loss_named
from opcheck.trace.calls.call_site import from_error
from opcheck.trace.calls.modules import MAKES_NESTED, is_of_nested, pattern
from opcheck.trace.run import as_module
from opcheck.trace.running.model_state import Later, here
from opcheck.trace.running.training_step import TrainingStep
from opcheck.version import __version__

Progress = Callable[[str], None]
Apart = Callable[[Sequence[Callable[[], Any]]], Sequence[Later[Any]]]
TORCH = torch.__version__.partition("+")[0]
"""Version of the running torch."""


def emulate_model(
    module: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    request: EmulationRequest,
    target: Target,
    matrix: SupportMatrix,
    model: ModelInfo,
    progress: Progress,
    notes: Sequence[str] = (),
    gaps: Sequence[Gap] = (),
    journal: Path | None = None,
    apart: Apart = here,
) -> Emulation:
    """Run a model's forward, or one training step, as ``request`` asks.

    Args:
        module: the model; its tensors have their values where the request asks for values.
        args: positional inputs, on the host or on meta.
        kwargs: named inputs.
        request: what to do, and how far to go.
        target: the target, chosen in full.
        matrix: what it supports.
        model: how the report names the model.
        progress: told one short line per step.
        notes: sentences that go into the report.
        gaps: what the model as it was built does not show.
        journal: the file to follow the run in.
        apart: has the model's further runs find nothing of what the others leave in caches.

    Raises:
        EmulationError: this process or this torch cannot have the device.
        TraceError: there is nothing to train.
    """
    prepared(target.device_type)  # before the host's backward starts torch's autograd
    step = None if request.model.step is None else _step(request.model.step, request.values)
    begun = replace(
        beginning(target, matrix, model, values=request.values),
        mode=mode_of(trains=step is not None),
        notes=tuple(notes),
        gaps=tuple(gaps),
    )
    job = Job(as_module(module), args, kwargs, step, request.gradients)
    on_the_host = [partial(on_host, job)] if request.values else []
    checks = _checks(job, matrix) if request.check else []
    waits = apart([*on_the_host, *checks])
    host: Named | None = None
    if request.values:
        progress("computing on the host, to compare with")
        host = waits[0]()
    progress(Sentence("running on the emulated {target}", target=target))
    make = partial(Emulator, matrix, values=request.values, stop=request.stop, shims=request.shims)
    followed = Journal(journal, begun).follow if journal is not None else job.begun
    ran = on_device(replace(job, begun=followed), make)
    emulator = ran.emulator
    compared = _agreement(waits[-len(checks) :], progress) if checks else None
    return replace(
        with_what_was_asked(begun, emulator),
        finished=ran.error is None,
        error=_described(ran.error),
        error_site=None if ran.error is None else _site(ran, ran.error),
        differences=None if host is None or ran.error else differences(ran.results, host),
        agreement=compared,
        notes=(*notes, *_notes(ran, matrix), *_why_apart(ran, compared)),
        gaps=(*gaps, *emulator.device.record.gaps),
    )


def beginning(
    target: Target, matrix: SupportMatrix, model: ModelInfo, *, values: bool
) -> Emulation:
    """A run on a device before anything has happened."""
    return Emulation(
        opcheck_version=__version__,
        torch_version=TORCH,
        target=str(target),
        database_digest=matrix.database_digest,
        model=model,
        mode=mode_of(trains=False),
        values=values,
        finished=False,
        error="",
        error_site=None,
        refusals=(),
        host_calls=(),
        cautions=(),
        islands=0,
        kernels=(),
    )


def mode_of(*, trains: bool) -> str:
    """What a run is called."""
    return "train" if trains else "inference"


def with_what_was_asked(begun: Emulation, emulator: Emulator) -> Emulation:
    """The run with everything that its device was asked for."""
    return replace(
        begun,
        refusals=emulator.refusals,
        host_calls=emulator.host_calls,
        cautions=emulator.cautions,
        islands=emulator.device.record.islands,
        kernels=emulator.kernels,
        memory_peak=emulator.device.memory.most,
    )


def _step(spec: TrainingSpec, values: bool) -> TrainingStep:
    if values and spec.wrap == "fsdp2":
        raise EmulationError(
            Sentence(
                "a step with wrap=fsdp2 has no values: the other process holds half of "
                "each parameter"
            ),
            Sentence("leave --values out to follow shapes alone, or leave wrap out"),
        )
    return TrainingStep.of(spec, loss_named(spec.loss))


def _checks(job: Job, matrix: SupportMatrix) -> list[Callable[[], Any]]:
    """What the scan says, in two runs, and a run that goes on where the device refuses."""
    asked = job.module, job.args, job.kwargs, matrix, job.step
    return [
        partial(predict_model, *asked),
        partial(predict_refused, *asked),
        partial(_held, replace(job, begun=lambda _: None), matrix),
    ]


def _held(job: Job, matrix: SupportMatrix) -> tuple[Asked, str]:
    """What a device is asked for that refuses nothing, and what ended the run early."""
    ran = on_device(job, partial(Emulator, matrix, values=False, stop=False))
    return ran.emulator.asked, _described(ran.error)


def _agreement(waits: Sequence[Callable[[], Any]], progress: Progress) -> Agreement:
    """Hold the scan's prediction against the run on the device."""
    progress("predicting what the scan says")
    kernels, conditions = (wait() for wait in waits[:2])
    progress("holding the prediction against the dispatcher")
    asked, ended = waits[2]()
    predicted = replace(kernels, refused=conditions.refused)
    return agreement(predicted, asked, conditions=True, ended=ended)


def _why_apart(ran: Ran, compared: Agreement | None) -> Iterator[str]:
    """Why counts may differ although both sides are right."""
    if compared is None or not compared.disagreements:
        return
    if ran.error is not None:
        yield (
            "the run ended early, and the scan goes on with the next module: what it predicts "
            "from there on was not asked for"
        )
    elif ran.emulator.device.assumed:
        yield (
            "the model decides by values that only its data has: run and scan each assume some, "
            "and counts that differ may be due to that alone"
        )


def _notes(ran: Ran, matrix: SupportMatrix) -> Iterator[str]:
    yield from ran.emulator.device.record.notes
    yield from renamed(ran.named, matrix.target.device_type)
    yield from general_notes(matrix)


def renamed(named: Iterable[str], own: str) -> Iterator[str]:
    """What is said of other device types that were taken for ``own``."""
    for other in named:
        text = "names the device {text}; run as if it said {text_own}"
        if other == "cuda":
            text = "names a CUDA device; run as if it said {text_own}"
        yield Sentence(text, text=repr(other), text_own=repr(own))


def general_notes(matrix: SupportMatrix) -> Iterator[str]:
    """What is said of every run on a target."""
    yield from (advisory.text for advisory in of_target(matrix, TORCH, "run"))


def _described(error: Exception | None) -> str:
    if error is None:
        return ""
    return MAKES_NESTED if is_of_nested(error) else f"{type(error).__name__}: {error}".strip()


def _site(ran: Ran, error: Exception) -> Site | None:
    file, line = from_error(error)
    modules = ran.emulator.device.modules
    module = pattern(modules.failed) if modules else ""
    return Site(module, file, line) if file or module else None
