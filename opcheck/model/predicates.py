"""What a condition tests about one call: a quantity of an argument, and a bound on it.

Of an overload's calls, a predicate matches those on which the vendor's kernel does something else
than its registration suggests: ``Dtype("self", OneOf(frozenset({"float64"})))``. A new kind is a
subclass of :class:`Predicate` here, or in a file that :mod:`opcheck.model.predicate_kinds` lists;
the files of the database may then use its ``kind``.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from math import prod
from typing import ClassVar

from msgspec import Struct

from opcheck.model.list_bounds import NotEqual, NotFactor, NotMultiple
from opcheck.model.trace import Constant, Node, TensorMeta, Value, tensors_in

Match = tuple[str, str]
"""(argument name, its actual value)."""
OFF = "off"
"""The value of a mode that a program did not set."""
ANY, RETURN = "*", "return"
"""In place of an argument's name: any tensor of the device that is given, that is returned."""


class OneOf(Struct, frozen=True):
    """The quantity is one of these."""

    listed: frozenset[str]

    def holds(self, actual: str) -> bool:
        """Whether the bound excludes a value, as text."""
        return actual in self.listed


class NoneOf(Struct, frozen=True):
    """The quantity is none of these, which are all that is allowed."""

    listed: frozenset[str]

    def holds(self, actual: str) -> bool:
        """Whether the bound excludes a value, as text."""
        return actual not in self.listed


class Outside(Struct, frozen=True):
    """The quantity is a number below ``minimum`` or above ``maximum``; None: no such end."""

    minimum: int | None = None
    maximum: int | None = None

    def holds(self, actual: str) -> bool:
        """Whether the bound excludes a value, as text; text that is no number it does not."""
        try:
            number = float(actual)
        except ValueError:
            return False
        below = self.minimum is not None and number < self.minimum
        return below or (self.maximum is not None and number > self.maximum)


class NotDivisible(Struct, frozen=True):
    """The quantity is no whole multiple of a number."""

    by: int

    def holds(self, actual: str) -> bool:
        """Whether the bound excludes a value, as text."""
        return bool(self.by and actual.isdecimal() and int(actual) % self.by)


class Remainder(Struct, frozen=True):
    """The quantity, divided by a number, leaves another one."""

    divisor: int
    left: int

    def holds(self, actual: str) -> bool:
        """Whether the bound excludes a value, as text."""
        return bool(self.divisor and actual.isdecimal() and int(actual) % self.divisor == self.left)


class Unlike(Struct, frozen=True):
    """The same quantity of another tensor argument, or of one in that list, differs."""

    other: str


class Fewer(Struct, frozen=True):
    """The quantity is a number below that of another tensor argument."""

    other: str


class More(Struct, frozen=True):
    """The quantity is a number above that of another tensor argument."""

    other: str


Bound = (
    OneOf | NoneOf | Outside | NotDivisible | Remainder | NotMultiple | NotFactor | NotEqual
    | Unlike | Fewer | More
)  # fmt: skip


class Predicate(Struct, frozen=True):
    """A test on one argument of a call."""

    kind: ClassVar[str]
    """The files' ``subject``."""
    of_host: ClassVar[bool] = False
    """Whether ``*`` is a tensor of the host, too."""

    argument: str
    """Schema argument name; ``*`` any tensor argument, ``return`` any output, on the device."""
    bound: Bound

    @abstractmethod
    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The quantity of one argument, as text; None where it has no such thing."""

    def match(self, node: Node) -> Match | None:
        """Give the first argument of the call that the predicate matches; None where none."""
        given = dict(node.arguments)
        for name, value in self._values(node):
            for dim in self._dims(given):
                actual = self.measure(value, dim)
                if actual is not None and self._holds(actual, dim, given):
                    return name, actual
        return None

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        if self.argument == RETURN:
            found = [("the result", tensor) for tensor in node.output_tensors()]
        else:
            given = (each for each in node.arguments if self.argument in (ANY, each[0]))
            found = [(name, tensor) for name, value in given for tensor in tensors_in(value)]
        of_host = self.of_host or self.argument not in (ANY, RETURN)
        return (each for each in found if of_host or not each[1].host)

    def _dims(self, given: Mapping[str, Value]) -> tuple[int, ...]:
        """The dimensions to look at; one that no measure uses where the quantity has none."""
        return (0,)

    def _holds(self, actual: str, dim: int, given: Mapping[str, Value]) -> bool:
        match self.bound:
            case NotMultiple(of) | NotFactor(of) | NotEqual(of):
                listed = given.get(of)
                if not isinstance(listed, tuple) or not -len(listed) <= dim < len(listed):
                    return False
                size, item = int(actual), as_int(listed[dim], 0)
                return bool(size and item) and self.bound.unfit(size, item)
            case Unlike(name):
                other = given.get(name)
                listed = other if isinstance(other, tuple) else () if other is None else (other,)
                expected = (self.measure(value, dim) for value in listed)
                return any(value is not None and value != actual for value in expected)
            case Fewer(name) | More(name):
                other = self.measure(given.get(name), dim)
                if other is None or not (actual.isdecimal() and other.isdecimal()):
                    return False
                fewer = isinstance(self.bound, Fewer)
                return int(actual) < int(other) if fewer else int(actual) > int(other)
            case bound:
                return bound.holds(actual)


class Dtype(Predicate, frozen=True):
    """The dtype of a tensor argument, as torch names it: ``float64``."""

    kind = "dtype"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The name of the dtype."""
        return value.dtype if isinstance(value, TensorMeta) else None


class SparseDtype(Predicate, frozen=True):
    """The dtype of a sparse tensor argument of one layout, as torch names it: ``float16``.

    Its kernels are others than those for dense tensors, and so is what they take.
    """

    kind = "sparse-dtype"

    layout: str = ""
    """Such as ``sparse_coo``; "" any."""

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The name of the dtype; None of a dense tensor, or one of another layout."""
        if not isinstance(value, Constant) or not value.value.startswith("sparse_"):
            return None
        layout, _, meta = value.value.partition(" ")
        dtype = meta.partition("[")[0]
        return dtype if dtype and self.layout in ("", layout) else None

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        for name, value in constants(self.argument, node):
            for part in value if isinstance(value, tuple) else (value,):
                yield name, part


class Rank(Predicate, frozen=True):
    """The number of dimensions of a tensor argument."""

    kind = "rank"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The number of dimensions."""
        return str(len(value.shape)) if isinstance(value, TensorMeta) else None


class Place(Predicate, frozen=True):
    """Where a tensor argument is: on the ``device``, or on the ``host`` as a CPU number is."""

    kind = "place"
    of_host = True

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The name of the place."""
        if not isinstance(value, TensorMeta):
            return None
        return "host" if value.host else "device"


class Layout(Predicate, frozen=True):
    """How the elements of a tensor argument lie: ``contiguous``, ``permuted``, ``strided``."""

    kind = "layout"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The name of the layout."""
        return value.layout if isinstance(value, TensorMeta) else None


class Size(Predicate, frozen=True):
    """The size of one dimension of a tensor argument."""

    kind = "size"

    dim: int = 0
    """Negative: from the end."""
    dim_argument: str = ""
    """Argument that names the dimension instead, or several, where a call gives it."""

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The size at ``dim``."""
        if not isinstance(value, TensorMeta):
            return None
        here = -len(value.shape) <= dim < len(value.shape)
        return str(value.shape[dim]) if here else None

    def _dims(self, given: Mapping[str, Value]) -> tuple[int, ...]:
        named = given.get(self.dim_argument)
        listed = named if isinstance(named, tuple) and named else (named,)
        return tuple(as_int(dim, self.dim) for dim in listed)


class Stride(Predicate, frozen=True):
    """How far apart in memory neighbours along one dimension of a tensor argument lie.

    Zero where the dimension is expanded.
    """

    kind = "stride"

    dim: int = 0
    """Negative: from the end."""

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The number of elements from one to the next."""
        if not isinstance(value, TensorMeta) or not -len(value.shape) <= dim < len(value.shape):
            return None
        return str(value.stride[dim])

    def _dims(self, given: Mapping[str, Value]) -> tuple[int, ...]:
        return (self.dim,)


class Offset(Predicate, frozen=True):
    """How many bytes beyond the beginning of its storage a tensor argument starts.

    It is 0 for a whole tensor, and for a view of its beginning. Of others it is known whether it is
    above 0, what power of two up to 512 divides it, and whether 32 bits count it
    (:func:`opcheck.model.trace.coarse_offset`).
    """

    kind = "offset"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The offset; None where it is not known."""
        if not isinstance(value, TensorMeta) or value.offset is None:
            return None
        return str(value.offset)


class ArgumentValue(Predicate, frozen=True):
    """The constant value of a non-tensor argument, as text: ``True``, ``2``, ``reflect``."""

    kind = "value"

    default: str = ""
    """The value where a call leaves the argument at its default."""

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The value as text."""
        return None if isinstance(value, TensorMeta) else value_text(value)

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        given = constants(self.argument, node)
        yield from given
        if self.default and not given:
            yield self.argument, self.default


class Mode(Predicate, frozen=True):
    """What a program had set a mode to when it made the call; its name is the argument.

    ``deterministic``: ``error`` or ``warn``, as ``torch.use_deterministic_algorithms`` has it.
    ``attention``, of ``scaled_dot_product_attention`` where not all of its kernels are allowed:
    those that are, sorted, as ``flash`` or ``efficient+math``. ``gradient``, of the same operator,
    of recurrent layers and of ``_pack_padded_sequence``: ``wanted`` where autograd follows it.
    ``autocast``: ``bfloat16`` where autocast casts the call to that.
    ``computed weight``, ``computed bias`` and ``computed mat2``, of an exported model: where that
    argument is computed, what of: ``parameters`` alone, or ``inputs``. ``computed self`` there, of
    ``abs`` and ``sign``: ``parameters`` where no input of the model is in it. ``tensors``: ``the
    same`` where ``cat`` is given one tensor several times there.
    ``compiled``: where the compiled function was called that makes the call, as file:line.
    A switch in the environment, such as ``XLA_DISABLE_FUNCTIONALIZATION``, or a name in one that
    lists names (``XLA_EXPERIMENTAL=nonzero``): ``on``.
    ``off`` where nothing was set, and of graphs, which do not say it.
    """

    kind = "mode"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The value of the mode."""
        return str(value)

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        yield self.argument, dict(node.modes).get(self.argument, OFF)


class Product(Predicate, frozen=True):
    """The product of a list of numbers: how much a kernel of ``kernel_size`` covers.

    Of a tensor, that of its sizes.
    """

    kind = "product"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The product."""
        if isinstance(value, TensorMeta):
            return str(value.numel)
        if not isinstance(value, tuple) or not value:
            return None
        numbers = [item for item in value if isinstance(item, int | float)]
        return str(prod(numbers)) if len(numbers) == len(value) else None

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        yield from constants(self.argument, node)


class Numel(Predicate, frozen=True):
    """The number of elements of a tensor argument."""

    kind = "numel"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The number of elements."""
        return str(prod(value.shape)) if isinstance(value, TensorMeta) else None


def value_text(value: Value) -> str:
    """A constant as conditions and reports spell it: ``True``, ``2``, ``[1, 2]``, ``float64``."""
    if isinstance(value, tuple):
        return "[" + ", ".join(value_text(item) for item in value) + "]"
    return str(value)


def as_int(value: Value, default: int) -> int:
    """A whole number that is no truth value; ``default`` where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def constants(argument: str, node: Node) -> list[tuple[str, Value]]:
    """The arguments of a call that go by this name, tensors or not."""
    return [(name, value) for name, value in node.arguments if argument in (ANY, name)]
