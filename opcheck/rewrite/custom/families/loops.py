"""Results whose every number is computed by loops over the numbers that it depends on.

The text of a nest is as in :mod:`opcheck.rewrite.custom.nests`. What it reads of sizes and values
is said by expressions that the host computes, which read the same in Python and in C++: over the
overload's arguments and ``shape0``, the shape of the result, with the functions of ``HOST``.
"""

import ast
import re
from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

_HOST = """
    size_of numel_of length_of after_of along_of item_of given_of number_of quotient_of either_of
    scale_of step_of extent_of truth_of rank_of root_of
"""
HOST = frozenset(_HOST.split())

"""Functions of ``python/host.j2`` and ``binding/places_helpers.j2``."""


class Loops(Struct, frozen=True, dict=True):
    """One text for each place of the result."""

    code: str
    tensors: tuple[str, ...] = ("self",)
    """What the kernel reads, contiguous; where it is left out, one number stands for it."""
    sizes: Mapping[str, str] = {}
    """Integer of the kernel -> expression of the host."""
    values: Mapping[str, str] = {}
    """Number of the kernel -> expression of the host."""
    wholes: tuple[str, ...] = ()
    """Tensors that hold integers."""
    whole_results: tuple[int, ...] = ()
    """Results that are integers."""
    places: str = "numel_of(shape0)"
    """How many places the text is computed for."""
    refused: Mapping[str, str] = {}
    """Condition of the host -> what the kernel does not compute."""
    integers: bool = False
    """Whether the numbers may be integers."""
    promised: int = 0
    """How many of the first results the overload promises; 0: all. Others serve its gradient."""
    by_reference: bool = False
    """Whether the gradient is that of the reference, which is made of plain operators."""
    number: str = ""
    """The tensor whose dtype is computed in; "" for that of the result."""

    @property
    def kind(self) -> str:
        """The name of the template."""
        return "loops"

    @cached_property
    def text(self) -> str:
        """The nest, of which each line has the depth that it has in Python."""
        lines = [line for line in self.code.splitlines() if line.strip()]
        depth = min(len(line) - len(line.lstrip()) for line in lines)
        return "\n".join(line[depth:].rstrip() for line in lines)

    @property
    def host(self) -> str:
        """All expressions of the host, to be searched."""
        texts = (*self.sizes.values(), *self.values.values(), self.places, *self.refused)
        return " ".join(texts)

    @property
    def alone(self) -> bool:
        """Whether each place writes the number of the result that has its own number."""
        return not re.search(r"^\s*result\d\[", self.text, re.MULTILINE)

    def stated(self) -> tuple[str, ...]:
        """The nest as text, to be read beside the kernel."""
        given = {**self.sizes, **self.values}
        return (
            *(f"{name} = {value}" for name, value in given.items()),
            f"for each place of {self.places}:",
            *(f"  {line}" for line in self.text.splitlines()),
        )


def names_read(expression: str) -> frozenset[str]:
    """The names that an expression of the host reads, apart from its functions."""
    nodes = ast.walk(ast.parse(expression, mode="eval"))
    return frozenset(n.id for n in nodes if isinstance(n, ast.Name)) - HOST


def axes(rank: int) -> tuple[str, ...]:
    """Names of the dimensions behind the planes: depth, height, width."""
    return ("depth", "height", "width")[3 - rank :]


def places_of(rank: int, prefix: str = "out") -> str:
    """Lines that take a place apart: ``plane``, ``at_depth``, ``at_height``, ``at_width``."""
    found, left = list[str](), "place"
    for axis in reversed(axes(rank)):
        found.append(f"at_{axis} = {left} % {prefix}_{axis}")
        left = f"{left} // {prefix}_{axis}"
    return "\n".join([*found, f"plane = {left}"])


def index_of(rank: int, place: str, prefix: str = "in", first: str = "plane") -> str:
    """The index of a number by the names of its places, such as ``row_{axis}``."""
    found = first
    for axis in axes(rank):
        found = f"({found}) * {prefix}_{axis} + {place.format(axis)}"
    return found


def nested(levels: list[str], inner: str) -> str:
    """Lines of which each level is a loop or a condition around the next, behind its own lines."""
    found, depth = list[str](), 0
    for level in levels:
        for line in level.strip("\n").splitlines():
            found.append("    " * depth + line)
        depth += 1
    return "\n".join([*found, *("    " * depth + line for line in inner.strip("\n").splitlines())])


def inside(rank: int, place: str, prefix: str = "in") -> str:
    """The condition that places are those of a tensor."""
    found = [
        f"({place.format(axis)} >= 0) & ({place.format(axis)} < {prefix}_{axis})"
        for axis in axes(rank)
    ]
    return " & ".join(found)


def sizes_of(tensor: str, rank: int, prefix: str) -> dict[str, str]:
    """The last sizes of a tensor."""
    return {f"{prefix}_{a}": f"size_of({tensor}, {i - rank})" for i, a in enumerate(axes(rank))}


def listed(rank: int, name: str, argument: str, fallback: str = "1") -> dict[str, str]:
    """A list of integers, one for each dimension; a single one serves all."""
    found = {}
    for i, axis in enumerate(axes(rank)):
        other = fallback.replace("#", str(i))
        found[f"{name}_{axis}"] = f"item_of({argument}, {i}, {other})"
    return found
