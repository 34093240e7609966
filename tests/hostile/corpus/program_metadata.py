"""Exported programs whose hostile part is not the graph: traces, trees, guards, annotations."""

import json

from tests.hostile import payloads
from tests.hostile.case import Corpus, Family
from tests.hostile.place import Place
from tests.hostile.valid import Json, Program, program

CORPUS = Corpus("program metadata", "model.pt2", Family.MODEL)


def _noted(key: str, value: str) -> bytes:
    made = program()
    for node in made.nodes:
        node["metadata"][key] = value
    return made.packed()


@CORPUS.case(runnable=True)
def a_trace_to_the_key(place: Place) -> bytes:
    """A stack trace names files and lines, whose source somebody may show."""
    return _noted("stack_trace", f'File "{place.secret}", line 2, in forward\n    x')


@CORPUS.case(runnable=True)
def a_trace_to_the_environment(place: Place) -> bytes:
    """The same with what the process was started in."""
    return _noted("stack_trace", 'File "/proc/self/environ", line 1, in forward\n    x')


@CORPUS.case(runnable=True)
def a_trace_to_a_device(place: Place) -> bytes:
    """The same with a file that has no end."""
    return _noted("stack_trace", 'File "/dev/zero", line 1, in forward\n    x')


@CORPUS.case(runnable=True)
def a_trace_to_a_pipe(place: Place) -> bytes:
    """The same with a file that never has a beginning."""
    import os

    os.mkfifo(place.project / "pipe.py")
    return _noted("stack_trace", f'File "{place.project / "pipe.py"}", line 1, in forward\n    x')


@CORPUS.case(runnable=True)
def a_trace_to_a_bait(place: Place) -> bytes:
    """The same with a module beside the model, to be imported for its source."""
    return _noted("stack_trace", f'File "{place.bait / "payload.py"}", line 1, in forward\n    x')


@CORPUS.case(runnable=True)
def a_trace_of_escapes(place: Place) -> bytes:
    """Names of files and functions with what a terminal obeys, and with markup."""
    return _noted("stack_trace", 'File "\x1b]0;x\x07[red]a[/red]<script>hostile()</script>.py", '
                                 'line 99999999999999999999, in \x1b[2J\n    x')  # fmt: skip


@CORPUS.case(runnable=True)
def a_trace_that_backtracks(place: Place) -> bytes:
    """A megabyte that nearly matches, line after line: for regular expressions."""
    return _noted("stack_trace", 'File "' * 100_000 + '", line ' * 100_000)


@CORPUS.case(runnable=True)
def modules_of_code(place: Place) -> bytes:
    """nn_module_stack names classes: somebody may import them."""
    return _noted("nn_module_stack", "L__self__,,hostile_import.Payload;L__self__a,a,os.system")


@CORPUS.case(runnable=True)
def modules_with_escapes(place: Place) -> bytes:
    """Names of modules with what a terminal and a page obey."""
    return _noted("nn_module_stack", "L,<img src=hostile onerror=x>\x1b[31m\u202e,a.B")


@CORPUS.case(runnable=True)
def modules_by_the_thousand(place: Place) -> bytes:
    """A stack of a hundred thousand modules."""
    return _noted("nn_module_stack", ";".join(f"k{i},m{i},a.B" for i in range(100_000)))


@CORPUS.case(runnable=True)
def a_source_that_is_a_function(place: Place) -> bytes:
    """source_fn_stack is looked up by getattr from torch, as targets are."""
    return _noted("source_fn_stack", "x,torch.os.system")


@CORPUS.case(runnable=True)
def a_function_of_torch(place: Place) -> bytes:
    """torch_fn names a function: somebody may look it up."""
    return _noted("torch_fn", f"{payloads.expression(place)};os.system")


@CORPUS.case(runnable=True)
def annotations_that_nest(place: Place) -> bytes:
    """custom is JSON within the JSON."""
    return _noted("custom", "[" * 100_000 + "]" * 100_000)


@CORPUS.case(runnable=True)
def a_provenance_without_end(place: Place) -> bytes:
    """from_node is JSON within the JSON, and nests."""
    inner = "[]"
    for _ in range(5000):
        inner = f'[{{"name": "a", "target": "b", "pass_name": "c", "from_node": {inner}}}]'
        if len(inner) > 2**20:
            break
    return _noted("from_node", inner)


def _tree(made: Program, spec: object) -> bytes:
    entries = made.document["graph_module"]["module_call_graph"]
    entries[0]["signature"]["in_spec"] = spec if isinstance(spec, str) else json.dumps(spec)
    return made.packed()


@CORPUS.case()
def a_tree_of_a_class(place: Place) -> bytes:
    """The tree of the inputs names classes, of which objects are made of a context."""
    leaf: Json = {"type": None, "context": None, "children_spec": []}
    node = {"type": "subprocess.Popen", "context": json.dumps(payloads.shell(place)),
            "children_spec": [leaf]}  # fmt: skip
    return _tree(program(), [1, {"type": "builtins.tuple", "context": "null", "children_spec": [
        node, {"type": "builtins.dict", "context": "[]", "children_spec": []}]}])  # fmt: skip


@CORPUS.case()
def a_named_tuple_of_a_module(place: Place) -> bytes:
    """A named tuple is looked up by its name, or made with fields as the file says."""
    made = program()
    made.document["graph_module"]["treespec_namedtuple_fields"] = {
        "hostile_import.Payload": {
            "field_names": [f"a=__import__('os').system('{i}')" for i in "12"]
        }
    }
    leaf: Json = {"type": None, "context": None, "children_spec": []}
    node = {"type": "collections.namedtuple", "context": '"hostile_import.Payload"',
            "children_spec": [leaf]}  # fmt: skip
    return _tree(made, [1, {"type": "builtins.tuple", "context": "null", "children_spec": [
        node, {"type": "builtins.dict", "context": "[]", "children_spec": []}]}])  # fmt: skip


@CORPUS.case()
def a_tree_without_end(place: Place) -> bytes:
    """A tree of ten thousand levels, as JSON within the JSON."""
    spec = '{"type": "builtins.tuple", "context": "null", "children_spec": [' * 10_000
    return _tree(program(), f"[1, {spec}{']}' * 10_000}]")


@CORPUS.case()
def a_tree_that_needs_other_inputs(place: Place) -> bytes:
    """The tree asks for a thousand inputs, the graph for one."""
    leaf: Json = {"type": None, "context": None, "children_spec": []}
    return _tree(program(), [1, {"type": "builtins.tuple", "context": "null", "children_spec": [
        {"type": "builtins.tuple", "context": "null", "children_spec": [leaf] * 1000},
        {"type": "builtins.dict", "context": "[]", "children_spec": []}]}])  # fmt: skip


@CORPUS.case(runnable=True)
def modules_that_are_called_like_methods(place: Place) -> bytes:
    """Entries of the call graph name modules, which are set as attributes."""
    made = program()
    made.document["graph_module"]["module_call_graph"].extend(
        {"fqn": name, "signature": None} for name in ("__class__", "forward", "a." * 5000 + "b")
    )
    return made.packed()


@CORPUS.case(runnable=True)
def names_of_arguments_that_are_code(place: Place) -> bytes:
    """Names of the forward's arguments become those of a generated function."""
    made = program()
    entry = made.document["graph_module"]["module_call_graph"][0]
    entry["signature"]["forward_arg_names"] = [f"x={payloads.expression(place)}"]
    return made.packed()


@CORPUS.case(runnable=True)
def guards_that_are_code(place: Place) -> bytes:
    """guards_code is Python that torch puts into a function and runs before the graph."""
    made = program()
    made.document["guards_code"] = [payloads.expression(place), f"L['x'] and {payloads.leaving()}"]
    return made.packed()


@CORPUS.case(runnable=True)
def verifiers_by_name(place: Place) -> bytes:
    """Verifiers are looked up by name."""
    made = program()
    made.document["verifiers"] = ["hostile_import", "__class__", "os.system"]
    return made.packed()


@CORPUS.case(runnable=True)
def a_version_with_escapes(place: Place) -> bytes:
    """The version of torch is a text, and stands in reports."""
    made = program()
    made.document["torch_version"] = "\x1b[31m<script>hostile()</script>" * 1000
    return made.packed()


@CORPUS.case(runnable=True)
def an_opset_of_a_path(place: Place) -> bytes:
    """Namespaces of the opset: somebody may load their libraries."""
    made = program()
    made.document["opset_version"] = {str(place.bait / "payload.so"): 1, "hostile_import": 2**63}
    return made.packed()
