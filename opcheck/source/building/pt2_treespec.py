"""How a program's inputs and outputs are nested, read by a grammar of lists, tuples and dicts.

torch's reader of these texts imports modules that they name: the class of an enumeration among the
keys of a dict, the factory of a ``defaultdict``. It gets them written anew, without either.
"""

import json
import re
from keyword import iskeyword
from typing import Any

PROTOCOL = 1
"""Of torch.utils._pytree.treespec_dumps (torch 2.0 to 2.15)."""
DEEPEST = 50
_SIMPLE = frozenset({"builtins.list", "builtins.tuple", "collections.deque"})
_DICTS = frozenset({"builtins.dict", "collections.OrderedDict"})
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_KEY = re.compile(r"[\w ./:+-]{0,200}")


def plain_treespec(text: Any, *, inputs: bool) -> str:
    """Write a description of nested values anew.

    Args:
        text: what the file has.
        inputs: whether names in it become parameters of a function.

    Raises:
        ValueError: it is more than lists, tuples and dicts with plain keys.
    """
    try:
        return json.dumps([PROTOCOL, _found(text, _IDENTIFIER if inputs else _KEY)])
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        what = "inputs" if inputs else "outputs"
        raise ValueError(f"its {what} are described as {str(text)[:60]!r}: {error}") from error


def _found(text: str, key: re.Pattern[str]) -> dict[str, Any]:
    protocol, found = json.loads(text)
    if protocol != PROTOCOL:
        raise ValueError(f"by the protocol {str(protocol)[:40]}")
    return _spec(found, key, 0)


def _spec(found: dict[str, Any], key: re.Pattern[str], depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise ValueError(f"more than {DEEPEST} levels deep")
    kind, children = found["type"], found["children_spec"]
    if kind is None:
        if found["context"] is not None or children:
            raise ValueError("one value has parts")
        return {"type": None, "context": None, "children_spec": []}
    context = json.loads(found["context"])
    if kind in _DICTS:
        named = isinstance(context, list) and len(context) == len(children)
        if not named or not all(_is_key(one, key) for one in context):
            raise ValueError("a dict has other keys than names")
    elif kind not in _SIMPLE or not (context is None or type(context) is int):
        raise ValueError(f"a {str(kind)[:60]}, expected a list, a tuple or a dict")
    below = [_spec(child, key, depth + 1) for child in children]
    return {"type": kind, "context": json.dumps(context), "children_spec": below}


def _is_key(value: Any, key: re.Pattern[str]) -> bool:
    if type(value) is int:
        return key is _KEY
    return isinstance(value, str) and bool(key.fullmatch(value)) and not iskeyword(value)
