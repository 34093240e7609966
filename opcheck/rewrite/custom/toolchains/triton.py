"""Triton, where the vendor has one."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from msgspec.structs import replace

from opcheck.model.verdict import Evidence, Method
from opcheck.rewrite.custom import nests_triton
from opcheck.rewrite.custom.base import Body, Toolchain, by_number, pytorch
from opcheck.rewrite.custom.expressions import FUNCTIONS
from opcheck.rewrite.custom.families.folds import NOWHERE
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
    vendors: ClassVar[tuple[str, ...]] = ("nvidia", "amd", "intel")
    order = 1
    files: ClassVar[Mapping[str, str]] = {
        "{name}/kernel.py": "triton/kernel.py.j2",
        "setup.py": "python/setup.py.j2",
    }
    families: ClassVar[Mapping[str, str]] = {"{name}/kernel.py": "triton/{kind}.py.j2"}
    checked = (
        "the kernel runs in Triton's interpreter, where Triton is installed, with stand-ins for "
        "the functions of the vendor's device library; those of reductions, scans, gathers, "
        "scatters, products and loops compile for GPUs of NVIDIA's and AMD's"
    )
    interpreted = True
    needs = "the Triton that comes with the vendor's torch"
    build = ("pip install --no-build-isolation -e .",)
    left = "{name}/kernel.py"
    evidence: ClassVar[tuple[Evidence, ...]] = (pytorch("torch/_library/triton.py"),)

    language: ClassVar[Dialect] = LANGUAGE
    whole: ClassVar[str] = "tl.int64"
    """In what places in a row are counted."""
    behind: ClassVar[str] = str(NOWHERE)
    """A place behind all others."""

    def body(self, signature: Signature, chip: str = "") -> Body:
        """Translate the expression, where there is one."""
        nest = partial(nests_triton.lines, whole=self.whole)
        return by_number(signature, self.language, nest, self.title)


class TritonAscend(Triton):
    """A kernel in Triton for Ascend, compiled when it is first called; there is nothing to build.

    Triton-Ascend chooses by no integers of 64 bits and has no vendor's library of functions: places
    are counted in 32 bits, and functions that Triton itself lacks are said by those that it has.
    """

    name = "triton-ascend"
    title = "Triton-Ascend"
    vendors = ("ascend",)
    dtypes = ("float32",)
    checked = (
        "the kernel runs in the interpreter of OpenAI's Triton, where Triton is installed; "
        "Triton-Ascend has not seen it"
    )
    plugin = "torch_npu"
    needs = "torch_npu, and triton-ascend with the CANN that it is made for"
    evidence = tuple(
        Evidence(
            Method.DOCUMENTED, "Ascend/triton-ascend", path,
            commit="eeb030e7bb71f8a251c5d378dbe2977e8b8dbb83",
        )
        for path in (
            "docs/sources/python-api/outline.md",
            "docs/en/migration_guide/migrate_from_gpu.md",
        )
    )  # fmt: skip
    language = replace(LANGUAGE, functions={name: f"tl.{name}" for name in _OWN})
    whole = "tl.int32"
    behind = str(2**31 - 1)
