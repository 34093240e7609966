"""An exported program in which no tensor is complex: each is two real ones from end to end."""

import copy
import operator
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_aggregate
from torch.utils._pytree import tree_leaves

from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.rewrite.call import Call
from opcheck.rewrite.parts.forms import REAL, Parts, view_as_complex
from opcheck.rewrite.parts.table import Form, form
from opcheck.rewrite.splicing import ORIGIN, Inside, inside, spliced, value_of, values_of
from opcheck.trace.torch_internals.dispatcher import facts

if TYPE_CHECKING:
    from torch.export import ExportedProgram


_NEW_ON_PARTS = frozenset(
    {"aten::view_as_real", "aten::_conj", "aten::conj", "aten::resolve_conj", "aten::resolve_neg",
     "aten::_neg_view"}
)  # fmt: skip
"""Give, or may give, the same memory seen otherwise; on parts they do not, or the other way round.
"""


def seen_apart(nodes: Sequence[Node]) -> str:
    """Why a program's tensors would part on parts: "" where no such tensor is written to."""
    calls = [node for node in nodes if isinstance(node.target, torch._ops.OpOverload)]
    apart = {_owner(node): node for node in calls if _name(node) in _NEW_ON_PARTS}
    for node in calls:
        for place in _written(node):
            seen = apart.get(_owner(place))
            if seen is not None:
                return Sentence(
                    "{op} writes to a tensor that is also seen through {other}",
                    op=_name(node),
                    other=_name(seen),
                )
    return ""


def _name(node: Node) -> str:
    func: Any = node.target
    return str(func.name())


def _written(node: Node) -> list[Node]:
    func: Any = node.target
    if torch.Tag.inplace_view in func.tags:
        return []
    arguments = func._schema.arguments
    given = {a.name: value for a, value in zip(arguments, node.args, strict=False)}
    given.update(node.kwargs)
    names = [a.name for a in arguments if a.alias_info and a.alias_info.is_write]
    return [value for name in names if isinstance(value := given.get(name), Node)]


def _owner(node: Node) -> Node:
    """The tensor whose memory a node may share, as far back as that goes."""
    while isinstance(node.target, torch._ops.OpOverload):
        shared = [a.name for a in node.target._schema.arguments if a.alias_info]
        first = node.args[0] if node.args else None
        if not shared or not isinstance(first, Node):
            break
        node = first
    return node


# ``ExportedProgram._update`` is private; checked on 2.13.0.

_CHECKS = ("aten::_assert_tensor_metadata",)
"""Say of a tensor what is then true of its parts, but for the dtype."""


def on_parts(program: "ExportedProgram", wanted: Collection[str]) -> "ExportedProgram | str":
    """Compute all complex tensors of a program on parts; why that cannot be, as one sentence.

    Args:
        program: is left as it is; its weights are not copied but for the complex ones.
        wanted: overloads that are to go; real composites that run as them are taken apart.
    """
    try:
        return _rewritten(program, wanted)
    except _CannotError as error:
        return sentence_of(error)


class _CannotError(Exception):
    """The program cannot be computed on parts; the text says why."""


def _rewritten(program: "ExportedProgram", wanted: Collection[str]) -> "ExportedProgram":
    nodes = list(program.graph.nodes)
    for module in program.graph_module.modules():
        inner = isinstance(module, GraphModule) and module is not program.graph_module
        if inner and any(_is_complex(value_of(node)) for node in module.graph.nodes):
            raise _CannotError(
                Sentence("a branch or a loop of the program computes with complex tensors")
            )
    reason = seen_apart(nodes)
    if reason:
        raise _CannotError(reason)
    weights, kept = _weights(program)
    writer = _Writer(wanted, kept.keys())
    results = writer.written(nodes)
    signature = copy.deepcopy(program.graph_signature)
    old = [node for node in tree_leaves(nodes[-1].args) if isinstance(node, Node)]
    new = [node for node in tree_leaves(results) if isinstance(node, Node)]
    names = [(a.name, b.name) for a, b in zip(old, new, strict=True) if a.name != b.name]
    for index, (before, _) in enumerate(names):  # one's new name may be another's old one
        signature.replace_all_uses(before, f"{index} of results")
    for index, (_, after) in enumerate(names):
        signature.replace_all_uses(f"{index} of results", after)
    module = GraphModule(program.graph_module, writer.graph)
    module.meta.update(program.graph_module.meta)
    return program._update(
        module, signature,
        state_dict={n: kept_as(weights, n, t) for n, t in program.state_dict.items()},
        constants={n: kept_as(weights, n, t) for n, t in program.constants.items()},
    )  # fmt: skip


def kept_as(weights: dict[str, Tensor], name: str, value: Any) -> Any:
    """What a program keeps by a name: pairs of real numbers for complex ones."""
    return weights.get(name, value)


def _weights(program: "ExportedProgram") -> tuple[dict[str, Tensor], dict[str, str]]:
    """Complex weights as pairs, by name; and the names of what placeholders stand for.

    Raises:
        _CannotError: a complex tensor is no weight, but given by the caller or given back.
    """
    kept = {
        spec.arg.name: spec.target
        for spec in program.graph_signature.input_specs
        if spec.target is not None and hasattr(spec.arg, "name")
    }
    weights: dict[str, Tensor] = {}
    for node in program.graph.nodes:
        if node.op == "output" and any(map(_is_complex, map(value_of, node.all_input_nodes))):
            raise _CannotError(Sentence("the program gives complex tensors to its caller"))
        if node.op == "get_attr" and _is_complex(value_of(node)):
            raise _CannotError(Sentence("a complex constant stands in the program itself"))
        if node.op != "placeholder" or not _is_complex(value_of(node)):
            continue
        target = kept.get(node.name)
        value = program.state_dict.get(target, program.constants.get(target)) if target else None
        if target is None or not isinstance(value, Tensor):
            raise _CannotError(Sentence("the program takes complex tensors from its caller"))
        weights[target] = _as_kept(value)
    return weights, kept


def _as_kept(value: Tensor) -> Tensor:
    pairs = torch.view_as_real(value.detach().resolve_conj()).clone()
    trained = isinstance(value, torch.nn.Parameter)
    return torch.nn.Parameter(pairs, value.requires_grad) if trained else pairs


def _is_complex(value: Any) -> bool:
    return any(isinstance(leaf, Tensor) and leaf.is_complex() for leaf in tree_leaves(value))


class _Writer:
    """Writes a program anew, call after call."""

    def __init__(self, wanted: Collection[str], kept: Collection[str]) -> None:
        self.graph = Graph()
        self._wanted = wanted
        self._kept = kept

    def written(self, nodes: Iterable[Node]) -> Any:
        """Write all calls, and the output; gives what the output is of."""
        known: dict[Node, Any] = {}
        results: Any = None
        for node in nodes:
            known[node] = self._node(node, known)
            if node.op == "output":
                results = known[node].args
        self.graph.lint()
        return results

    def _node(self, node: Node, known: dict[Node, Any]) -> Any:
        if node.op == "placeholder" and _is_complex(value_of(node)):
            return self._placeholder(node)
        if node.op == "call_function":
            return self._call(node, known)
        made = self.graph.node_copy(node, lambda other: known[other])
        made.name = node.name  # which the signature knows, though a new node may not have it
        return made

    def _placeholder(self, node: Node) -> Any:
        made = self.graph.node_copy(node)
        made.name = node.name
        value = value_of(node)
        with value.fake_mode:
            made.meta["val"] = torch.empty((*value.shape, 2), dtype=REAL[value.dtype])
        return spliced(view_as_complex, node, ((made,), {})).copied_into(self.graph, node)

    def _call(self, node: Node, known: dict[Node, Any]) -> Any:
        func: Any = node.target
        first: Any = _of(node.args, known)[0] if node.args else None
        if func is operator.getitem and not isinstance(first, Node):
            return first[node.args[1]]
        touched = _is_complex(values_of(node)) or _is_complex(value_of(node))
        if not isinstance(func, torch._ops.OpOverload):
            if touched:
                raise _CannotError(
                    Sentence("{op} has no form on real and imaginary parts", op=func)
                )
            return self.graph.node_copy(node, lambda other: known[other])
        if not touched:
            within = inside(node, self._wanted)
            if within is not None:
                return self._within(within, node, known)
            return self.graph.node_copy(node, lambda other: known[other])
        if func.name() in _CHECKS:
            return None
        found = form(func.name())
        if found is not None:
            return self._on_parts(found, node, known)
        kind = facts(func).composite
        if kind is None:
            raise _CannotError(
                Sentence("{op} has no form on real and imaginary parts", op=func.name())
            )
        return self._within(Inside(func, kind), node, known)

    def _within(self, function: Inside, node: Node, known: dict[Node, Any]) -> Any:
        """What a composite runs as, call by call."""
        try:
            found = spliced(function, node)
        except Exception as error:  # in PyTorch's own code, which may ask for values
            what = Sentence(
                "{op} cannot be decomposed: {error}: {text}",
                op=_called(node),
                error=type(error).__name__,
                text=error,
            )
            raise _CannotError(what) from error
        _require(not found.decided, node, _OPEN, found.decided)
        again = any(item.target is node.target for item in found.graph.nodes)
        _require(not again, node, "{op} on parts is nothing that is known")
        places = [item for item in found.graph.nodes if item.op == "placeholder"]
        inner = dict(zip(places, (known[given] for given in found.given), strict=True))
        for item in found.graph.nodes:
            if item.op == "output":
                return found.nested(lambda leaf: inner[leaf])
            if item.op != "placeholder":
                item.meta.update({key: node.meta[key] for key in ORIGIN if key in node.meta})
                inner[item] = self._node(item, inner)
        return None

    def _on_parts(self, found: Form, node: Node, known: dict[Node, Any]) -> Any:
        args, kwargs = values_of(node)
        reason = found.refuses(Call(node.target, args, kwargs))
        if reason:
            raise _CannotError(
                Sentence("{op} on parts is no fix: {said}", op=_called(node), said=reason)
            )
        made = spliced(found.function, node, _of((node.args, node.kwargs), known))
        _require(not made.decided, node, _OPEN, made.decided)
        results = made.copied_into(self.graph, node)
        same = list(_laid_out(value_of(node))) == list(_laid_out(_values(results)))
        _require(same, node, "{op} on parts gives another dtype or shape")
        if torch.Tag.inplace_view in node.target.tags:  # type: ignore[union-attr]  # an overload
            known[node.args[0]] = results  # type: ignore[index]  # a node
        return results


_OPEN = "{op} on parts decides by a size that is left open ({text})"


def _require(holds: bool, node: Node, template: str, text: str = "") -> None:
    if not holds:
        raise _CannotError(Sentence(template, op=_called(node), text=text))


def _called(node: Node) -> str:
    """What a node calls, an operator in schema spelling."""
    target: Any = node.target
    return str(target.name() if isinstance(target, torch._ops.OpOverload) else target)


def _of(arguments: Any, known: dict[Node, Any]) -> Any:
    """Arguments with what stands for their nodes."""
    return map_aggregate(arguments, lambda a: known[a] if isinstance(a, Node) else a)


def _values(results: Any) -> Any:
    return map_aggregate(results, lambda a: value_of(a) if isinstance(a, Node) else a)


def _laid_out(value: Any) -> Iterator[tuple[str, str]]:
    """Shape and dtype of every tensor, parts counted as the one that they are of."""
    if isinstance(value, Parts):
        both = [(str(tuple(part.shape)), str(part.dtype)) for part in value]
        yield both[0] if both[0] == both[1] else ("", "")
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _laid_out(item)
    elif isinstance(value, Tensor):
        yield str(tuple(value.shape)), str(REAL.get(value.dtype, value.dtype))
