"""What a chip has: memory, bandwidth, peak rates, and what its matrix unit likes."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from opcheck.model.verdict import Evidence

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
