"""How nested inputs and outputs lie in the flat ones of a graph, as torch's pytree writes it."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from opcheck.lang.sentence import Sentence

PROTOCOL = 1
"""Of torch.utils._pytree.treespec_dumps (torch 2.0 to 2.15)."""
DEEPEST = 50
_STANDARD = frozenset({
    "builtins.list", "builtins.tuple", "builtins.dict", "collections.deque",
    "collections.OrderedDict", "collections.defaultdict", "collections.namedtuple",
})  # fmt: skip
"""What torch knows how to take apart of Python's own classes; of others its users tell it."""
_NAMED_TUPLE = "collections.namedtuple"
_OF_USERS = ("user_input", "constant_input")


def check_trees(module: Mapping[str, Any]) -> None:
    """Require that a program's inputs could be taken apart into those of its graph.

    Args:
        module: the ``graph_module`` of a program.

    Raises:
        ValueError: they could not.
    """
    fields = module.get("treespec_namedtuple_fields") or {}
    for name, described in fields.items():
        if not all(isinstance(one, str) and one.isidentifier() for one in described["field_names"]):
            raise ValueError(
                Sentence("the fields of {name} are no names", name=repr(str(name)[:60]))
            )
    whole = next((one for one in module["module_call_graph"] if one["fqn"] == ""), None)
    if whole is None or not whole.get("signature"):
        return
    wanted = sum(kind in _OF_USERS for spec in module["signature"]["input_specs"] for kind in spec)
    leaves = _leaves(whole["signature"]["in_spec"])
    if leaves != wanted:
        raise ValueError(
            Sentence(
                "it takes {count} inputs apart, and its graph has {count_b}",
                count=leaves,
                count_b=wanted,
            )
        )
    _leaves(whole["signature"]["out_spec"])


def _leaves(text: Any) -> int:
    """How many values a tree has."""
    protocol, tree = json.loads(text)
    if protocol != PROTOCOL:
        raise ValueError(
            Sentence("its inputs are described by the protocol {text}", text=str(protocol)[:40])
        )
    return _count(tree, 0)


def _count(tree: Mapping[str, Any], depth: int) -> int:
    if depth > DEEPEST:
        raise ValueError(Sentence("its inputs are more than {count} levels deep", count=DEEPEST))
    kind, children = tree["type"], tree["children_spec"]
    if kind is None:
        if children:
            raise ValueError(Sentence("an input that is one value has parts"))
        return 1
    if kind not in _STANDARD and str(kind).partition(".")[0] in sys.stdlib_module_names:
        raise ValueError(
            Sentence("an input is a {text}, which holds no values", text=str(kind)[:60])
        )
    return sum(_count(child, depth + 1) for child in children)
