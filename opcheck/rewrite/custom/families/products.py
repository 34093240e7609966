"""Products of matrices with an epilogue: what becomes of each sum before it is written."""

from collections.abc import Mapping

from msgspec import Struct


class Product(Struct, frozen=True):
    """Matrices ``[batch, rows, inner]`` and ``[batch, inner, columns]``, and what follows."""

    left: str
    right: str
    epilogue: str = "result0 = sum"
    """Assigns ``result0``, of the ``sum``, of ``bias`` and of the values."""
    bias: str = ""
    """The tensor that ``bias`` is a number of, spread over the result; "" for none."""
    values: tuple[str, ...] = ()
    """The overload's numbers in the epilogue."""
    turned: bool = False
    """Whether the right one comes as ``[columns, inner]``."""

    @property
    def kind(self) -> str:
        """The name of the template."""
        return "product"

    @property
    def text(self) -> str:
        """Its expression, to be searched."""
        return self.epilogue

    def stated(self) -> tuple[str, ...]:
        """The product as text, to be read beside the kernel."""
        return (
            f"sum = {self.left}[batch, row, :] times {self.right}[batch, :, column], added up",
            *([f"bias = {self.bias}[batch, row, column]"] if self.bias else []),
            *(line.strip() for line in self.epilogue.strip().splitlines()),
        )


_SCALED = "result0 = alpha * sum + where(beta == 0, 0, beta * bias)"
_ACTIVATED = """
    v = alpha * sum + where(beta == 0, 0, beta * bias)
    gelu = 0.5 * v * (1 + erf(v * 0.7071067811865476))
    relu = where((v > 0) | (v != v), v, 0)
    result0 = where(use_gelu != 0, gelu, relu)
"""
_BOTH = ("beta", "alpha")
TABLE: Mapping[str, Product] = {
    "aten::mm": Product("self", "mat2"),
    "aten::bmm": Product("self", "mat2"),
    "aten::mv": Product("self", "vec"),
    "aten::dot": Product("self", "tensor"),
    "aten::addmm": Product("mat1", "mat2", _SCALED, "self", _BOTH),
    "aten::baddbmm": Product("batch1", "batch2", _SCALED, "self", _BOTH),
    "aten::addmv": Product("mat", "vec", _SCALED, "self", _BOTH),
    "aten::_addmm_activation": Product(
        "mat1", "mat2", _ACTIVATED, "self", (*_BOTH, "use_gelu")
    ),
    "aten::linear": Product(
        "input", "weight", "result0 = sum + bias", "bias", turned=True
    ),
}  # fmt: skip
"""Functional overload -> the product that it is."""
