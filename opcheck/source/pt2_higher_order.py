"""Higher-order operators that an exported graph may call, and what each of them takes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from opcheck.model.names import OpName
from opcheck.source.pt2_nodes import by_name
from opcheck.source.pt2_targets import Kind, parse_target
from opcheck.source.pt2_values import variant
from opcheck.source.words import text_refusal

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
     "npu", "mlu", "musa", "privateuseone"}
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
        raise ValueError(f"it calls {op}, which no file may have called")
    plain = [item["arg"] for item in inputs if not by_name(item)]
    if len(plain) < len(known.first):
        raise ValueError(f"{op} gets {len(plain)} arguments, expected {len(known.first)} or more")
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
        raise ValueError(f"{op} gets a {kind.removeprefix('as_')} as argument {which}")
    match kind:
        case "as_operator" if parse_target(payload).kind is not Kind.OPERATOR:
            raise ValueError(f"{op} wraps {payload!r}, which is no operator")
        case "as_string_to_argument":
            for key, item in payload.items():
                _check(op, key, item, _PLAIN)
        case "as_string" if op.base == "wrap_with_autocast" and payload not in DEVICE_TYPES:
            raise ValueError(f"{op} gets the device type {payload!r}")
        case "as_string" if op.base == "invoke_subgraph" and not _NAME.fullmatch(payload):
            raise ValueError(f"{op} gets the name {payload!r}")
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
