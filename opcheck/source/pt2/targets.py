"""What a node of an exported graph may call: operators, and higher-order ones with operands."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from opcheck.lang.sentence import Sentence
from opcheck.model.plugins import PLUGINS
from opcheck.model.trace import OpName
from opcheck.source.pt2.values import by_name, variant
from opcheck.source.text_arguments import text_refusal

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
_RESERVED = frozenset(
    {"load_library", "import_module", "loaded_libraries", "_dir", "prim", "debugprims"}
)
"""Attributes of ``torch.ops`` that are no namespace, one that belongs to TorchScript, and one of
torch's own whose operators read files."""
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
        raise ValueError(Sentence("it calls a name of {count} characters", count=len(text)))
    older = _HIGHER_ORDER_IN_2_4.fullmatch(text)
    if older is not None:
        return Target(text, Kind.HIGHER_ORDER, OpName(HIGHER_ORDER, older[1]))
    if not text.startswith(_OPERATORS):
        raise ValueError(Sentence("it calls {text}, which is no operator", text=repr(text)))
    match text.removeprefix(_OPERATORS).split("."):
        case [namespace, base] if namespace == HIGHER_ORDER and _named(base):
            return Target(text, Kind.HIGHER_ORDER, OpName(HIGHER_ORDER, base))
        case [namespace, base] | [namespace, base, "default"]:
            op = OpName(namespace, base)
        case [namespace, base, overload]:
            op = OpName(namespace, base, overload)
        case _:
            raise ValueError(Sentence("it calls {text}, which is no operator", text=repr(text)))
    if not _is_operator(op):
        raise ValueError(Sentence("it calls {text}, which is no operator", text=repr(text)))
    if str(op) in REACHING:
        raise ValueError(Sentence("it calls {text}, which no file may have called", text=op))
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


Kinds = frozenset[str]
"""Members of the schema's union of arguments."""

_GRAPH = frozenset({"as_graph"})
_OPERATOR = frozenset({"as_operator"})
_TEXT = frozenset({"as_string"})
_NONE = frozenset({"as_none"})
_TRUTH = frozenset({"as_bool", "as_sym_bool"})
_LIST = frozenset(
    {"as_tensors", "as_ints", "as_sym_ints", "as_floats", "as_bools", "as_sym_floats",
     "as_sym_bools", "as_optional_tensors", "as_nested_tensors"}
)  # fmt: skip
_DTYPE = frozenset({"as_scalar_type"})
_ONE = frozenset(
    {"as_tensor", "as_int", "as_sym_int", "as_float", "as_sym_float", "as_optional_tensor"}
)
_PLAIN = _ONE | _LIST | _TRUTH | _NONE | _DTYPE | {"as_device", "as_layout", "as_memory_format"}
"""What holds tensors and numbers, and nothing that is called or looked up."""
_MAPPING = frozenset({"as_string_to_argument"})

_NAME = re.compile(r"[\w.]{1,200}", re.ASCII)
_OF_PYTORCH = frozenset({"aten", "prims", "quantized", "quantized_decomposed"})
DEVICE_TYPES = frozenset(
    {"cpu", "cuda", "xpu", "mps", "hpu", "xla", "meta", "mtia", "maia", "ipu", "vulkan", "hip",
     "privateuseone", *PLUGINS}
)  # fmt: skip


class HigherOrder(Struct, frozen=True):
    """What a higher-order operator takes, by position."""

    first: tuple[Kinds, ...]
    rest: Kinds = frozenset()
    """What each argument after those may be; empty where none may follow."""
    named: Mapping[str, Kinds] = field(default_factory=dict)
    of_operator: bool = False
    """Named arguments are those of the operator that it wraps."""


_OPERANDS = HigherOrder((_GRAPH,), _PLAIN)
_LOOP = HigherOrder((_GRAPH, _GRAPH, _LIST, _LIST))
_CHECKPOINT = HigherOrder(
    (_GRAPH,), _PLAIN, {"use_reentrant": _TRUTH, "preserve_rng_state": _TRUTH, "debug": _TRUTH}
)
_FUNCTIONAL = HigherOrder((_OPERATOR,), of_operator=True)
HIGHER_ORDERS: Mapping[str, HigherOrder] = {
    "associative_scan": _OPERANDS,
    "auto_functionalized": _FUNCTIONAL,
    "auto_functionalized_v2": _FUNCTIONAL,
    "cond": HigherOrder((_TRUTH | _ONE, _GRAPH, _GRAPH, _LIST)),
    "flex_attention": HigherOrder(
        (frozenset({"as_tensor"}),) * 3 + (_GRAPH,), _PLAIN | _GRAPH | _MAPPING
    ),
    "hints_wrapper": HigherOrder((_GRAPH,), _PLAIN | _MAPPING, {"hints": _MAPPING}),
    "invoke_subgraph": HigherOrder((_GRAPH, _TEXT | _NONE), _PLAIN),
    "map": _OPERANDS,
    "map_impl": _OPERANDS,
    "out_dtype": HigherOrder((_OPERATOR, _DTYPE), _PLAIN),
    "scan": _OPERANDS,
    "strict_mode": _OPERANDS,
    "tag_activation_checkpoint": _CHECKPOINT,
    "while_loop": _LOOP,
    "while_loop_stack_output": _LOOP,
    "with_effects": HigherOrder((_ONE, _OPERATOR), _PLAIN),
    "wrap_activation_checkpoint": _CHECKPOINT,
    "wrap_with_autocast": HigherOrder(
        (_TEXT, _DTYPE | _NONE, _TRUTH, _TRUTH | _NONE, _GRAPH), _PLAIN
    ),
    "wrap_with_set_grad_enabled": HigherOrder((_TRUTH, _GRAPH), _PLAIN),
}
"""What torch.export writes (torch 2.3 to 2.15) -> its arguments. Others run code that no graph
shows (``call_torchbind``, wrappers of Triton kernels) or are in no saved program (``wrap``)."""


def check_higher_order(op: OpName, inputs: Sequence[Mapping[str, Any]]) -> None:
    """Require that a higher-order operator is known and gets what it takes.

    Raises:
        ValueError: it is not, or does not.
    """
    known = HIGHER_ORDERS.get(op.base)
    if known is None:
        raise ValueError(Sentence("it calls {text}, which no file may have called", text=op))
    plain = [item["arg"] for item in inputs if not by_name(item)]
    if len(plain) < len(known.first):
        raise ValueError(
            Sentence(
                "{text} gets {count} arguments, expected {count_b} or more",
                text=op,
                count=len(plain),
                count_b=len(known.first),
            )
        )
    for index, argument in enumerate(plain):
        allowed = known.first[index] if index < len(known.first) else known.rest
        _check(op, str(index), argument, allowed)
    for item in inputs:
        if by_name(item):
            name, own = item["name"], _PLAIN | _TEXT if known.of_operator else _PLAIN
            _check(op, name, item["arg"], known.named.get(name, own))
    if known.of_operator:
        _check_texts(plain[0]["as_operator"], inputs)


def _check(op: OpName, which: str, argument: Mapping[str, Any], allowed: Kinds) -> None:
    kind, payload = variant(argument)
    if kind not in allowed:
        raise ValueError(
            Sentence(
                "{text} gets a {text_b} as argument {text_c}",
                text=op,
                text_b=kind.removeprefix("as_"),
                text_c=which,
            )
        )
    match kind:
        case "as_operator" if parse_target(payload).kind is not Kind.OPERATOR:
            raise ValueError(
                Sentence(
                    "{text} wraps {text_b}, which is no operator", text=op, text_b=repr(payload)
                )
            )
        case "as_string_to_argument":
            for key, item in payload.items():
                _check(op, key, item, _PLAIN)
        case "as_string" if op.base == "wrap_with_autocast" and payload not in DEVICE_TYPES:
            raise ValueError(
                Sentence("{text} gets the device type {text_b}", text=op, text_b=repr(payload))
            )
        case "as_string" if op.base == "invoke_subgraph" and not _NAME.fullmatch(payload):
            raise ValueError(
                Sentence("{text} gets the name {text_b}", text=op, text_b=repr(payload))
            )
        case _:
            pass


def _check_texts(target: str, inputs: Iterable[Mapping[str, Any]]) -> None:
    """Require that a wrapped operator of PyTorch's own gets no other texts than it knows."""
    op = parse_target(target).op
    if op is None or op.namespace not in _OF_PYTORCH:
        return
    for item in inputs:
        why = ""
        if "as_string" in item["arg"] and item["arg"]["as_string"] is not None:
            why = text_refusal(op.operator, item["name"], item["arg"]["as_string"])
        if why:
            raise ValueError(why)
