"""Hostile exported programs by a grammar: targets, arguments, sizes and what stands beside them."""

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.effects import Canaries
from tests.fuzz.mutate import HOSTILE_TEXTS, hostile_value

Json = Any
CANARIES = Path("/tmp/hostile-canary")
"""Where the paths in inputs lead; a campaign puts another folder in its place."""

_ROOTS = ("torch.ops", "torch.ops", "torch.ops.aten", "torch.ops.higher_order", "torch",
          "_operator",
          "math", "builtins", "operator", "os", "#hostile", "hostile_import", "")  # fmt: skip
_WORDS = (
    "__init__", "__class__", "__call__", "__getattr__", "__globals__", "__builtins__", "__dict__",
    "__loader__", "__spec__", "__func__", "__self__", "__wrapped__", "__mro__", "__reduce_ex__",
    "__subclasses__", "__code__", "__module__", "__get__", "get", "default", "Tensor", "out",
    "aten",
    "prim", "prims", "higher_order", "profiler", "quantized", "inductor", "debugprims", "hostile",
    "load_library", "import_module", "loaded_libraries", "os", "system", "sys", "modules", "eval",
    "exec", "open", "save", "load", "from_file", "relu", "fill_", "wrap", "cond", "while_loop",
    "map_impl", "print", "attrgetter", "methodcaller", "itemgetter", "call", "decompose", "_op",
    "py_impl", "op", "_schema", "hub", "jit", "classes", "ctypes", "CDLL", "utils", "serialization",
    "ops", "call_torchbind", "auto_functionalized", "run_const_graph", "hints_wrapper", "sqrt",
)  # fmt: skip
_OPERATORS = (
    "torch.ops.aten.relu.default", "torch.ops.aten.from_file.default",
    "torch.ops.aten.save.default",
    "torch.ops.aten.fill_.Scalar", "torch.ops.aten.zeros.default", "torch.ops.aten.item.default",
    "torch.ops.aten._print.default", "torch.ops.aten.warn.default", "torch.ops.aten.einsum.default",
    "torch.ops.debugprims.load_tensor.default", "torch.ops.profiler._record_function_enter.default",
    "torch.ops.higher_order.wrap", "torch.ops.higher_order.cond", "torch.ops.higher_order.print",
    "torch.ops.higher_order.while_loop", "torch.ops.higher_order.auto_functionalized",
    "torch.ops.higher_order.call_torchbind", "torch.ops.higher_order.run_const_graph",
    "torch.ops.higher_order.hints_wrapper", "torch.ops.higher_order.strict_mode",
    "torch.ops.higher_order.invoke_subgraph", "torch.ops.higher_order.with_effects",
    "torch.ops.higher_order.tag_activation_checkpoint", "torch.ops.load_library",
    "torch.ops.import_module", "torch.ops.load_library.__call__.__call__", "builtins.eval",
    "torch.ops.__init__.__builtins__.get", "torch.ops.aten.__builtins__.eval", "torch.os.system",
    "_operator.attrgetter", "_operator.methodcaller", "_operator.call", "_operator.floordiv",
    "math.__loader__.load_module", "torch.save", "torch.hub.load", "operator.attrgetter",
)  # fmt: skip
_ATOMS = (
    "s0", "s77", "u0", "0", "1", "2", "-1", "2**62", "10**30", "1e400", "Infinity", "oo", "nan",
    "zoo", "I", "True", "None", "''", "__import__('hostile_import')", "hostile()", "().__class__",
    "open('{canary}/checkpoint.pt','w')", "s0.__class__", "1/0", "9" * 5000, "Symbol('s0')",
    "Symbol('s77', positive=True, integer=True)", "Integer(2)", "lambda: 0", "[1]", "x:=1",
)  # fmt: skip
_CALLS = ("Mod", "FloorDiv", "Max", "Min", "Pow", "Mul", "Add", "CleanDiv", "CeilDiv", "PythonMod",
          "TruncToInt", "Piecewise", "Where", "factorial", "sqrt", "eval", "exec", "open",
          "__import__", "getattr", "ToFloat", "IntTrueDiv", "LShift", "RShift", "Ne",
          "Eq")  # fmt: skip
_SIGNS = (
    "+",
    "-",
    "*",
    "//",
    "%",
    "/",
    "**",
    "<<",
    ">>",
    "<",
    "==",
    "&",
    "|",
    " and ",
    " if ",
    ".",
)


def path(random: Random) -> str:
    """A path that whoever opens it is noticed by."""
    name = random.choice((*Canaries.names, "fresh.pt", "fresh/deep.pt", ""))
    return random.choice((str(CANARIES / name), f"{CANARIES}/../{CANARIES.name}/{name}",
                          f"file://{CANARIES / name}", name))  # fmt: skip


def text(random: Random) -> str:
    """A text argument: a path, code, the name of a thing, or what no text should be."""
    return random.choice((
        path, path, target, expression,
        lambda r: f"__import__('os').system('touch {path(r)}')",
        lambda r: f"touch {path(r)}", lambda r: "hostile_import", lambda r: "eval",
        lambda r: f"hostile::{r.choice(_WORDS)}", lambda r: r.choice(HOSTILE_TEXTS),
    ))(random)  # fmt: skip


def target(random: Random) -> str:
    """What a node calls: an operator, or attributes of what torch looks names up in."""
    if random.randrange(3) == 0:
        return random.choice(_OPERATORS)
    if "torch" in sys.modules and random.randrange(2):
        return _walked(random)
    names = [random.choice(_ROOTS)]
    names += [random.choice(_WORDS) for _ in range(random.choice((1, 2, 3, 3, 4, 6, 40)))]
    return ".".join(filter(None, names))


def _walked(random: Random) -> str:
    """Attributes that are there, one of the other."""
    import torch

    name, thing = random.choice((("torch.ops", torch.ops), ("torch", torch),
                                 ("torch.ops.aten", torch.ops.aten),
                                 ("torch.ops.higher_order", torch.ops.higher_order)))  # fmt: skip
    for _ in range(random.randrange(1, 6)):
        attribute = random.choice(dir(thing) or ["__class__"])
        name = f"{name}.{attribute}"
        try:
            thing = getattr(thing, attribute)
        except Exception:  # whatever it raises, the name is as good
            break
    return name


def expression(random: Random, depth: int = 0) -> str:
    """A size: terms, calls, signs and what ends a reader of such."""
    if depth > 4 or random.randrange(3) == 0:
        return random.choice(_ATOMS).replace("{canary}", str(CANARIES))
    inner = [expression(random, depth + 1) for _ in range(random.choice((0, 1, 2, 2, 3)))]
    match random.randrange(6):
        case 0 | 1:
            return f"{random.choice(_CALLS)}({', '.join(inner)})"
        case 2:
            return f"({random.choice(_SIGNS).join(inner)})"
        case 3:
            return random.choice(_SIGNS).join(inner) or "1"
        case 4:
            return random.choice(("-", "~", "(", "not ")) * random.choice((1, 50, 20_000)) + "1"
        case _:
            return f"{''.join(inner)}.{random.choice(_WORDS)}"


def argument(random: Random, names: list[str], depth: int = 0) -> Json:
    """An argument of one of the kinds that the format has, with what a naive reader trusts."""
    name = random.choice(names or ["x"])
    deeper: Callable[[], Json] = lambda: argument(random, names, depth + 1)  # noqa: E731
    makers: tuple[Callable[[], Json], ...] = (
        lambda: {"as_tensor": {"name": name}}, lambda: {"as_tensor": {"name": name}},
        lambda: {"as_string": text(random)}, lambda: {"as_string": text(random)},
        lambda: {"as_strings": [text(random), text(random)]},
        lambda: {"as_operator": target(random)}, lambda: {"as_bool": True},
        lambda: {"as_int": random.choice((0, 1, -1, 2**31, 2**62, 2**63, 10**400))},
        lambda: {"as_ints": [random.choice((0, 2, -1, 2**62)) for _ in range(random.randrange(4))]},
        lambda: {"as_sym_int": {"as_name": name}}, lambda: {"as_none": True},
        lambda: {"as_sym_ints": [{"as_name": name}, {"as_int": 2**40}]},
        lambda: {"as_device": {"type": random.choice(_WORDS), "index": 2**40}},
        lambda: {"as_custom_obj": {"name": name, "class_fqn": text(random)}},
        lambda: {"as_scalar_type": random.choice((1, 7, 99, -1))},
        lambda: {"as_string_to_argument": {text(random): deeper()} if depth < 3 else {}},
        lambda: {"as_tensors": [{"name": name}]}, lambda: hostile_value(random),
        lambda: {"as_float": random.choice((float("nan"), float("inf"), 1e308))},
    )  # fmt: skip
    return random.choice(makers)()


def spoiled_program(random: Random, data: bytes) -> bytes:
    """The document of an exported program with nodes, arguments, sizes or notes of this grammar."""
    document = json.loads(data)
    module = document["graph_module"]
    for _ in range(random.choice((1, 1, 2, 3))):
        random.choice(_CHANGES)(random, document, module)
    return json.dumps(document).encode("utf-8", "surrogatepass")


def _node(random: Random, document: Json, module: Json) -> None:
    """One call more."""
    graph = _graph(random, module["graph"])
    names = [*graph["tensor_values"], *graph["sym_int_values"]]
    out = f"hostile{random.randrange(100)}"
    outputs = [{"as_tensor": {"name": out}}, {"as_sym_int": {"as_name": out}}]
    inputs = [
        {"name": random.choice(("self", "x", "", "hostile")), "arg": argument(random, names),
         "kind": random.choice((1, 1, 1, 2))} for _ in range(random.choice((0, 1, 1, 2, 3)))
    ]  # fmt: skip
    node: Json = {"target": target(random), "inputs": inputs, "outputs": [random.choice(outputs)],
            "metadata": {}, "is_hop_single_tensor_return": random.choice((None, True)),
            "name": out}  # fmt: skip
    graph["nodes"].insert(random.randrange(len(graph["nodes"]) + 1), node)
    if graph["tensor_values"]:
        graph["tensor_values"][out] = copy.deepcopy(next(iter(graph["tensor_values"].values())))
    if graph["outputs"] and random.randrange(2):
        graph["outputs"][0] = {"as_tensor": {"name": out}}


def _called(random: Random, document: Json, module: Json) -> None:
    """Another target."""
    nodes = _graph(random, module["graph"])["nodes"]
    if nodes:
        random.choice(nodes)["target"] = target(random)


def _argued(random: Random, document: Json, module: Json) -> None:
    """Another argument."""
    graph = _graph(random, module["graph"])
    given = [
        entry for node in graph["nodes"] for entry in node["inputs"] if isinstance(entry, dict)
    ]
    if given:
        random.choice(given)["arg"] = argument(random, [*graph["tensor_values"]])


def _sized(random: Random, document: Json, module: Json) -> None:
    """Another size, stride, offset or range."""
    size = {"as_expr": {"expr_str": expression(random), "hint": random.choice(
        (None, {"as_int": 2}, {"as_int": -1}, {"as_int": 2**70}, {"as_bool": True}))}}  # fmt: skip
    graph = _graph(random, module["graph"])
    if random.randrange(6) == 0:
        document["range_constraints"][expression(random)] = {
            "min_val": random.choice((None, 0, -1, 10**400)),
            "max_val": random.choice((None, 1, 2)),
        }  # fmt: skip
    elif random.randrange(4) == 0:
        kind = random.choice(("sym_int_values", "sym_bool_values", "sym_float_values"))
        graph.setdefault(kind, {})[random.choice(("hostile", "sym_size_int_1"))] = size
    elif graph["tensor_values"]:
        meta = random.choice(list(graph["tensor_values"].values()))
        where = random.choice(("sizes", "strides", "storage_offset"))
        if where == "storage_offset":
            meta[where] = size
        elif meta[where]:
            meta[where][random.randrange(len(meta[where]))] = size


def _noted(random: Random, document: Json, module: Json) -> None:
    """Traces, modules, guards, trees and versions."""
    match random.randrange(5):
        case 0:
            document["guards_code"] = [text(random)]
        case 1 if module["module_call_graph"] and module["module_call_graph"][0].get("signature"):
            spec = json.dumps([1, {"type": target(random), "context": json.dumps(text(random)),
                                   "children_spec": []}])  # fmt: skip
            module["module_call_graph"][0]["signature"][random.choice(("in_spec", "out_spec"))] = (
                spec
            )
        case 2:
            document["opset_version"] = {text(random): 1}
        case _ if module["graph"]["nodes"]:
            node = random.choice(module["graph"]["nodes"])
            key = random.choice(("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn",
                                 "custom", "from_node"))  # fmt: skip
            node["metadata"][key] = random.choice((
                text(random), f'File "{path(random)}", line 1, in forward\n  x',
                f"L,,{target(random)};a,a,hostile_import.A",
            ))  # fmt: skip


def _nested(random: Random, document: Json, module: Json) -> None:
    """A graph as an argument: of the graph itself."""
    graph = module["graph"]
    if len(json.dumps(graph)) < 50_000:
        inner = {"as_graph": {"name": random.choice(("true_graph_0", "__class__", "forward")),
                              "graph": copy.deepcopy(graph)}}  # fmt: skip
        graph["nodes"].append({
            "target": random.choice(_OPERATORS[11:23]),
            "outputs": [{"as_tensor": {"name": "nested"}}],
            "inputs": [{"name": "", "arg": given, "kind": 1} for given in (
                argument(random, [*graph["tensor_values"]]), inner, inner,
                {"as_tensors": [{"name": "x"}]})], "metadata": {}, "name": "nested",
            "is_hop_single_tensor_return": None,
        })  # fmt: skip


def _graph(random: Random, graph: Json) -> Json:
    """The graph, or one that is an argument in it."""
    given = [entry.get("arg") for node in graph["nodes"] for entry in node["inputs"]]
    inner = [
        arg["as_graph"]["graph"] for arg in given if isinstance(arg, dict) and "as_graph" in arg
    ]
    return random.choice(inner) if inner and random.randrange(2) else graph


_CHAINS: tuple[tuple[tuple[str, tuple[Json, ...]], ...], ...] = (
    (("torch.ops.__init__.__builtins__.get", ({"as_string": "eval"},)),
     ("torch.ops.higher_order.wrap", ({"as_tensor": {"name": "hostile_0"}}, None))),
    (("torch.ops.aten.__builtins__.get", ({"as_string": "exec"},)),
     ("torch.ops.higher_order.strict_mode", ({"as_tensor": {"name": "hostile_0"}}, None))),
    (("_operator.attrgetter", ({"as_string": "os.system"},)),
     ("_operator.call", ({"as_tensor": {"name": "hostile_0"}}, None))),
    (("torch.ops.aten.from_file.default",
      (None, {"as_bool": True}, {"as_int": 3}, {"as_scalar_type": 7})),
     ("torch.ops.aten.fill_.Scalar", ({"as_tensor": {"name": "hostile_0"}}, {"as_int": 66}))),
    (("torch.ops.load_library.__call__.__call__", (None,)),),
    (("torch.ops.import_module", ({"as_string": "hostile_import"},)),),
    (("torch.ops.higher_order.wrap", ({"as_operator": "torch.os.system"}, None)),),
)  # fmt: skip
"""What did harm once; where nothing stands a text does."""


def _chain(random: Random, document: Json, module: Json) -> None:
    """Calls of which one takes what the other gives."""
    graph = _graph(random, module["graph"])
    for place, (name, inputs) in enumerate(random.choice(_CHAINS)):
        arguments = [
            {"as_string": random.choice((path, text))(random)} if entry is None
            else copy.deepcopy(entry) for entry in inputs
        ]  # fmt: skip
        given = [{"name": "", "kind": 1, "arg": entry} for entry in arguments]
        called = target(random) if random.randrange(6) == 0 else name
        out = f"hostile_{place}"
        graph["nodes"].insert(place, {
            "target": called, "inputs": given, "outputs": [{"as_tensor": {"name": out}}],
            "metadata": {}, "is_hop_single_tensor_return": None, "name": out,
        })  # fmt: skip
        if graph["tensor_values"]:
            graph["tensor_values"][out] = copy.deepcopy(next(iter(graph["tensor_values"].values())))


_CHANGES = (
    _chain,
    _chain,
    _node,
    _node,
    _node,
    _called,
    _argued,
    _argued,
    _sized,
    _sized,
    _noted,
    _nested,
)
