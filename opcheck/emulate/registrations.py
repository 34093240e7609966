"""What a target registers, as a trace with gradients needs to know it."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from opcheck.emulate.gradients import overridden, vendor_gradients
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Composite
from opcheck.trace.dispatcher import composite_kind
from opcheck.trace.training import Registrations

_PLUGIN = "PrivateUse1"


def registrations(matrix: SupportMatrix) -> Registrations:
    """Everything that the target registers."""
    return Registrations(
        frozenset(matrix.entries), overridden(matrix), vendor_gradients(matrix),
        frozenset(matrix.conditions), matrix.casts, matrix.autocast,
    )  # fmt: skip


def by_registrations(
    matrices: Iterable[SupportMatrix],
) -> tuple[tuple[Registrations, tuple[SupportMatrix, ...]], ...]:
    """Targets together whose training steps are alike, as what they register makes them so.

    A target that is no PrivateUse1 device has PyTorch's own gradients, and keeps nothing whole.
    """
    groups: dict[object, list[SupportMatrix]] = {}
    for matrix in matrices:
        groups.setdefault(_what_counts(matrix), []).append(matrix)
    return tuple((_of(group), tuple(group)) for group in groups.values())


def _of(group: Sequence[SupportMatrix]) -> Registrations:
    asked_of = frozenset(op for matrix in group for op in matrix.conditions)
    if group[0].dispatch_key == _PLUGIN:
        return replace(registrations(group[0]), asked_of=asked_of)
    return Registrations(frozenset(), asked_of=asked_of, casts=group[0].casts,
                         autocast=group[0].autocast)  # fmt: skip


def _what_counts(matrix: SupportMatrix) -> object:
    """What of a target's registrations autograd sees: equal for targets that one trace serves."""
    if matrix.dispatch_key != _PLUGIN:
        return None
    whole = frozenset(op for op in matrix.entries if composite_kind(op) is Composite.IMPLICIT)
    gradients = [
        (op, matrix.gradients[op].formulas, matrix.gradients[op].unless)
        for op in sorted(vendor_gradients(matrix))
        if op in matrix.entries
    ]
    return whole, overridden(matrix), tuple(gradients)
