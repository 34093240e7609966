"""What a fused program computes of weights alone: done once, when it is written."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.export.graph_signature import InputKind, InputSpec, TensorArgument
from torch.fx import Graph, Node

if TYPE_CHECKING:
    from torch.export import ExportedProgram

# ``ExportedProgram._update`` is private; checked on 2.13.0.


def of_weights(program: "ExportedProgram", nodes: Iterable[Node]) -> tuple[Node, ...]:
    """The calls among some that depend on parameters alone."""
    known = set(_parameters(program))
    found: list[Node] = []
    for node in nodes:
        if node.all_input_nodes and known.issuperset(node.all_input_nodes):
            known.add(node)
            found.append(node)
    return tuple(found)


def folded(program: "ExportedProgram", nodes: Sequence[Node]) -> "ExportedProgram":
    """The program with parameters of its own for what some calls give; it is changed itself.

    Args:
        program: has calls that depend on parameters alone.
        nodes: all of these calls, in their order.
    """
    if not nodes:
        return program
    graph, signature = program.graph_module.graph, program.graph_signature
    state, values = dict(program.state_dict), _values(program, nodes)
    given = {one for node in nodes for one in node.all_input_nodes if one not in values}
    for node in nodes:
        if any(user not in values for user in node.users):
            path = f"{node.name}_of_weights"
            state[path] = torch.nn.Parameter(values[node], requires_grad=False)
            made = _first(graph, f"p_{path}", node)
            spec = InputSpec(InputKind.PARAMETER, TensorArgument(made.name), path)
            signature.input_specs.insert(0, spec)
            node.replace_all_uses_with(made, propagate_meta=False)
    for node in reversed(nodes):
        graph.erase_node(node)
    for node in given:
        if not node.users:
            _drop(program, node, state)
    graph.lint()
    program.graph_module.recompile()
    return program._update(program.graph_module, signature, state_dict=state)


def _parameters(program: "ExportedProgram") -> dict[Node, str]:
    """Placeholder of a parameter -> its path."""
    paths = program.graph_signature.inputs_to_parameters
    nodes = program.graph_module.graph.nodes
    return {n: paths[n.name] for n in nodes if n.op == "placeholder" and n.name in paths}


def _values(program: "ExportedProgram", nodes: Iterable[Node]) -> dict[Node, Any]:
    """What calls give that depend on parameters alone."""
    known = {n: program.state_dict[path].detach() for n, path in _parameters(program).items()}
    found: dict[Node, Any] = {}
    with torch.no_grad():
        for node in nodes:
            target: Any = node.target
            args, kwargs = torch.fx.node.map_arg(
                (node.args, dict(node.kwargs)), lambda one: known[one]
            )
            known[node] = found[node] = target(*args, **kwargs)
    return found


def _first(graph: Graph, name: str, like: Node) -> Node:
    """A new input before all others."""
    with graph.inserting_before(next(iter(graph.nodes))):
        made = graph.placeholder(name)
    made.meta["val"] = like.meta["val"]
    return made


def _drop(program: "ExportedProgram", node: Node, state: dict[str, Any]) -> None:
    """Take out a parameter that nothing uses any more; its values, where no other has them."""
    specs = program.graph_signature.input_specs
    (spec,) = (one for one in specs if getattr(one.arg, "name", "") == node.name)
    specs.remove(spec)
    program.graph_module.graph.erase_node(node)
    if spec.target is not None and all(one.target != spec.target for one in specs):
        del state[spec.target]
