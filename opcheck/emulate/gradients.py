"""The vendor's own gradients, as far as what they run is known to the device."""

from collections.abc import Mapping, Sequence
from typing import Any

from opcheck.model.matrix import Gradient, SupportMatrix
from opcheck.model.trace import Node, OpName
from opcheck.trace.signature import named_arguments


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
