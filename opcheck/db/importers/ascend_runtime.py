"""Ascend: what the runtime does under autocast, and its errors and warnings in its own words."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.sources import load_yaml
from opcheck.errors import DatabaseError

_DATA = Path(__file__).with_name("ascend_runtime.yaml")
_FACTS = {
    "unlisted op on a sparse NPU tensor": "sparse-not-supported",
    "see fallback": "fallback-disabled",
    "Ascend950 and acl_op-only op": "no-aclnn-kernel",
    "Ascend950 and internal format": "internal-format-on-aclnn-only-chip",
    "op_api-only op, internal-format input": "internal-format-not-supported",
    "CANN too old": "aclnn-kernel-missing",
    "_to_copy with dtype=float64 only (the result is float32, silently)": "float64-becomes-float32",
    "dtype without an acl type": "dtype-without-acl-type",
    "complex tensor creation with jit compile enabled": "complex-needs-jit-compile-off",
    "explicit CPU kernels": "computed-on-host",
}
"""When, as the facts say it, to the code of the message."""
_PLACE = re.compile(r"<(\w+)>")
_NUMBER = re.compile(r"ERR\d{5}")

Cite = Callable[[Mapping[str, Any]], str]
"""Keeps a source in the file's table of them and gives its id."""


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data


def messages(facts: Mapping[str, Any], cite: Cite) -> dict[str, dict[str, Any]]:
    """Code -> what the runtime says; where it is a condition's code, what that condition raises."""
    by_when = {fact.get("when"): fact for fact in facts["error_messages"]}
    missing = sorted(set(_FACTS) - set(by_when))
    if missing:
        raise DatabaseError(f"no error message for {missing[0]!r} in the facts on Ascend")
    found = {code: _from_fact(by_when[when], cite) for when, code in _FACTS.items()}
    return found | {code: _read_here(said, cite) for code, said in _data()["messages"].items()}


def autocast(cite: Cite) -> dict[str, Any]:
    """Policies of autocast and the overloads registered under each."""
    said = _data()["autocast"]
    return {"at": [_at(said, cite)], "policies": said["policies"]}


def _from_fact(fact: Mapping[str, Any], cite: Cite) -> dict[str, Any]:
    number = _NUMBER.search(fact["kind"])
    return {
        "text": _PLACE.sub(r"{\1}", fact["text"]),
        "raises": fact["kind"].startswith("error"),
        "at": [cite(fact["source"])],
        **({"number": number[0]} if number else {}),
    }


def _read_here(said: Mapping[str, Any], cite: Cite) -> dict[str, Any]:
    kept = {key: said[key] for key in ("text", "raises", "number") if key in said}
    return {**kept, "at": [_at(said, cite)]}


def _at(said: Mapping[str, Any], cite: Cite) -> str:
    return f"{cite({**_data()['framework'], 'path': said['path']})}:{said['line']}"
