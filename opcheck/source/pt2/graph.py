"""A ``.pt2`` file's graph read without torch: every call, its tensors, module and line."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import NOT_IN_FORMAT, Gap, OpName, Value
from opcheck.source.pt2.check import DAMAGED, check_program, unreadable, what_is
from opcheck.source.pt2.file import ProgramFile, damaged, read_program
from opcheck.source.pt2.stack_trace import (
    NOWHERE,
    Place,
    generalise,
    locate,
    module_path,
    module_paths,
)
from opcheck.source.pt2.symbols import Sizes, size_ranges
from opcheck.source.pt2.targets import Kind, parse_target
from opcheck.source.pt2.values import GraphValues, Surprises, all_graphs, all_nodes, variant

_SIZE_QUERIES = frozenset(
    {"sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "sym_is_contiguous"}
)
"""aten operators that only read a tensor's metadata."""
_BRANCHING = frozenset({"cond", "switch"})
_LOOPING = frozenset({"while_loop", "map_impl", "map", "scan", "associative_scan"})


class GraphCall(Struct, frozen=True):
    """One operator call in an exported graph."""

    op: OpName
    arguments: tuple[tuple[str, Value], ...]
    """(schema argument name, value) as the file has them; by position where it names none."""
    outputs: tuple[Value, ...]
    module: str
    """Innermost module with layer numbers as ``*``; empty for the root."""
    file: str
    """Relative to the working directory or to its package; empty if none."""
    line: int
    data_dependent: bool = False
    """An output's size depends on values, so the one given here is assumed."""


class GraphTrace(Struct, frozen=True):
    """Everything a ``.pt2`` file says about a model's operators."""

    torch_version: str
    """torch that wrote the file, as ``2.13.0``; empty where it does not say."""
    calls: tuple[GraphCall, ...]
    """In order, one per node; those of a subgraph follow the operator that holds it."""
    notes: tuple[str, ...]
    digest: str
    """sha256 of the exported program, first 16 hex digits; its weights play no part."""
    gaps: tuple[Gap, ...] = ()
    modules_not_called: tuple[str, ...] = ()
    """Modules with parameters that no node belongs to and no node reads."""


def read_trace(path: Path) -> GraphTrace:
    """Read the graph of a file that torch.export.save wrote; nothing in it is run."""
    return _Reader(read_program(path)).trace()


def places_of(graph: Mapping[str, Any]) -> Mapping[str, Place]:
    """The user's line for every stack trace in a graph."""
    stacks = (node["metadata"].get("stack_trace", "") for node in all_nodes(graph))
    return locate(stacks, Path.cwd())


class _Reader:
    """Walks one program's nodes, subgraphs included."""

    def __init__(self, program: ProgramFile) -> None:
        self._program = program
        self._surprises = Surprises()
        self._higher_order: set[str] = set()
        self._sparse: dict[str, None] = {}
        self._places: Mapping[str, Place] = {}
        self._modules: dict[str, str] = {"": ""}

    def trace(self) -> GraphTrace:
        """The whole program."""
        check_program(self._program)
        try:
            return self._trace()
        except DAMAGED as error:
            raise self._damaged(
                Sentence("is not an exported program ({text})", text=what_is(error))
            ) from error
        except RecursionError as error:
            raise self._damaged(Sentence("nested too deeply to be a model")) from error

    def _trace(self) -> GraphTrace:
        document = self._program.document
        graph = document["graph_module"]["graph"]
        self._sizes = Sizes(size_ranges(document))
        self._places = places_of(graph)
        values = GraphValues(graph, self._sizes, self._surprises)
        calls = tuple(self._calls(graph, values, "", NOWHERE))
        trace = GraphTrace(
            self._program.torch_version,
            calls,
            tuple(self._notes()),
            self._program.digest,
            tuple(self._unreadable()),
            _modules_not_called(document, values),
        )
        for inner in all_graphs(graph):  # what no call reads adds nothing to the notes
            values.of(inner).read_all()
        self._sizes.check()
        return trace

    def _calls(
        self, graph: Mapping[str, Any], values: GraphValues, module: str, place: Place
    ) -> Iterator[GraphCall]:
        """Every call of ``graph``; ``module`` and ``place`` are those of the call that holds it."""
        for index, node in enumerate(graph["nodes"]):
            try:
                yield from self._node(node, values, module, place)
            except DAMAGED as error:
                raise self._damaged(unreadable(index, node, error)) from error
        self._sparse |= values.sparse

    def _node(
        self, node: Mapping[str, Any], values: GraphValues, module: str, place: Place
    ) -> Iterator[GraphCall]:
        target = parse_target(node["target"])
        op = target.op
        if op is None:
            return
        metadata = node["metadata"]
        if "nn_module_stack" in metadata:
            module = self._module(metadata["nn_module_stack"])
        if "stack_trace" in metadata:
            place = self._places[metadata["stack_trace"]]
        if op.namespace == "aten" and op.base in _SIZE_QUERIES:
            return
        inputs, outputs = node["inputs"], node["outputs"]
        call = GraphCall(
            op,
            _arguments(inputs, values),
            tuple(map(values.read, outputs)),
            module,
            *place,
            data_dependent=any(map(values.depends_on_data, _tensor_names(outputs))),
        )
        yield call
        if target.kind is Kind.HIGHER_ORDER:
            self._higher_order.add(op.base)
            yield from self._inside(inputs, values, call)

    def _inside(
        self,
        inputs: list[Mapping[str, Any]],
        values: GraphValues,
        call: GraphCall,
    ) -> Iterator[GraphCall]:
        """What a higher-order operator calls: its subgraphs, and the operator that it wraps."""
        place = (call.file, call.line)
        for index, item in enumerate(inputs):
            kind, payload = variant(item["arg"])
            if kind == "as_graph":
                graph = payload["graph"]
                yield from self._calls(graph, values.of(graph), call.module, place)
            elif kind == "as_operator":
                op = parse_target(payload).op
                if op is not None:
                    rest = inputs[index + 1 :]
                    passed = [item for item in rest if not item["name"].startswith("_")]
                    yield replace(call, op=op, arguments=_arguments(passed, values))

    def _module(self, nn_module_stack: str) -> str:
        known = self._modules.get(nn_module_stack)
        if known is None:
            known = self._modules[nn_module_stack] = generalise(module_path(nn_module_stack))
        return known

    def _notes(self) -> Iterator[str]:
        yield from self._program.notes
        yield from self._sizes.notes()
        if self._higher_order & _BRANCHING:
            yield "every branch of a conditional is counted; a run takes one of them"
        if self._higher_order & _LOOPING:
            yield "a loop's body is counted once, however often it runs"
        for layout in self._sparse:
            yield Sentence(
                "the graph holds {layout} tensors, which are shown as if strided", layout=layout
            )

    def _unreadable(self) -> Iterator[Gap]:
        major, minor = self._program.schema
        for what in self._surprises.codes:
            text = "{said} of export schema {version} has no known meaning"
            yield Gap("", Sentence(text, said=what, version=f"{major}.{minor}"), NOT_IN_FORMAT)

    def _damaged(self, what: Sentence) -> SourceError:
        return damaged(self._program.path, self._program.member, what)


def _arguments(
    inputs: Iterable[Mapping[str, Any]], values: GraphValues
) -> tuple[tuple[str, Value], ...]:
    return tuple(
        [(item["name"] or str(i), values.read(item["arg"])) for i, item in enumerate(inputs)]
    )


def _tensor_names(arguments: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for argument in arguments:
        kind, payload = variant(argument)
        if kind == "as_tensor":
            yield payload["name"]
        elif kind == "as_tensors":
            yield from (item["name"] for item in payload)


def _modules_not_called(document: Mapping[str, Any], values: GraphValues) -> tuple[str, ...]:
    """Modules with parameters that no node belongs to and no node reads, paths in full."""
    module = document["graph_module"]
    stacks = {n["metadata"].get("nn_module_stack", "") for n in module["graph"]["nodes"]}
    alive = set().union(*map(module_paths, stacks))
    owners, used = set(), values.used
    for spec in module["signature"]["input_specs"]:
        kind, payload = variant(spec)
        if kind == "parameter":
            owner = payload["parameter_name"].rpartition(".")[0]
            owners.add(owner)
            if payload["arg"]["name"] in used:
                alive.add(owner)
    return tuple(sorted(owners - alive))
