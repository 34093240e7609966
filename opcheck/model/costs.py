"""What a run costs in operations and bytes, and what a chip has to run it with."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from opcheck.model.verdict import Evidence


class NodeCost(Struct, frozen=True):
    """One call, as if the device ran it whole."""

    flops: int | None
    """Of matrix products, convolutions and attention, a multiply-add being two; 0: it has none;
    None: nobody has said how many."""
    elements: int
    """Values that it computes beside those, one operation each: a lower bound."""
    read: int
    """Bytes of its tensor arguments; what a view shares is read once, and a lookup reads no more
    of a table than it gives."""
    written: int
    """Bytes of what it gives or changes; 0 for a view."""
    weights: int = 0
    """The part of ``read`` that parameters and buffers are, which a larger batch leaves as it is.
    """
    inside: int = 0
    """Bytes that live at once, beyond what it gives, where PyTorch runs it part by part."""

    @property
    def moved(self) -> int:
        """Bytes read and written."""
        return self.read + self.written


class Costs(Struct, frozen=True):
    """What the calls of a trace cost, and what the model held while it ran."""

    nodes: tuple[NodeCost, ...]
    """By index into ``Trace.nodes``."""
    live: tuple[int, ...]
    """Bytes alive right after each call of ``Trace.sequence``, without weights, buffers and
    inputs; gradients and optimizer states are among them from when they are made."""
    weights: int
    """Bytes of the parameters, shared ones once."""
    trained: int
    """Bytes of those that a step trains; 0 in inference."""
    buffers: int
    """Bytes of the buffers."""
    inputs: int
    """Bytes of the inputs."""
    gradients: tuple[tuple[int, int], ...] = ()
    """(index into ``Trace.sequence``, bytes): the calls that made the gradients that there are at
    the end of a step."""
    states: int = 0
    """Bytes of the optimizer's states at the end of a step."""
    batch: int | None = None
    """The first size that all inputs share; None: they share none."""
    grad_enabled: tuple[int, ...] = ()
    """Indices into ``Trace.uses`` of calls that the model makes in inference with gradients
    switched on; sorted."""
    in_training: tuple[str, ...] = ()
    """Layers that compute otherwise in training, and that the user's own model has in that mode;
    with their kind, sorted."""


Cited = tuple[Evidence, ...]

DTYPES = ("float64", "float32", "tf32", "float16", "bfloat16", "float8", "int8")
"""Names of what rates are for: PyTorch's, ``tf32`` for float32 with its short mantissa, and
``float8`` for each of the types of eight bits."""


class Grade(StrEnum):
    """Whose word a figure is, best first."""

    VENDOR = "vendor"
    """The vendor's own document or repository."""
    QUOTED = "quoted"
    """The vendor's document, as others print it."""
    PRESS = "press"
    """Somebody else's."""

    @property
    def rank(self) -> int:
        """0 for the vendor to 2 for the press."""
        return list(Grade).index(self)


class Figure(Struct, frozen=True):
    """One number of a chip, in bytes, bytes a second or operations a second."""

    value: float
    grade: Grade
    """The best of its sources'."""
    evidence: Cited = ()
    note: str = ""
    upper: float | None = None
    """Another reading of the same number, which is more: of memory, a GB may be 2**30 bytes."""

    @property
    def most(self) -> float:
        """The value in the reading that is most."""
        return self.value if self.upper is None else self.upper


class Product(Struct, frozen=True):
    """One thing to buy with the chip in it, as one device of PyTorch's; None is not known."""

    name: str
    """``A100 80GB SXM``."""
    memory: Figure | None = None
    bandwidth: Figure | None = None
    matrix: Mapping[str, Figure] = field(default_factory=dict)
    """dtype -> operations a second of the matrix unit, without sparsity."""
    vector: Mapping[str, Figure] = field(default_factory=dict)
    """dtype -> operations a second of the other units."""
    socs: tuple[str, ...] = ()
    """Names that its device gives itself."""
    note: str = ""

    def peak(self, dtype: str) -> Figure | None:
        """The most operations a second in a dtype, on whichever unit; None: not known."""
        rates = [rates[dtype] for rates in (self.matrix, self.vector) if dtype in rates]
        return max(rates, key=lambda rate: rate.value, default=None)


class Multiple(Struct, frozen=True):
    """A size of which the matrix unit wants multiples, in elements."""

    elements: int
    evidence: Cited = ()
    note: str = ""


class Format(Struct, frozen=True):
    """A memory format that the chip's kernels are best in."""

    name: str
    """As PyTorch calls it: ``channels_last``."""
    text: str
    """For what."""
    evidence: Cited = ()


class Compiler(Struct, frozen=True):
    """A compiler of graphs for the chip."""

    name: str
    text: str
    evidence: Cited = ()


class Chip(Struct, frozen=True):
    """A target's chip, which may be sold as several products."""

    vendor: str
    chip: str
    name: str
    """``NVIDIA A100``."""
    products: tuple[Product, ...] = ()
    """By name; () where nobody has said."""
    default: str = ""
    """The product that is meant where none is named; "" where none stands for the others."""
    why: str = ""
    """Why that one."""
    multiples: Mapping[str, Multiple] = field(default_factory=dict)
    """dtype -> what sizes of matrices should divide by."""
    formats: tuple[Format, ...] = ()
    compilers: tuple[Compiler, ...] = ()
    note: str = ""

    @property
    def single(self) -> Product | None:
        """The only product, or the one that is meant where none is named."""
        if len(self.products) == 1:
            return self.products[0]
        return next((each for each in self.products if each.name == self.default), None)
