"""Moore Threads: what the vendor's own build of PyTorch does otherwise than PyTorch.

It takes some composites to operators of its own, with gradients of their own, wherever their
arguments are on the device. No other PyTorch has these operators, so the composite itself stands
for them, as if the device had a kernel for it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from opcheck.db.importers.moorethreads_lists import AUTOGRAD, DENSE, Kernel
from opcheck.db.importers.moorethreads_read import code


def patched(schemas: Mapping[str, str]) -> Iterator[tuple[str, Kernel]]:
    """Composites that a release with these schemas runs as operators of its own."""
    for fact in _facts(schemas):
        impl = tuple(name for name in fact["runs_as"] if name in schemas)
        yield fact["op"], Kernel(f"code:{fact['file']}", impl, (DENSE, AUTOGRAD))


def gradients(schemas: Mapping[str, str]) -> dict[str, Any]:
    """Lines of the section ``gradients``."""
    return {fact["op"]: _gradient(fact, schemas) for fact in _facts(schemas)}


def _facts(schemas: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    for fact in code()["patched"]:
        if any(name in schemas for name in fact["runs_as"]):
            yield fact


def _gradient(fact: Mapping[str, Any], schemas: Mapping[str, str]) -> dict[str, Any]:
    """The gradient of the operator that runs whatever the arguments are."""
    kernel = next(name for name in fact["backward"] if name in schemas)
    returned = schemas[kernel].partition("->")[2]
    arguments = [name for name in fact["arguments"] if f"grad_{name}" in returned]
    return {
        "at": [f"code:{code()['derivatives']}"],
        "formulas": {", ".join(arguments): [f"aten::{kernel}"]},
        "method": "inferred",
    }
