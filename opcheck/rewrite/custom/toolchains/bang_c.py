"""BANG C, for Cambricon's devices."""

from collections.abc import Mapping
from typing import ClassVar

from opcheck.model.verdict import Evidence, Method
from opcheck.rewrite.custom.base import Body, Toolchain, by_vector
from opcheck.rewrite.custom.families.interface import family
from opcheck.rewrite.custom.families.loops import Loops
from opcheck.rewrite.custom.nests import Language
from opcheck.rewrite.custom.nests_c import OWN, InC
from opcheck.rewrite.custom.signature import Signature
from opcheck.rewrite.custom.translate import VectorDialect

_COMMIT = "9e95f972d3bfda0a855f9500aec852664ceecb6a"
_COMPARED = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
LANGUAGE = VectorDialect(
    unary={
        "-": "__bang_mul_scalar({d}, {a}, -1.0f, COUNT);",
        "abs": "__bang_abs({d}, {a}, COUNT);",
        "cos": "__bang_cos({d}, {a}, COUNT);",
        "exp": "__bang_mul_scalar({d}, {a}, 1.442695041f, COUNT);\n__bang_pow2({d}, {d}, COUNT);",
        "exp2": "__bang_pow2({d}, {a}, COUNT);",
        "floor": "__bang_floor({d}, {a}, COUNT);",
        "log": "__bang_log2({d}, {a}, COUNT);\n__bang_mul_scalar({d}, {d}, 0.6931471806f, COUNT);",
        "log2": "__bang_log2({d}, {a}, COUNT);",
        "sin": "__bang_sin({d}, {a}, COUNT);",
        "sqrt": "__bang_sqrt({d}, {a}, COUNT);",
    },
    binary={
        "+": "__bang_add({d}, {a}, {b}, COUNT);",
        "-": "__bang_sub({d}, {a}, {b}, COUNT);",
        "*": "__bang_mul({d}, {a}, {b}, COUNT);",
        "/": "__bang_recip({d}, {b}, COUNT);\n__bang_mul({d}, {a}, {d}, COUNT);",
    },
    scalar={
        "+": "__bang_add_scalar({d}, {a}, {value}, COUNT);",
        "*": "__bang_mul_scalar({d}, {a}, {value}, COUNT);",
    },
    fill="__bang_write_value({d}, COUNT, {value});",
    buffer="step{0}",
    inf="__builtin_inff()",
    nan='__builtin_nanf("")',
    choose={
        sign: f"__bang_{word}({{d}}, {{a}}, {{b}}, COUNT);\nchoose({{d}}, {{x}}, {{y}});"
        for sign, word in _COMPARED.items()
    },
)
"""Instructions on vectors in NRAM, of chips from BANG architecture 3 on; ``choose`` is in the
template, of the bitwise ones."""
ALONE = InC(Language(OWN, "{0}[{1}]"), write="{0}_at[n] = T({2});")
"""Of single numbers, which gather in NRAM before they are copied out."""
ANYWHERE = InC(Language(OWN, "{0}[{1}]"), write="{0}_at[{1}] = T({2});")
"""The same where numbers of the result are written anywhere, right into memory."""


class BangC(Toolchain):
    """A kernel in BANG C, built with cncc by torch_mlu's own extension builder.

    It is written for chips of BANG architecture 3 on (MLU370, MLU590).
    """

    name = "bang-c"
    title = "BANG C"
    vendors = ("cambricon",)
    dtypes = ("float32",)
    columns = True
    family_tile = 512
    tile = 4096
    files: ClassVar[Mapping[str, str]] = {
        "setup.py": "bang_c/setup.py.j2",
        "csrc/kernel.h": "bang_c/kernel.h.j2",
        "csrc/kernel.mlu": "bang_c/kernel.mlu.j2",
        "csrc/binding.cpp": "binding.cpp.j2",
    }
    families: ClassVar[Mapping[str, str]] = {
        "csrc/kernel.h": "bang_c/family.h.j2",
        "csrc/kernel.mlu": "bang_c/{kind}.mlu.j2",
    }
    checked = (
        "the kernel compiles with a host compiler against a stand-in for BANG's header, and what "
        "it computes is compared with the CPU's; cncc has not seen it"
    )
    plugin = "torch_mlu"
    needs = "torch_mlu, and NEUWARE_HOME with cncc"
    build = ("python setup.py develop",)
    left = "csrc/kernel.mlu"
    evidence = tuple(
        Evidence(Method.DOCUMENTED, "Cambricon/torch_mlu", path, commit=_COMMIT)
        for path in (
            "examples/mlu_extension/setup.py",
            "examples/mlu_extension/mlu_custom_ext/how_to_write_op_with_mlu_extension.md",
        )
    )
    stream_header = "framework/core/MLUStream.h"
    stream = "torch_mlu::getCurMLUStream()"

    def body(self, signature: Signature, chip: str = "") -> Body:
        """Translate the expression into vector instructions, where there is one."""
        found = family(signature.op)
        nest = ANYWHERE if isinstance(found, Loops) and not found.alone else ALONE
        return by_vector(signature, LANGUAGE, nest.lines, self.title, "given.{0}")
