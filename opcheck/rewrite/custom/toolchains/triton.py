"""Triton, where the vendor has one."""

from collections.abc import Mapping
from typing import ClassVar

from opcheck.rewrite.custom.base import Body, Toolchain, by_number, pytorch
from opcheck.rewrite.custom.expressions import FUNCTIONS
from opcheck.rewrite.custom.signature import Signature
from opcheck.rewrite.custom.translate import Dialect

_OWN = ("abs", "ceil", "cos", "erf", "exp", "exp2", "floor", "log", "log2", "sin", "sqrt")
_LIBRARY = FUNCTIONS - set(_OWN) - {"where", "fmax", "fmin", "signbit"}
LANGUAGE = Dialect(
    functions={name: f"tl.{name}" for name in _OWN} | {n: f"libdevice.{n}" for n in _LIBRARY},
    where="tl.where({0}, {1}, {2})",
    number="{0!r}",
    inf='float("inf")',
    nan='float("nan")',
    assignment="{0} = {1}",
    chosen="tl.full([], {0}, kind)",
)
"""Triton's own functions, and those of the vendor's device library; ``kind`` is the dtype."""


class Triton(Toolchain):
    """A kernel in Triton, compiled when it is first called; there is nothing to build."""

    name = "triton"
    title = "Triton"
    vendors = ("nvidia", "amd", "intel")
    order = 1
    files: ClassVar[Mapping[str, str]] = {
        "{name}/kernel.py": "triton/kernel.py.j2",
        "setup.py": "python/setup.py.j2",
    }
    families: ClassVar[Mapping[str, str]] = {"{name}/kernel.py": "triton/{kind}.py.j2"}
    checked = (
        "the kernel runs in Triton's interpreter, where Triton is installed, with stand-ins for "
        "the functions of the vendor's device library"
    )
    needs = "the Triton that comes with the vendor's torch"
    build = ("pip install --no-build-isolation -e .",)
    left = "{name}/kernel.py"
    evidence = (pytorch("torch/_library/triton.py"),)

    def body(self, signature: Signature, chip: str = "") -> Body:
        """Translate the expression, where there is one."""
        return by_number(signature, LANGUAGE, self.title)
