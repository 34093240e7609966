"""One side of the comparison, as a process: ``python -m tests.emulate.agreement_side SIDE``.

``predicted`` and ``asked`` take operators, ``models`` takes models and has both sides; ``host``
runs operators on no device at all, to tell what the sides cost. Each reads what is asked of it as
JSON and writes its answer as JSON to the file that it is told; the name of what is running goes to
the standard error stream, so that a process that ends is no mystery.
"""

import gc
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from opcheck.emulate.agreement import added_alike, agreement, counts_of, predict_model
from opcheck.emulate.gradients import registrations
from opcheck.emulate.host_and_device import Job, Placing, on_device
from opcheck.emulate.session import Emulator, prepared
from opcheck.model.emulation import Asked
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Phase
from opcheck.trace.predict import predicting
from opcheck.trace.running.training_step import TrainingStep, backward_from
from tests.emulate.judged import Judged
from tests.emulate.matrices import matrix_of
from tests.emulate.operator_samples import Case, cases
from tests.zoo import TRAINABLE, ZOO

Outcome = dict[str, Any]
"""Of a case: ``native`` and ``missing``, counts by phase and overload; or ``raised``."""
AT = "at "
"""Before the name of what is running."""


# --- operators -----------------------------------------------------------------------------------


def predicted(matrix: SupportMatrix, choice: Mapping[str, Any]) -> Iterator[tuple[str, Outcome]]:
    """What the tracer says of every case, and with ``conditions`` what the target refuses of it."""
    chosen, conditions = _chosen(choice)
    found = dict(_counted(matrix, chosen))
    if conditions:
        with Judged(matrix) as judged:
            for case in _cases(matrix, chosen):
                if not case.backward and "raised" not in found[str(case)]:
                    found[str(case)]["refused"] = judged.refused(case)
    yield from found.items()


def _chosen(choice: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """What to run, and whether what conditions refuse is of interest, too."""
    chosen = dict(choice)
    return chosen, chosen.pop("conditions", False)


def _cases(matrix: SupportMatrix, chosen: Mapping[str, Any]) -> Iterator[Case]:
    """Those that were asked for; with ``autocast``, a dtype, their forward runs under that."""
    chosen = dict(chosen)
    name = chosen.pop("autocast", "")
    for case in cases(**chosen):
        yield replace(case, function=_autocast(case, matrix, name)) if name else case


def _autocast(case: Case, matrix: SupportMatrix, name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with torch.autocast(matrix.target.device_type, getattr(torch, name)):
            return case.function(*args, **kwargs)

    return call


def _counted(matrix: SupportMatrix, choice: Mapping[str, Any]) -> Iterator[tuple[str, Outcome]]:
    with predicting(matrix.target.device_type, registrations(matrix)) as predictor:

        def run(case: Case) -> Asked:
            torch.default_generator.manual_seed(0)
            found = predictor.call(case.call, case.inputs, {}, backward=case.backward)
            return counts_of(found)

        for directions in ((False,), (True,)):  # for each the device has other kernels
            for case in _cases(matrix, {**choice, "directions": directions}):
                yield str(case), _outcome(run, case)


def asked(matrix: SupportMatrix, choice: Mapping[str, Any]) -> Iterator[tuple[str, Outcome]]:
    """What the dispatcher asks the device for."""
    chosen, conditions = _chosen(choice)
    emulator = Emulator(matrix, values=True, stop=False)
    with emulator:
        record = emulator.device.record

        def run(case: Case) -> Asked:
            record.cut()
            record.begin(Phase.FORWARD)
            inputs = Placing(emulator.device, True).inputs(case.inputs)
            emulator.device.generator.manual_seed(0)
            with torch.set_grad_enabled(case.backward):
                output = case.call(*inputs)
            if case.backward:
                record.begin(Phase.BACKWARD)
                backward_from(output)
            return emulator.asked

        for case in _cases(matrix, chosen):
            outcome = _outcome(run, case)
            if conditions and not case.backward and "raised" not in outcome:
                outcome["refused"] = sorted({op for op, _ in emulator.asked.refused})
            yield str(case), outcome


def host(matrix: SupportMatrix, choice: Mapping[str, Any]) -> Iterator[tuple[str, Outcome]]:
    """Nothing of any device: the same calls, and their gradients, on the host."""

    def run(case: Case) -> Asked:
        with torch.set_grad_enabled(case.backward):
            output = case.call(*case.inputs)
        if case.backward:
            backward_from(output)
        return Asked({}, {}, {})

    for case in cases(**choice):
        yield str(case), _outcome(run, case)


def _outcome(run: Callable[[Case], Asked], case: Case) -> Outcome:
    _tell(str(case))
    try:
        found = run(case)
    except Exception as error:  # samples that no device takes; both sides are to raise
        return {"raised": f"{type(error).__name__}: {str(error).strip()}".partition("\n")[0]}
    return {"native": _named(found.native), "missing": _named(found.missing)}


def _named(counts: Mapping[tuple[str, Phase], int]) -> dict[str, int]:
    return {f"{phase} {op}": count for (op, phase), count in sorted(added_alike(counts).items())}


# --- models --------------------------------------------------------------------------------------


def models(matrix: SupportMatrix, choice: Mapping[str, Any]) -> Iterator[tuple[str, Outcome]]:
    """Both sides of each model."""
    for name in choice["names"]:
        for train in (False, True) if name in TRAINABLE else (False,):
            case = f"{name} {'training' if train else 'inference'}"
            _tell(case)
            module, args, kwargs = ZOO[name]()
            job = Job(module, args, kwargs, TrainingStep() if train else None)
            yield case, _model(matrix, job)


def _model(matrix: SupportMatrix, job: Job) -> Outcome:
    said = predict_model(job.module, job.args, job.kwargs, matrix, job.step)
    ran = on_device(job, partial(Emulator, matrix, values=False, stop=False))
    held = agreement(said, ran.emulator.asked, conditions=True)
    return {
        "native": held.native,
        "missing": held.missing,
        "refused": held.refused,
        "error": "" if ran.error is None else f"{type(ran.error).__name__}: {ran.error}",
        "differ": [[d.kind, f"{d.phase} {d.op}", d.predicted, d.asked] for d in held.disagreements],
    }


# --- the process ---------------------------------------------------------------------------------

SIDES = {"predicted": predicted, "asked": asked, "host": host, "models": models}


def _tell(what: str) -> None:
    print(f"{AT}{what}", file=sys.stderr, flush=True)


def main() -> None:
    """Do one job after the other, all in this process."""
    given = json.load(sys.stdin)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # the other side runs beside this one
    gc.set_threshold(20_000)  # as in a worker
    answers: list[dict[str, Outcome]] = []
    for target, choice in given["jobs"]:
        matrix = matrix_of(target)
        prepared(matrix.target.device_type)
        answer: dict[str, Outcome] = {}
        for case, outcome in SIDES[sys.argv[1]](matrix, choice):
            assert case not in answer, f"two cases are called {case}"
            answer[case] = outcome
        answers.append(answer)
    Path(given["answer"]).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
