"""Ascend C, for Huawei's NPUs."""

from collections.abc import Mapping
from typing import ClassVar

from opcheck.model.verdict import Evidence, Method
from opcheck.rewrite.custom.base import Body, Toolchain, no_vector, no_word
from opcheck.rewrite.custom.signature import Signature
from opcheck.rewrite.custom.translate import UntranslatableError, VectorDialect

_COMMIT = "09024aa99e234be0456a41f02585f060389d488f"
_UNARY = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh",
    "atan": "Atan", "atanh": "Atanh", "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "erf": "Erf",
    "erfc": "Erfc", "exp": "Exp", "floor": "Floor", "lgamma": "Lgamma", "log": "Ln",
    "rint": "Round", "sin": "Sin", "sinh": "Sinh", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh",
    "trunc": "Trunc",
}  # fmt: skip
_BINARY = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "pow": "Power"}
_MODES = {"<": "LT", "<=": "LE", ">": "GT", ">=": "GE", "==": "EQ", "!=": "NE"}
LANGUAGE = VectorDialect(
    unary={
        "-": "AscendC::Muls({d}, {a}, -1.0f, TILE);",
        **{name: f"AscendC::{word}({{d}}, {{a}}, TILE);" for name, word in _UNARY.items()},
    },
    binary={sign: f"AscendC::{word}({{d}}, {{a}}, {{b}}, TILE);" for sign, word in _BINARY.items()},
    fill="AscendC::Duplicate({d}, {value}f, TILE);",
    buffer="step{0}",
    choose={
        sign: (
            f"AscendC::Compare(mask, {{a}}, {{b}}, AscendC::CMPMODE::{mode}, TILE);\n"
            "AscendC::Select({d}, mask, {x}, {y}, AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, TILE);"
        )
        for sign, mode in _MODES.items()
    },
)
"""Instructions on tiles in the unified buffer: the basic and the mathematical interface."""


class AscendC(Toolchain):
    """An operator in Ascend C (host side with its tiling, and kernel), and its PyTorch binding.

    The operator is built and installed into CANN by ``build.sh``, which gives it an aclnn
    function; the binding calls that, and is built by torch_npu's own extension builder.
    """

    name = "ascend-c"
    title = "Ascend C"
    vendors = ("ascend",)
    dtypes = ("float32",)
    files: ClassVar[Mapping[str, str]] = {
        "setup.py": "ascend_c/setup.py.j2",
        "build.sh": "ascend_c/build.sh.j2",
        "op/{name}.json": "ascend_c/operator.json.j2",
        "op/op_host/{name}_tiling.h": "ascend_c/tiling.h.j2",
        "op/op_host/{name}.cpp": "ascend_c/host.cpp.j2",
        "op/op_kernel/{name}.cpp": "ascend_c/kernel.cpp.j2",
        "csrc/binding.cpp": "binding.cpp.j2",
    }
    checked = (
        "host side and kernel compile with a host compiler against stand-ins for CANN's headers; "
        "CANN has not seen them"
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

    def body(self, signature: Signature) -> Body:
        """Translate the expression into vector instructions, where there is one."""
        if reason := no_vector(signature):
            return Body(left=reason)
        inputs = {a.name: f"given_{a.name}" for a in signature.tensors}
        try:
            lines, value, buffers = LANGUAGE.program(signature.op, inputs)
        except UntranslatableError as error:
            return Body(left=no_word(str(error), self.title))
        return Body(lines, value, buffers)
