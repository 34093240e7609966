"""Ascend C, for Huawei's NPUs."""

from collections.abc import Mapping
from typing import ClassVar

from msgspec.structs import replace

from opcheck.model.verdict import Evidence, Method
from opcheck.rewrite.custom.base import Body, Toolchain, by_vector
from opcheck.rewrite.custom.families.gathers import Scatter
from opcheck.rewrite.custom.families.interface import family
from opcheck.rewrite.custom.families.loops import Loops
from opcheck.rewrite.custom.nests import Language
from opcheck.rewrite.custom.nests_c import OWN, InC
from opcheck.rewrite.custom.signature import Signature
from opcheck.rewrite.custom.translate import VectorDialect

_COMMIT = "09024aa99e234be0456a41f02585f060389d488f"
_BASIC = {"abs": "Abs", "exp": "Exp", "log": "Ln", "sqrt": "Sqrt"}
_LIBRARY = {
    "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan",
    "atanh": "Atanh", "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "erfc": "Erfc",
    "floor": "Floor", "lgamma": "Lgamma", "sin": "Sin", "sinh": "Sinh", "tan": "Tan",
    "tanh": "Tanh", "trunc": "Trunc",
}  # fmt: skip
_BINARY = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div"}
_LIBRARY_OF_TWO = {"pow": "Power", "fmod": "Fmod"}
_MODES = {"<": "LT", "<=": "LE", ">": "GT", ">=": "GE", "==": "EQ", "!=": "NE"}


def _unary(words: Mapping[str, str]) -> dict[str, str]:
    found = {name: f"AscendC::{word}({{d}}, {{a}}, TILE);" for name, word in words.items()}
    return {"-": "AscendC::Muls({d}, {a}, -1.0f, TILE);", **found}


def _binary(words: Mapping[str, str]) -> dict[str, str]:
    return {name: f"AscendC::{word}({{d}}, {{a}}, {{b}}, TILE);" for name, word in words.items()}


BASIC = VectorDialect(
    unary=_unary(_BASIC),
    binary=_binary(_BINARY),
    scalar={
        "+": "AscendC::Adds({d}, {a}, {value}, TILE);",
        "*": "AscendC::Muls({d}, {a}, {value}, TILE);",
    },
    fill="AscendC::Duplicate({d}, {value}, TILE);",
    buffer="step{0}",
    inf="__builtin_inff()",
    nan='__builtin_nanf("")',
)
"""Instructions on tiles in the unified buffer that every chip has."""
CHOOSING = replace(
    BASIC,
    choose={
        sign: (
            f"AscendC::Compare(mask, {{a}}, {{b}}, AscendC::CMPMODE::{mode}, TILE);\n"
            "AscendC::Select({d}, mask, {x}, {y}, AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, TILE);"
        )
        for sign, mode in _MODES.items()
    },
)
"""With a choice by a bit for each number, where a chip takes more than 64 of them."""
LANGUAGE = replace(
    CHOOSING,
    unary=_unary(_BASIC | _LIBRARY),
    binary=_binary(_BINARY | _LIBRARY_OF_TWO),
)
"""With the mathematical interface."""
_OF_CHIP = {"910a": BASIC, "310b": CHOOSING}
"""Chips that have no mathematical interface: Atlas training products, Atlas 200I and 500 A2."""


NEST = InC(Language(OWN, "{0}_.GetValue({1})"), write="{0}_at.SetValue(n, T({2}));")
"""Of single numbers, which a core reads and writes one after the other."""
_ONE_BY_ONE = (
    "numbers that are scattered one by one share lines of the cache, which cores do not keep the "
    "same for each other"
)


class AscendC(Toolchain):
    """An operator in Ascend C (host side with its tiling, and kernel), and its PyTorch binding.

    The operator is built and installed into CANN by ``build.sh``, which gives it an aclnn
    function; the binding calls that, and is built by torch_npu's own extension builder.
    """

    name = "ascend-c"
    title = "Ascend C"
    vendors = ("ascend",)
    dtypes = ("float32",)
    columns = True
    family_tile = 512
    files: ClassVar[Mapping[str, str]] = {
        "setup.py": "ascend_c/setup.py.j2",
        "build.sh": "ascend_c/build.sh.j2",
        "op/{name}.json": "ascend_c/operator.json.j2",
        "op/op_host/{name}_tiling.h": "ascend_c/tiling.h.j2",
        "op/op_host/{name}.cpp": "ascend_c/host.cpp.j2",
        "op/op_kernel/{name}.cpp": "ascend_c/kernel.cpp.j2",
        "csrc/binding.cpp": "binding.cpp.j2",
    }
    families: ClassVar[Mapping[str, str]] = {
        "op/op_host/{name}_tiling.h": "ascend_c/family_tiling.h.j2",
        "op/op_host/{name}.cpp": "ascend_c/family_host.cpp.j2",
        "op/op_kernel/{name}.cpp": "ascend_c/{kind}.cpp.j2",
        "op/{name}.json": "ascend_c/family.json.j2",
    }
    checked = (
        "host side and kernel compile with a host compiler against stand-ins for CANN's headers, "
        "and what they compute is compared with the CPU's; CANN has not seen them"
    )
    plugin = "torch_npu"
    needs = "torch_npu, and the CANN toolkit with msopgen"
    build = ("bash build.sh", "pip install --no-build-isolation -e .")
    left = "op/op_kernel/{name}.cpp"
    evidence = tuple(
        Evidence(Method.DOCUMENTED, "Ascend/op-plugin", path, commit=_COMMIT)
        for path in (
            "examples/README_en.md",
            "examples/cpp_extension_base/README_en.md",
            "examples/cpp_extension_base/setup.py",
        )
    )
    stream_header = "npu_cpp_extension.h"

    def body(self, signature: Signature, chip: str = "") -> Body:
        """Translate the expression into vector instructions, where there is one."""
        found = family(signature.op)
        if isinstance(found, Scatter | Loops) and not found.alone:
            return Body(left=_ONE_BY_ONE)
        return by_vector(signature, _OF_CHIP.get(chip, LANGUAGE), NEST.lines, self.title, "{0}_")
