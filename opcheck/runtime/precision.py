"""The dtype that a model computes in on a chip, and what it calls on the device then."""

import warnings
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

import torch
from msgspec import Struct
from msgspec.structs import replace
from torch import Tensor, nn

from opcheck.db.store import Database
from opcheck.errors import OpcheckError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.predicates import Dtype, NoneOf
from opcheck.model.trace import Trace
from opcheck.runtime.batching import Call, mapped, tensors
from opcheck.runtime.device import DetectedDevice, agreed

AUTO = "auto"
_NAMES = {
    "float32": torch.float32, "fp32": torch.float32,
    "bfloat16": torch.bfloat16, "bf16": torch.bfloat16,
    "float16": torch.float16, "fp16": torch.float16,
}  # fmt: skip
HALVES = (torch.bfloat16, torch.float16)
"""What may be computed in instead of float32, best first."""
_MATRIX_UNIT = ("aten::mm", "aten::addmm", "aten::bmm", "aten::convolution_overrideable")
"""Overloads that autocast is for."""


class Precision(Struct, frozen=True):
    """What a model computes in, and why."""

    dtype: torch.dtype
    why: str
    autocast: bool = False
    """Whether calls that gain by it are cast; else tensors stay as they are."""


def chosen(
    asked: str,
    device: DetectedDevice,
    weights: Iterable[Tensor],
    database: Database,
    matrix: SupportMatrix | None,
) -> tuple[Precision, ...]:
    """What a model may compute in on a device, best first; the last one needs nothing of it.

    Args:
        asked: ``auto``, or the name of a dtype.
        device: where it runs.
        weights: of the model; what they are in counts, since somebody chose it.
        database: knows what the chip computes in.
        matrix: of the chip, where it is known.

    Raises:
        UsageError: no such precision, or the chip is known not to have it.
    """
    if asked != AUTO and asked not in _NAMES:
        raise UsageError(
            Sentence("no such precision: {text}", text=repr(asked)),
            Sentence("it is auto or {list}", list=", ".join(_NAMES)),
        )
    own = narrow_dtype(weights)
    has = supported(device, database, matrix)
    if asked == AUTO:
        return _found(device, own, has)
    dtype = _NAMES[asked]
    if has.get(dtype) is False:
        raise UsageError(
            Sentence(
                "{text} does not compute in {dtype}",
                text=device.target or device,
                dtype=name_of(dtype),
            ),
            Sentence("precision='auto' takes what it has"),
        )
    if own == dtype or dtype == torch.float32:
        return (Precision(dtype, "asked for"),)
    if not torch.amp.is_autocast_available(device.device.type):
        raise UsageError(
            Sentence("torch has no autocast on {device}", device=device.device.type),
            Sentence("give a model whose weights are in it"),
        )
    return (Precision(dtype, "asked for", autocast=True),)


def supported(
    device: DetectedDevice, database: Database, matrix: SupportMatrix | None
) -> dict[torch.dtype, bool]:
    """The 16-bit dtypes of which the database says whether the chip computes in them."""
    if device.vendor not in database.vendors:
        return {}
    chips = database.vendors[device.vendor].chips
    found = {}
    rates = set[str]() if matrix is None else _rates(database, matrix)
    bfloat16 = agreed(chips, device.chip, device.architecture, "bfloat16")
    if bfloat16 is not None or "bfloat16" in rates:
        found[torch.bfloat16] = bfloat16 is not False
    if "float16" in rates or (matrix is not None and _lists_float16(matrix)):
        found[torch.float16] = True
    return found


def narrow_dtype(weights: Iterable[Tensor]) -> torch.dtype | None:
    """The 16-bit dtype that some of a model's weights are in; None where none is."""
    halves = {tensor.dtype for tensor in weights} & set(HALVES)
    return min(halves, key=HALVES.index) if halves else None


def _found(
    device: DetectedDevice, own: torch.dtype | None, has: dict[torch.dtype, bool]
) -> tuple[Precision, ...]:
    where = device.target or device.architecture or str(device)
    if own is not None and has.get(own) is False:
        why = f"its weights are in {name_of(own)}, which {where} has not"
        return (Precision(torch.float32, why),)
    if own is not None:
        return (Precision(own, "its weights are in it"),)
    halves = [dtype for dtype in HALVES if has.get(dtype)]
    if halves and not torch.amp.is_autocast_available(device.device.type):
        return (Precision(torch.float32, f"torch has no autocast on {device.device.type}"),)
    why = f"the database says that {where} computes in it"
    return (
        *(Precision(dtype, why, autocast=True) for dtype in halves),
        Precision(torch.float32, _plainly(device)),
    )


def _plainly(device: DetectedDevice) -> str:
    if device.device.type == "cpu":
        return "the host computes in it"
    if not device.target:
        return f"the database does not know which chip {device} is, so nothing else is known of it"
    return f"nothing else is known to do on {device.target}"


def _rates(database: Database, matrix: SupportMatrix) -> set[str]:
    """The dtypes in which some source gives a rate of the chip's matrix unit."""
    return {dtype for product in database.chip(matrix.target).products for dtype in product.matrix}


def _lists_float16(matrix: SupportMatrix) -> bool:
    """Whether a list of what the matrix unit takes has float16, and none leaves it out."""
    lists = list(_allowed(matrix))
    return bool(lists) and all("float16" in names for names in lists)


def _allowed(matrix: SupportMatrix) -> Iterable[frozenset[str]]:
    for op in _MATRIX_UNIT:
        for condition in matrix.conditions_for(op):
            if condition.verdict.on_device:
                continue
            for predicate in condition.predicates:
                if isinstance(predicate, Dtype) and isinstance(predicate.bound, NoneOf):
                    yield predicate.bound.listed


def name_of(dtype: torch.dtype) -> str:
    """``bfloat16``."""
    return str(dtype).removeprefix("torch.")


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
