"""Gathers and scatters: slices or single numbers of one dimension that an index picks.

The tensor that is indexed lies as ``[outer, length, inner]``; an index picks along ``length``. It
holds a list that serves whole slices, ``[count]``, or a place for each number of its own shape,
``[outer, count, inner]``.
"""

from collections.abc import Mapping

from msgspec import Struct


class Gather(Struct, frozen=True):
    """The result is what the index picks."""

    source: str
    """The tensor that is indexed."""
    index: str
    single: bool = False
    """Whether the index has a place for each number of its shape."""
    flat: bool = False
    """Whether it counts the numbers of the whole tensor, and from its end where it is negative."""
    dim: str = "dim"
    """The argument that names the dimension; "" for the first."""

    @property
    def kind(self) -> str:
        """The name of the template."""
        return "gather"

    @property
    def text(self) -> str:
        """It has no expression."""
        return ""

    def stated(self) -> tuple[str, ...]:
        """The gather as text, to be read beside the kernel."""
        place = "outer, j, inner" if self.single else "j"
        return (f"result[outer, j, inner] = {self.source}[outer, {self.index}[{place}], inner]",)


class Scatter(Struct, frozen=True):
    """The result is the first tensor, with numbers put where the index says, one by one."""

    put: str
    """What takes the place of ``old``: of ``old``, ``number`` and the values."""
    numbers: str = ""
    """The tensor of the numbers to put; "" where it is a value."""
    values: tuple[str, ...] = ()
    """The overload's numbers in ``put``."""
    single: bool = False
    """Whether the index has a place for each number of its shape."""
    source: str = "self"
    index: str = "index"
    dim: str = "dim"
    flat: bool = False

    @property
    def kind(self) -> str:
        """The name of the template."""
        return "scatter"

    @property
    def alone(self) -> bool:
        """Whether each core writes whole lines of the result."""
        return not self.single

    @property
    def text(self) -> str:
        """Its expression, to be searched."""
        return f"result0 = {self.put}"

    def stated(self) -> tuple[str, ...]:
        """The scatter as text, to be read beside the kernel."""
        place = "outer, j, inner" if self.single else "j"
        number = f", number = {self.numbers}[outer, j, inner]" if self.numbers else ""
        return (
            f"result = {self.source}; for each j:",
            f"  old = result[outer, {self.index}[{place}], inner]{number}",
            f"  result[outer, {self.index}[{place}], inner] = {self.put}",
        )


TABLE: Mapping[str, Gather | Scatter] = {
    "aten::index_select": Gather("self", "index"),
    "aten::embedding": Gather("weight", "indices", dim=""),
    "aten::gather": Gather("self", "index", single=True),
    "aten::take": Gather("self", "index", single=True, flat=True, dim=""),
    "aten::index_add": Scatter("old + number * alpha", "source", ("alpha",)),
    "aten::index_copy": Scatter("number", "source"),
    "aten::index_fill.int_Scalar": Scatter("value", values=("value",)),
    "aten::scatter_add": Scatter("old + number", "src", single=True),
    "aten::scatter.src": Scatter("number", "src", single=True),
    "aten::scatter.value": Scatter("value", values=("value",), single=True),
}
"""Functional overload -> what is picked or put."""
