"""What a toolchain is: for whom it builds, from which files, and what it can say of a kernel."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

from msgspec import Struct

import opcheck.rewrite.custom.toolchains
from opcheck.lang.sentence import Sentence
from opcheck.model.verdict import Evidence, Method
from opcheck.registry import discover
from opcheck.rewrite.custom.definitions import UntranslatableError
from opcheck.rewrite.custom.expressions import stated, statements
from opcheck.rewrite.custom.families import written
from opcheck.rewrite.custom.families.interface import Family, family, interface
from opcheck.rewrite.custom.families.loops import Loops
from opcheck.rewrite.custom.nests import Names
from opcheck.rewrite.custom.signature import Signature
from opcheck.rewrite.custom.translate import Dialect, Program, VectorDialect

Nest = Callable[[str, Names], tuple[str, ...]]
"""Writes a nest of loops in a language, by its text and what that may read."""


class Body(Struct, frozen=True):
    """What a kernel computes for one place of the result."""

    lines: tuple[str, ...] = ()
    """Empty where it is left to write."""
    stated: tuple[str, ...] = ()
    """The same as an expression, to be read beside it."""
    value: str = ""
    """Where the value is, in a language of vectors."""
    buffers: int = 0
    """Vectors that it needs beside inputs and result."""
    left: str = ""
    """Why it is left to write; "" where it is written."""
    family: Family | None = None
    """The family of operators that it is written for, if it is not computed number by number."""
    parts: Mapping[str, Any] = {}
    """Function of a family's kernel -> its lines, or its program of instructions."""

    @property
    def written(self) -> bool:
        """Whether nothing is left to write."""
        return not self.left


class Toolchain(ABC):
    """One way to build a kernel for a vendor; a file in ``toolchains`` and a folder of templates.

    The docstring of the class is what the project's README says of it.
    """

    name: ClassVar[str]
    """``ascend-c``."""
    title: ClassVar[str]
    """``Ascend C``."""
    vendors: ClassVar[tuple[str, ...]]
    """Folder names in the database; the toolchain of a vendor with the lowest ``order`` is
    chosen unasked."""
    order: ClassVar[int] = 0
    dtypes: ClassVar[tuple[str, ...]] = ("float32", "float64", "int64")
    """In which the kernel computes; others are converted before and after."""
    tile: ClassVar[int] = 1024
    """Numbers that an instruction on a vector takes."""
    family_tile: ClassVar[int] = 1
    """The same in the kernels of families, where what does not fill a tile is filled up."""
    columns: ClassVar[bool] = False
    """Whether a vector holds numbers of many rows, which then lie across each other."""
    files: ClassVar[Mapping[str, str]]
    """Path in the project -> template; ``{name}`` in a path is the package's name."""
    families: ClassVar[Mapping[str, str]]
    """The same of files that are others for a family; ``{kind}`` in a template is the family's."""
    interpreted: ClassVar[bool] = False
    """Whether an interpreter computes what is compared with the CPU's, where opcheck is made; else
    a host compiler has made a library of the kernels."""
    checked: ClassVar[str]
    """How far the templates are checked where opcheck is made, as a sentence."""
    plugin: ClassVar[str] = ""
    """The Python package to import first."""
    needs: ClassVar[str]
    """What has to be installed to build it, as a sentence."""
    build: ClassVar[tuple[str, ...]]
    """Shell lines that build it, in the project's folder."""
    left: ClassVar[str]
    """The file in which the marked function is, by ``{name}``."""
    evidence: ClassVar[tuple[Evidence, ...]]

    @abstractmethod
    def body(self, signature: Signature, chip: str = "") -> Body:
        """What can be written of the kernel itself, for a chip where they differ."""


@cache
def toolchains() -> tuple[Toolchain, ...]:
    """Every toolchain, by name."""
    found = discover(opcheck.rewrite.custom.toolchains, Toolchain)  # type: ignore[type-abstract]  # only subclasses come
    return tuple(kind() for kind in found)


def of_vendor(vendor: str) -> tuple[Toolchain, ...]:
    """The toolchains of a vendor's devices, the one chosen unasked first."""
    found = [chain for chain in toolchains() if vendor in chain.vendors]
    return tuple(sorted(found, key=lambda chain: (chain.order, chain.name)))


REFUSED: Mapping[str, str] = {
    "google": (
        "a TPU runs what XLA compiles; a Pallas kernel is called by name in the model "
        "(torch_xla.experimental.custom_kernel), it cannot be registered for an overload"
    ),
    "ascend-torchair": (
        "TorchAir takes converters, not kernels: @torchair.register_fx_node_ge_converter writes "
        "one for an operator of its graph engine"
    ),
    "nvidia-tensorrt": (
        "TensorRT takes plugins and converters, not kernels; PyTorch runs what it does not "
        "convert on the same GPU"
    ),
}
"""Vendors that no project can be written for, and why."""


def refused(vendor: str) -> str:
    """Why no project can be written for a vendor's devices."""
    return REFUSED.get(vendor, Sentence("no toolchain of {vendor}'s is known", vendor=vendor))


def pytorch(path: str) -> Evidence:
    """A file of PyTorch's."""
    commit = "035290b77d8b4bd106cf5f9a728516d4335d5a42"
    return Evidence(Method.DOCUMENTED, "pytorch/pytorch", path, commit=commit)


def no_expression(signature: Signature) -> str:
    """Why nothing can be written of a kernel: there is no expression for it."""
    if signature.pointwise:
        return "no expression for it is known here"
    return (
        "it is neither computed number by number nor a reduction, scan, gather, product or nest of "
        "loops that is known here"
    )


def by_number(signature: Signature, language: Dialect, nest: Nest, title: str) -> Body:
    """A body in a language that computes one number at a time."""
    try:
        if isinstance(found := family(signature.op), Loops):
            lines = nest(found.text, written.names(found, interface(found, signature)))
            return Body(stated=found.stated(), family=found, parts={"loops": lines})
        if found:
            parts = written.by_number(found, language)
            return Body(stated=found.stated(), family=found, parts=parts)
        if not signature.pointwise or not statements(signature.op):
            return Body(left=no_expression(signature))
        lines = language.lines(statements(signature.op))
    except UntranslatableError as error:
        return Body(left=_no_word(str(error), title))
    return Body(lines, stated(language.spelled(statements(signature.op))))


def by_vector(
    signature: Signature, language: VectorDialect, nest: Nest, title: str, number: str
) -> Body:
    """A body in a language that computes whole vectors.

    Args:
        signature: of the overload.
        language: in which it is written.
        nest: the same of single numbers.
        title: of the toolchain.
        number: where an argument {0} that is a number is in the kernel.
    """
    try:
        if isinstance(found := family(signature.op), Loops):
            lines = nest(found.text, written.names(found, interface(found, signature)))
            loops = {"loops": Program(lines, {}, 0)}
            return Body(stated=found.stated(), family=found, parts=loops)
        if found:
            parts = written.by_vector(found, interface(found, signature), language, number)
            most = max((program.buffers for program in parts.values()), default=0)
            return Body(stated=found.stated(), buffers=most, family=found, parts=parts)
        if not signature.pointwise or not statements(signature.op):
            return Body(left=no_expression(signature))
        inputs = {a.name: f"given_{a.name}" for a in signature.tensors}
        numbers = {a.name: f"float({number.format(a.name)})" for a in signature.values}
        program = language.program(statements(signature.op), inputs, numbers)
    except UntranslatableError as error:
        return Body(left=_no_word(str(error), title))
    told = stated(language.spelled(statements(signature.op)))
    return Body(program.lines, told, program.values[""], program.buffers)


def _no_word(what: str, title: str) -> str:
    """Why nothing can be written of a kernel: the language lacks a part of its expression."""
    return Sentence("{text} is not known to have {list}", text=title, list=what)
