"""The scan's prediction compared with what the dispatcher asked the device for."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace
from torch import nn

from opcheck.emulate.collectives import answered
from opcheck.emulate.gradients import registrations
from opcheck.model.emulation import Agreement, Asked, Disagreement
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Phase
from opcheck.resolve import launches
from opcheck.resolve.collectives import refused
from opcheck.trace.predict import Prediction, Predictor, predicting
from opcheck.trace.run import trace_model
from opcheck.trace.running.model_state import forget
from opcheck.trace.running.training import Training
from opcheck.trace.running.training_step import TrainingStep

Counts = Mapping[tuple[str, Phase], int]
_ADD, _ADD_IN_PLACE = "aten::add.Tensor", "aten::add_.Tensor"


def predict_model(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    matrix: SupportMatrix,
    step: TrainingStep | None,
) -> Asked:
    """Say what a forward, or a training step, asks of the target; nothing is emulated for it."""

    def run(predictor: Predictor) -> Prediction:
        if step is None:
            return predictor.inference(module, args, kwargs)
        return predictor.training(module, args, kwargs, step)

    return predict(run, matrix)


def predict_refused(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    matrix: SupportMatrix,
    step: TrainingStep | None,
) -> Asked:
    """Say which overloads a condition of the target refuses, once each."""
    forget()
    training = None if step is None else Training(step, registrations(matrix))
    device_type = matrix.target.device_type
    trace = trace_model(
        module,
        args,
        kwargs,
        device_type=device_type,
        casts=matrix.casts,
        autocast=matrix.autocast,
        training=training,
    )
    against = {
        (op, phase): 1
        for phase in Phase
        for op in (*refused(trace, matrix, phase), *launches.refused(trace, matrix, phase))
    }
    return Asked(refused=against)


def predict(run: Callable[[Predictor], Prediction], matrix: SupportMatrix) -> Asked:
    """Say what anything that a predictor runs asks of the target."""
    known = registrations(matrix)
    known = replace(known, kernels=known.kernels | answered(matrix))
    with predicting(matrix.target.device_type, known) as predictor:
        return counts_of(run(predictor))


def counts_of(prediction: Prediction) -> Asked:
    """The counts of a prediction."""

    def counts(missing: bool) -> dict[tuple[str, Phase], int]:
        return {
            (str(kernel.op), kernel.phase): kernel.count
            for kernel in prediction.kernels
            if kernel.missing is missing
        }

    return Asked(counts(False), counts(True))


def agreement(predicted: Asked, asked: Asked, *, conditions: bool, ended: str = "") -> Agreement:
    """Compare sets and counts; with ``conditions`` also which overloads are refused by one.

    ``ended``: what ended the device's run early.

    Autograd adds up gradients in place where nothing else holds one; the emulated device does hold
    them, as Python has seen their storages. So both ways to add count as one in a backward.
    """
    found = [
        *_differing("native", added_alike(predicted.native), added_alike(asked.native)),
        *_differing("missing", added_alike(predicted.missing), added_alike(asked.missing)),
    ]
    both_refused = 0
    if conditions:
        once = [_once(added_alike(said.refused)) for said in (predicted, asked)]
        both_refused = len({*once[0], *once[1]})
        found += _differing("refused", *once)
    return Agreement(
        native=len({op for op, _ in (*predicted.native, *asked.native)}),
        missing=len({op for op, _ in (*predicted.missing, *asked.missing)}),
        refused=both_refused,
        disagreements=tuple(found),
        ended=ended,
    )


def added_alike(counts: Counts) -> Counts:
    """The counts, with additions of a backward in place as such that are not."""
    found = dict(counts)
    inplace = found.pop((_ADD_IN_PLACE, Phase.BACKWARD), 0)
    if inplace:
        key = (_ADD, Phase.BACKWARD)
        found[key] = found.get(key, 0) + inplace
    return found


def _once(counts: Counts) -> Counts:
    return dict.fromkeys(counts, 1)


def _differing(kind: str, predicted: Counts, asked: Counts) -> list[Disagreement]:
    return [
        Disagreement(key[0], kind, key[1], predicted.get(key, 0), asked.get(key, 0))
        for key in sorted({*predicted, *asked})
        if predicted.get(key, 0) != asked.get(key, 0)
    ]
