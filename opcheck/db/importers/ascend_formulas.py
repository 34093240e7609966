"""Ascend: the overloads that a derivative's formula calls, told from its C++.

A formula is compiled where three namespaces are open, so a bare name is, in this order: an
operator of the vendor's (``npu::npu_gather_backward``); PyTorch's overload of exactly that name
(``matmul_backward``, and whatever stands behind ``at::``); or a helper written in C++, which is no
overload: what it calls itself is taken from ``ascend_gradients.yaml``. A method is PyTorch's
overload of exactly that name if it gives a tensor (``.mT()``); others ask for sizes and the like.
A name that is none of these, or one of several overloads, is an error: nothing is guessed.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from opcheck.db.importers.upstream import Function
from opcheck.errors import DatabaseError

_CALL = re.compile(r"(?P<before>\.|\bat::)?\b(?P<name>[A-Za-z_]\w*)\(|(?P<scaled>\)\s*\*\s*-?\d)")
_NEGATED = "-"
_NOT_CALLS = frozenset({"Tensor"})
"""Constructors behind ``at::``."""


class Names(Struct, frozen=True):
    """What a name in a formula may stand for, for one torch version."""

    vendor: Collection[str]
    """The vendor's own operators, without their namespace."""
    upstream: Mapping[str, Function]
    helpers: Mapping[str, tuple[str, ...]]
    """Helper in C++ -> the overloads that it calls."""

    def called(self, formula: str) -> tuple[str, ...]:
        """Overloads in schema spelling, each once, in the order of the text."""
        return tuple(dict.fromkeys(self._calls(formula)))

    def _calls(self, formula: str) -> Iterator[str]:
        if formula.startswith(_NEGATED):
            yield "aten::neg"
        for match in _CALL.finditer(formula):
            name, before = match["name"], match["before"]
            if match["scaled"]:
                yield "aten::mul.Scalar"
            elif before == ".":
                yield from self._method(name)
            elif name not in _NOT_CALLS:
                yield from self._function(name, formula)

    def _method(self, name: str) -> Iterator[str]:
        if name in self.upstream:
            if self.upstream[name].gives_tensor:
                yield f"aten::{name}"
        elif any(f.base == name and f.gives_tensor for f in self.upstream.values()):
            raise DatabaseError(f"a formula calls .{name}(), which is one of several overloads")

    def _function(self, name: str, formula: str) -> Iterator[str]:
        if name in self.vendor:
            yield f"npu::{name}"
        elif name in self.upstream:
            yield f"aten::{name}"
        elif name in self.helpers:
            yield from self.helpers[name]
        else:
            raise DatabaseError(
                f"{name!r} in the formula {formula!r} is no operator that is known",
                "say in ascend_gradients.yaml what this helper calls",
            )
