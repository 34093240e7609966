"""Predicates on numbers that a call gives beside its tensors: in lists, as scales, of a type."""

from collections.abc import Iterator, Mapping

from opcheck.model.predicates import Predicate, as_int, constants
from opcheck.model.trace import Node, TensorMeta, Value


class Item(Predicate, frozen=True):
    """Every number of a list, such as each side of a padding."""

    kind = "item"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The number as text."""
        return str(value) if type(value) in (int, float) else None

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        for name, value in constants(self.argument, node):
            if isinstance(value, tuple):
                yield from ((name, item) for item in value)


class Difference(Predicate, frozen=True):
    """By how much each number of a list is above the one at the same place of another argument."""

    kind = "difference"

    less: str = ""
    """The other argument: a list, or one number for all places; 1 where it is left out."""

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The difference as text."""
        return str(value) if type(value) is int else None

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        given = dict(node.arguments)
        other = given.get(self.less, 1)
        for name, value in constants(self.argument, node):
            numbers = value if isinstance(value, tuple) else (value,)
            beside = other if isinstance(other, tuple) else (other,)
            if len(beside) == 1:
                beside *= len(numbers)
            for one, less in zip(numbers, beside, strict=False):
                yield name, as_int(one, 0) - as_int(less, 1)


class ScaledSize(Predicate, frozen=True):
    """One size of a tensor argument, or of a list of sizes, times a scale among the arguments."""

    kind = "scaled-size"

    by: str = ""
    """The argument that is the scale; without one, or with a scale of 1, nothing matches."""
    dim: int = 0
    """Negative: from the end."""

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The size before it is scaled."""
        listed = value.shape if isinstance(value, TensorMeta) else value
        if not isinstance(listed, tuple) or not -len(listed) <= dim < len(listed):
            return None
        return str(as_int(listed[dim], 0))

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        yield from constants(self.argument, node)

    def _dims(self, given: Mapping[str, Value]) -> tuple[int, ...]:
        return (self.dim,)

    def _holds(self, actual: str, dim: int, given: Mapping[str, Value]) -> bool:
        scale = given.get(self.by)
        if isinstance(scale, bool) or not isinstance(scale, int | float) or scale == 1:
            return False
        return super()._holds(str(int(int(actual) * scale)), dim, given)


class NumberType(Predicate, frozen=True):
    """What a number that is no tensor is: ``bool``, ``int``, ``float`` or ``complex``."""

    kind = "number-type"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """Its type; a trace keeps a complex number as text."""
        if isinstance(value, bool | int | float):
            return type(value).__name__
        return "complex" if isinstance(value, str) and _is_complex(value) else None

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        yield from constants(self.argument, node)


class Length(Predicate, frozen=True):
    """How many numbers a list has; of a tensor, how many sizes: its dimensions."""

    kind = "length"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The number of items."""
        listed = value.shape if isinstance(value, TensorMeta) else value
        return str(len(listed)) if isinstance(listed, tuple) else None

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        yield from constants(self.argument, node)


class OtherSize(Predicate, frozen=True):
    """The size of a tensor argument in each dimension but the one that an argument names."""

    kind = "other-size"

    dim_argument: str = ""
    """The argument that names that dimension; without one, each counts."""

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The size at ``dim``."""
        if not isinstance(value, TensorMeta) or dim >= len(value.shape):
            return None
        return str(value.shape[dim])

    def _dims(self, given: Mapping[str, Value]) -> tuple[int, ...]:
        tensor = given.get(self.argument)
        rank = len(tensor.shape) if isinstance(tensor, TensorMeta) else 0
        left_out = as_int(given.get(self.dim_argument), rank)
        return tuple(dim for dim in range(rank) if dim not in (left_out, left_out + rank))


def _is_complex(text: str) -> bool:
    try:
        return bool(complex(text)) and text.rstrip(")").endswith("j")
    except ValueError:
        return False
