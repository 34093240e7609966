"""Calls on complex tensors made on their parts, one by one or all of a model as one region."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor
from torch.utils._pytree import tree_map

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Declined, NodePlan, Suggestion, Tier
from opcheck.model.trace import Constant, Node, Value
from opcheck.resolve.walk import Walk
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import Candidate
from opcheck.rewrite.parts.forms import REAL, Parts
from opcheck.rewrite.parts.table import Form, form
from opcheck.trace.torch_internals.dispatcher import overload_named

NAME = "complex-as-parts"
"""The suggestion as plans name it."""
_GIVES_UP = (
    "Complex tensors: each becomes two real ones, those that the model takes, keeps or returns "
    "too; it holds for all calls of the model together or for none"
)


def touches_complex(node: Node) -> bool:
    """Whether a call takes, gives or is asked for complex tensors."""
    values = (*(value for _, value in node.arguments), *node.outputs)
    return any("complex" in dtype for dtype in _dtypes(values))


def _dtypes(values: Collection[Value]) -> Iterator[str]:
    for value in values:
        match value:
            case Constant("dtype", text):
                yield text
            case tuple():
                yield from _dtypes(value)
            case None | bool() | int() | float() | str() | Constant():
                pass
            case _:
                yield value.dtype


def complex_calls(nodes: Sequence[Node], index: int) -> Iterator[int]:
    """The outermost calls, from one on inwards, that have a form on parts or no parts to look at.

    What is not complex has none inside either, but for composites.
    """
    node = nodes[index]
    if touches_complex(node) and (form(str(node.op)) is not None or not node.children):
        yield index
        return
    for child, _ in node.children or ():
        yield from complex_calls(nodes, child)


def in_parts(op: str) -> Candidate | None:
    """An overload on parts, as a suggestion; None where there is no form of it."""
    found = form(op)
    if found is None:
        return None
    return Candidate(
        rule=NAME,
        tier=Tier.STRUCTURAL,
        label=found.label,
        summary=Sentence("Compute {op} on real and imaginary parts", op=op),
        function=_on_complex(found, overload_named(op)),
        refuses=found.refuses,
        valid=found.valid,
        canonical=found.canonical,
        code=found.code,
        entry=found.entry,
        gives_up=_GIVES_UP,
        whole=True,
        recorded=found.function,
        given=given_parts,
    )


def given_parts(call: Call) -> Call:
    """The same call with parts in the place of complex tensors without values."""
    args, kwargs = tree_map(_laid_out, (list(call.args), dict(call.kwargs)))
    return Call(call.func, tuple(args), kwargs)


def _laid_out(value: Any) -> Any:
    if not isinstance(value, Tensor) or not value.is_complex():
        return value
    made = [
        torch.empty_strided(value.shape, value.stride(), dtype=REAL[value.dtype], device="meta")
        for _ in Parts._fields
    ]
    return Parts(*made)


def _on_complex(found: Form, func: Any) -> Callable[..., Any]:
    """The form as a function on complex tensors, which it reads and writes through their parts."""
    turns = torch.Tag.inplace_view in func.tags

    def computed(*args: Any, **kwargs: Any) -> Any:
        parts, named = tree_map(_apart, (args, kwargs))
        result = together(found.function(*parts, **named))
        if turns:  # which the tensor itself is, not its parts
            func(*args, **kwargs)
        return result

    return computed


def _apart(value: Any) -> Any:
    if not isinstance(value, Tensor) or not value.is_complex():
        return value
    return Parts(*torch.view_as_real(value.resolve_conj()).unbind(-1))


def together(value: Any) -> Any:
    """Complex tensors of parts, wherever they are among results."""
    if isinstance(value, Parts):
        return torch.complex(value.real, value.imag)
    if isinstance(value, list | tuple):
        return [together(item) for item in value]
    return value


_Way = Callable[[Candidate, Node], Suggestion | str]
"""Records, holds and measures a candidate for a call; a sentence where it is no suggestion."""
_Ways = Callable[[Node], tuple[tuple[Suggestion, ...], tuple[Declined, ...]]]
"""Ways for one call that is not complex."""


class Region:
    """The complex calls of a trace on one target."""

    def __init__(
        self, nodes: Sequence[Node], used: Sequence[int], walk: Walk, way: _Way, ways: _Ways
    ) -> None:
        self._nodes = nodes
        self._walk = walk
        self._ways = ways
        self._inside = {index: tuple(complex_calls(nodes, index)) for index in used}
        self._found: dict[int, Suggestion] = {}
        self._way = way

    def planned(self, plans: Sequence[NodePlan]) -> tuple[NodePlan, ...]:
        """The same plans; where a complex call has no suggestion, ones that compute on parts.

        Then no other way is left to any complex call: what it gave would be no parts.
        """
        stuck = [plan.node for plan in plans if plan.stuck and self._is_bad(plan.node)]
        if not any(self._inside[index] for index in stuck):
            return tuple(plans)
        reason = self._reason()
        return tuple(
            plan if not self._inside[plan.node]
            else self._on_parts(plan) if not reason
            else _declined(plan, reason)
            for plan in plans
        )  # fmt: skip

    def _reason(self) -> str:
        """Why not every complex call can be computed on parts; "" where it can."""
        for index in dict.fromkeys(i for inside in self._inside.values() for i in inside):
            node = self._nodes[index]
            candidate = in_parts(str(node.op))
            if candidate is None:
                return Sentence("{op} has no form on real and imaginary parts", op=node.op)
            way = self._way(candidate, node)
            if isinstance(way, str):
                return Sentence("{op} on parts is no fix: {said}", op=node.op, said=way)
            self._found[index] = way
        return ""

    def _on_parts(self, plan: NodePlan) -> NodePlan:
        suggestions: list[Suggestion] = []
        declined: list[Declined] = []
        stuck: list[str] = []
        for index in dict.fromkeys(self._blamed(plan.node)):
            if index in self._found:
                suggestions.append(replace(self._found[index], declined=plan.declined))
                continue
            ways, others = self._ways(self._nodes[index])
            suggestions += ways
            declined += others
            if not ways:
                stuck.append(str(self._nodes[index].op))
        return NodePlan(
            plan.node, tuple(suggestions), tuple(dict.fromkeys(declined)),
            tuple(dict.fromkeys(stuck)),
        )  # fmt: skip

    def _blamed(self, index: int) -> Iterator[int]:
        """Calls to be changed in one that is, down to those on parts and the innermost others."""
        inner = [child for child, _ in self._nodes[index].children or () if self._is_bad(child)]
        if index in self._found or not inner:
            yield index
            return
        for child in inner:
            yield from self._blamed(child)

    def _is_bad(self, index: int) -> bool:
        return not self._walk.resolution(index).verdict.on_device


def _declined(plan: NodePlan, reason: str) -> NodePlan:
    if not plan.stuck:
        return plan
    return replace(plan, declined=(*plan.declined, Declined(NAME, Tier.STRUCTURAL, reason)))
