"""The vendor's own gradients, and what a target registers for a trace with gradients."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from opcheck.model.matrix import Gradient, SupportMatrix
from opcheck.model.trace import Node, OpName
from opcheck.trace.calls.signature import named_arguments
from opcheck.trace.running.training import Registrations
from opcheck.trace.torch_internals.dispatcher import implicit_composites
from opcheck.trace.torch_internals.overrides import has_formula


class Formulas:
    """One overload's gradient: which kernels, for which arguments, unless PyTorch does it."""

    def __init__(self, gradient: Gradient) -> None:
        self._gradient = gradient

    def kernels(
        self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], needed: frozenset[str]
    ) -> tuple[str, ...] | None:
        """Overloads that it runs for a call; None where the vendor leaves it to PyTorch."""
        names = [argument.name for argument in func._schema.arguments]
        node = Node(OpName.parse(func.name()), named_arguments(names, args, kwargs))
        if any(predicate.match(node) for predicate in self._gradient.unless):
            return None
        return tuple(
            kernel
            for formula in self._gradient.formulas
            if needed.intersection(formula.arguments)
            for kernel in formula.kernels
        )


def vendor_gradients(matrix: SupportMatrix) -> dict[str, Formulas]:
    """Gradients that run only kernels of the device or of the vendor's own namespace.

    The formulas of the others call composites of PyTorch, as PyTorch's own formulas do: those
    stand in for them.
    """
    return {
        op: Formulas(gradient)
        for op, gradient in matrix.gradients.items()
        if all(k in matrix.entries or not k.startswith("aten::") for k in gradient.kernels)
    }


def overridden(matrix: SupportMatrix) -> frozenset[str]:
    """Overloads that the vendor registers at the Autograd key too."""
    return frozenset(op for op, e in matrix.entries.items() if "AutogradPrivateUse1" in e.keys)


_PLUGIN = "PrivateUse1"


def registrations(matrix: SupportMatrix) -> Registrations:
    """Everything that the target registers."""
    return Registrations(
        frozenset(matrix.entries), overridden(matrix), vendor_gradients(matrix),
        _asked_of([matrix]), matrix.casts, matrix.autocast,
    )  # fmt: skip


def by_registrations(
    matrices: Iterable[SupportMatrix],
) -> tuple[tuple[Registrations, tuple[SupportMatrix, ...]], ...]:
    """Targets together whose training steps are alike, as what they register makes them so.

    A target that is no PrivateUse1 device has PyTorch's own gradients, and keeps those composites
    whole that it registers and PyTorch has a formula of the gradient for.
    """
    groups: dict[object, list[SupportMatrix]] = {}
    for matrix in matrices:
        groups.setdefault(_what_counts(matrix), []).append(matrix)
    return tuple((_of(group), tuple(group)) for group in groups.values())


def _of(group: Sequence[SupportMatrix]) -> Registrations:
    asked_of = _asked_of(group)
    if group[0].dispatch_key == _PLUGIN:
        return replace(registrations(group[0]), asked_of=asked_of)
    return Registrations(_whole(group[0]), asked_of=asked_of, casts=group[0].casts,
                         autocast=group[0].autocast)  # fmt: skip


def _whole(matrix: SupportMatrix) -> frozenset[str]:
    """Composites that the target registers together with their gradient.

    The dispatcher passes over the composite kernel where the device has one of its own, and finds
    PyTorch's formula of the gradient instead. Where the device lacks the gradient's kernel, PyTorch
    asks the device for its type before it calls such an operator, as for ``rms_norm`` on MPS.
    """
    return frozenset(
        op
        for op in implicit_composites().intersection(matrix.entries)
        if f"{op}_backward" in matrix.entries and has_formula(op)
    )


def _asked_of(group: Iterable[SupportMatrix]) -> frozenset[str]:
    """What some target asks something of, or runs by another kernel than PrivateUse1 does."""
    return frozenset(op for matrix in group for op in (*matrix.conditions, *matrix.choices))


def _what_counts(matrix: SupportMatrix) -> object:
    """What of a target's registrations autograd sees: equal for targets that one trace serves."""
    if matrix.dispatch_key != _PLUGIN:
        return _whole(matrix)
    whole = implicit_composites().intersection(matrix.entries)
    gradients = [
        (op, matrix.gradients[op].formulas, matrix.gradients[op].unless)
        for op in sorted(vendor_gradients(matrix))
        if op in matrix.entries
    ]
    return whole, overridden(matrix), tuple(gradients)
