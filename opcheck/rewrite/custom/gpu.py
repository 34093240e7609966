"""What CUDA, HIP and MUSA share: one kernel text, for one number at a time."""

from opcheck.rewrite.custom.base import Body, Toolchain, by_number
from opcheck.rewrite.custom.expressions import FUNCTIONS
from opcheck.rewrite.custom.signature import Signature
from opcheck.rewrite.custom.translate import Dialect

LANGUAGE = Dialect(
    functions={name: {"abs": "fabs"}.get(name, name) for name in FUNCTIONS},
    where="({0} ? {1} : {2})",
    number="T({0!r})",
    inf="T(INFINITY)",
    nan="T(NAN)",
    assignment="const T {0} = {1};",
    joint={"&": "&&", "|": "||"},
    condition="T({0})",
)
"""C++ with ``T`` for the type of a number."""


class GpuToolchain(Toolchain):
    """Kernels for one place of the result a thread."""

    language: Dialect = LANGUAGE

    def body(self, signature: Signature, chip: str = "") -> Body:
        """Translate the expression, where there is one."""
        return by_number(signature, self.language, self.title)
