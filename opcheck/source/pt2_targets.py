"""What a node of an exported graph may call: an exact list of each kind, read without torch.

Both readers of a graph take a target apart here and nowhere else, so what one of them refuses the
other refuses too. A name is looked up by nobody before it has passed.
"""

import re
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from opcheck.model.names import OpName

HIGHER_ORDER = "higher_order"
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LONGEST = 200
_OPERATORS = "torch.ops."
_HIGHER_ORDER_IN_2_4 = re.compile(r"torch\._higher_order_ops\.[a-z_]+\.([a-z_]+)")
"""torch 2.4 names a higher-order operator by the module that defines it."""

PYTHON = frozenset(
    {
        *(
            f"_operator.{name}"
            for name in (
                "eq", "ne", "le", "ge", "lt", "gt", "neg", "pos", "mul", "add", "sub", "floordiv",
                "mod", "pow", "truediv", "and_", "or_", "lshift", "rshift", "not_",
            )
        ),
        *(f"math.{name}" for name in ("trunc", "floor", "ceil", "sqrt")),
        *(
            f"torch.{name}"
            for name in (
                "sym_not", "sym_int", "sym_float", "sym_ite", "sym_max", "sym_min", "sym_sqrt",
                "sym_sum", "_sym_sqrt",
            )
        ),
        "torch.ops.aten.sym_size.int",
        "torch.ops.aten.sym_stride.int",
        "torch.ops.aten.sym_numel.default",
        "torch.ops.aten.sym_storage_offset.default",
        "torch.ops.aten.sym_is_contiguous.default",
    }
)  # fmt: skip
"""What torch.export writes (torch 2.3 to 2.15) that computes on Python numbers, or reads them from
a tensor: no device takes part."""

_DUNDERS = frozenset(
    {"__and__", "__iand__", "__ilshift__", "__ior__", "__irshift__", "__ixor__", "__lshift__",
     "__or__", "__rshift__", "__xor__"}
)  # fmt: skip
"""Operators of aten that are named as Python's methods are."""
_RESERVED = frozenset({"load_library", "import_module", "loaded_libraries", "_dir", "prim"})
"""Attributes of ``torch.ops`` that are no namespace, and one that belongs to TorchScript."""
REACHING = frozenset(
    {
        "aten::_print", "aten::_test_ambiguous_defaults.b", "aten::_test_string_default",
        "aten::from_file", "aten::from_file.out", "aten::get_gradients", "aten::qscheme",
        "aten::quantized_gru.data", "aten::quantized_gru.input", "aten::quantized_lstm.data",
        "aten::quantized_lstm.input", "aten::record_stream", "aten::save",
        "aten::set.source_Storage", "aten::set.source_Storage_out",
        "aten::set.source_Storage_storage_offset", "aten::set.source_Storage_storage_offset_out",
        "aten::set_.source_Storage", "aten::set_.source_Storage_storage_offset",
    }
)  # fmt: skip
"""Operators whose schema reaches beyond tensors and numbers, as the schemas of torch 2.13 have it:
a test compares them. Where torch is loaded its schemas decide, not this list."""


_TAKEN = _RESERVED | {HIGHER_ORDER}


class Kind(Enum):
    """What sort of thing a target is."""

    OPERATOR = "operator"
    PYTHON = "Python function"
    HIGHER_ORDER = "higher-order operator"


class Target(Struct, frozen=True):
    """One target, parsed."""

    text: str
    kind: Kind
    op: OpName | None = None
    """The operator in schema spelling; none for a Python function."""


@lru_cache(maxsize=4096)  # a graph calls a few dozen; a hostile one may name millions
def parse_target(text: str) -> Target:
    """Take a target apart.

    Raises:
        ValueError: it is nothing that a graph may call.
    """
    if text in PYTHON:
        return Target(text, Kind.PYTHON)
    if len(text) > _LONGEST:
        raise ValueError(f"it calls a name of {len(text)} characters")
    older = _HIGHER_ORDER_IN_2_4.fullmatch(text)
    if older is not None:
        return Target(text, Kind.HIGHER_ORDER, OpName(HIGHER_ORDER, older[1]))
    if not text.startswith(_OPERATORS):
        raise ValueError(f"it calls {text!r}, which is no operator")
    match text.removeprefix(_OPERATORS).split("."):
        case [namespace, base] if namespace == HIGHER_ORDER and _named(base):
            return Target(text, Kind.HIGHER_ORDER, OpName(HIGHER_ORDER, base))
        case [namespace, base] | [namespace, base, "default"]:
            op = OpName(namespace, base)
        case [namespace, base, overload]:
            op = OpName(namespace, base, overload)
        case _:
            raise ValueError(f"it calls {text!r}, which is no operator")
    if not _is_operator(op):
        raise ValueError(f"it calls {text!r}, which is no operator")
    if str(op) in REACHING:
        raise ValueError(f"it calls {op}, which no file may have called")
    return Target(text, Kind.OPERATOR, op)


def _is_operator(op: OpName) -> bool:
    base = _named(op.base) or (op.namespace == "aten" and op.base in _DUNDERS)
    overload = not op.overload or _named(op.overload)
    return base and overload and _named(op.namespace) and op.namespace not in _TAKEN


def _named(name: str) -> bool:
    """Whether it is an identifier, and none of those that Python keeps for itself."""
    if not _IDENTIFIER.fullmatch(name):
        return False
    return not (name.startswith("__") and name.endswith("__"))
