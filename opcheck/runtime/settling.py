"""Before the first call: which precision a model runs in on a chip, and what it calls then."""

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

import torch
from msgspec import Struct
from msgspec.structs import replace
from torch import Tensor, nn

from opcheck.errors import OpcheckError
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Trace
from opcheck.runtime.batching import Call
from opcheck.runtime.nested import mapped, tensors
from opcheck.runtime.precision import Precision, name_of


class Settled(Struct, frozen=True):
    """What a model computes in, and its calls."""

    precision: Precision
    trace: Trace | None
    """None where nobody needs it, or there is none."""


def casting(device_type: str, precision: Precision) -> AbstractContextManager[Any]:
    """Autocast as a precision says, inside the block."""
    if not precision.autocast:
        return nullcontext()
    return torch.autocast(device_type, dtype=precision.dtype)


def settled(
    module: nn.Module,
    call: Call,
    precisions: Sequence[Precision],
    matrix: SupportMatrix,
    *,
    always: bool,
) -> Settled:
    """The best precision in which the chip refuses nothing that it runs in the last of them.

    Args:
        module: is traced, and left as it is.
        call: the inputs to trace it on.
        precisions: the best first.
        matrix: of the chip.
        always: trace the model where there is only one precision, too.
    """
    last = precisions[-1]
    if len(precisions) == 1 and not always:
        return Settled(last, None)
    from opcheck.rewrite.live_shim import refused  # and the tracer, which not every program needs

    try:
        plain = _traced(module, call, last, matrix)
        known = refused(plain, matrix)
        refusals: list[str] = []
        for precision in precisions[:-1]:
            trace = _traced(module, call, precision, matrix)
            worse = refused(trace, matrix) - known
            if not worse:
                why = "; ".join([precision.why, *refusals])
                return Settled(replace(precision, why=why), trace)
            names = ", ".join(sorted(worse))
            refusals.append(f"it refuses {names} in {name_of(precision.dtype)}")
    except Exception as error:  # of a model, or of a vendor's code: it may run as it is
        what = error.message if isinstance(error, OpcheckError) else str(error)
        warnings.warn(
            f"what the model calls could not be looked at ({type(error).__name__}: {what}), so "
            f"no shim was planned, and {name_of(precisions[0].dtype)} is what the chip has",
            RuntimeWarning,
            stacklevel=2,
        )
        return Settled(precisions[0], None)
    return Settled(replace(last, why="; ".join([last.why, *refusals])), plain)


def _traced(module: nn.Module, call: Call, precision: Precision, matrix: SupportMatrix) -> Trace:
    from opcheck.rewrite.live_shim import traced

    within = _Within(module, call, matrix.target.device_type, precision)
    return traced(within, tuple(tensors(call.whole)), {}, matrix)


class _Within(nn.Module):
    """One call of a model under autocast, as a function of its tensors, wherever these stand."""

    def __init__(
        self, module: nn.Module, call: Call, device_type: str, precision: Precision
    ) -> None:
        super().__init__()
        self.module = module
        self._call, self._how = call, (device_type, precision)
        self.training = False

    def train(self, mode: bool = True) -> Self:
        """Change nothing: the model is in evaluation mode, and an exported one cannot be asked."""
        return self

    def forward(self, *given: Tensor) -> Any:
        """Call the model on these in the place of its inputs."""
        left = iter(given)
        args, kwargs = mapped(self._call.whole, lambda _: next(left))
        with casting(*self._how):
            return self.module(*args, **kwargs)
