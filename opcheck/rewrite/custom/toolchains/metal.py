"""Metal, for Apple's GPUs."""

from collections.abc import Mapping
from typing import ClassVar

from opcheck.rewrite.custom.base import Body, Toolchain, by_number, pytorch
from opcheck.rewrite.custom.expressions import FUNCTIONS
from opcheck.rewrite.custom.nests import Language
from opcheck.rewrite.custom.nests_c import InC, words
from opcheck.rewrite.custom.signature import Signature
from opcheck.rewrite.custom.translate import Dialect

_LACKS = frozenset(["erf", "erfc", "expm1", "lgamma", "log1p", "hypot", "where"])
LANGUAGE = Dialect(
    functions={
        name: f"precise::{name}" if name in ("exp", "log", "sin", "cos", "tan", "pow") else name
        for name in FUNCTIONS - _LACKS
    }
    | {"abs": "fabs"},
    where="({0} ? {1} : {2})",
    number="T({0!r}f)",
    inf="T(INFINITY)",
    nan="T(NAN)",
    assignment="const T {0} = {1};",
    assignment_of_any="const auto {0} = {1};",
    joint={"&": "&&", "|": "||"},
    condition="T({0})",
)
"""Metal's shading language; what it lacks is said in what it has, but for ``lgamma``."""
_NUMBERS = {"abs": "fabs", "floor": "floor", "rint": "rint", "exp": "precise::exp", "sqrt": "sqrt"}
NEST = InC(
    Language(
        words({name: f"{word}({{0}})" for name, word in _NUMBERS.items()}, "long", "T({0}f)"),
        "{0}_at[{1}]",
    ),
    whole="long",
)


class Metal(Toolchain):
    """A kernel in Metal's shading language, compiled by ``torch.mps.compile_shader`` on import."""

    name = "metal"
    title = "Metal"
    vendors = ("apple",)
    dtypes = ("float32", "int64")
    files: ClassVar[Mapping[str, str]] = {
        "{name}/kernel.metal": "metal/kernel.metal.j2",
        "{name}/kernel.py": "metal/kernel.py.j2",
        "setup.py": "python/setup.py.j2",
    }
    families: ClassVar[Mapping[str, str]] = {
        "{name}/kernel.metal": "metal/{kind}.metal.j2",
        "{name}/kernel.py": "metal/family.py.j2",
    }
    checked = (
        "the kernel compiles with a host compiler against a stand-in for Metal's library, and what "
        "it computes is compared with the CPU's; Metal's compiler, which is on macOS alone, has "
        "not seen it"
    )
    needs = "a torch whose torch.mps has compile_shader"
    build = ("pip install --no-build-isolation -e .",)
    left = "{name}/kernel.metal"
    evidence = (pytorch("torch/mps/__init__.py"),)

    def body(self, signature: Signature, chip: str = "") -> Body:
        """Translate the expression, where there is one."""
        return by_number(signature, LANGUAGE, NEST.lines, self.title)
