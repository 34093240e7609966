"""A graph that cannot run is refused, and is not said to run."""

import json
import subprocess
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.errors import SourceError
from opcheck.source.base import LoadOptions
from opcheck.source.building.pt2.operators import FUNCTIONS
from opcheck.source.kinds.exported_program import ExportedProgram
from opcheck.source.pt2.graph import read_trace
from opcheck.source.pt2.schemas import PATH
from opcheck.source.pt2.targets import HIGHER_ORDERS, PYTHON, REACHING, Kind, parse_target
from tests.preloaded import python
from tests.source.building.test_operators_allowed import REFUSED
from tests.source.pt2_files import Branching, changed, export, nodes_of

Document = dict[str, Any]


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.linear(x).relu() + 1
        return found


def graph(document: Document) -> Document:
    found: Document = document["graph_module"]["graph"]
    return found


def inputs(document: Document, index: int) -> list[Document]:
    found: list[Document] = nodes_of(document)[index]["inputs"]
    return found


def read_later(document: Document) -> None:
    inputs(document, 0)[0]["arg"] = {"as_tensor": {"name": "relu"}}


def read_itself(document: Document) -> None:
    inputs(document, 1)[0]["arg"] = {"as_tensor": {"name": "relu"}}


def swapped(document: Document) -> None:
    nodes_of(document).reverse()


def defined_twice(document: Document) -> None:
    nodes_of(document)[1]["outputs"] = nodes_of(document)[0]["outputs"]


def no_meta(document: Document) -> None:
    del graph(document)["tensor_values"]["relu"]


def no_meta_of_a_parameter(document: Document) -> None:
    del graph(document)["tensor_values"]["p_linear_weight"]


def output_of_nothing(document: Document) -> None:
    graph(document)["outputs"] = [{"as_tensor": {"name": "gone"}}]


def tensor_for_a_number(document: Document) -> None:
    inputs(document, 2)[1]["arg"] = {"as_sym_int": {"as_name": "relu"}}


def named_twice(document: Document) -> None:
    inputs(document, 2).append(deepcopy(inputs(document, 2)[1]))


def one_input_less(document: Document) -> None:
    document["graph_module"]["signature"]["input_specs"].pop()


def inputs_in_another_order(document: Document) -> None:
    document["graph_module"]["signature"]["input_specs"].reverse()


def path_of_a_parameter(document: Document) -> None:
    for spec in document["graph_module"]["signature"]["input_specs"]:
        if "parameter" in spec:
            spec["parameter"]["parameter_name"] = ".".join("a" * 20_000)


def sized(**changes: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        graph(document)["tensor_values"]["relu"].update(changes)

    return change


def size(value: Any) -> Callable[[Document], None]:
    return sized(sizes=[value, {"as_int": 4}])


def expression(text: str, hint: Any = None) -> Callable[[Document], None]:
    return size({"as_expr": {"expr_str": text, "hint": hint and {"as_int": hint}}})


def argument(value: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        inputs(document, 2)[1]["arg"] = value

    return change


def symbols(names: dict[str, Any]) -> Callable[[Document], None]:
    return lambda document: document.update(range_constraints=names)


def more(name: str, value: Any, kind: int = 1) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        inputs(document, 1).append({"name": name, "arg": value, "kind": kind})

    return change


def one_argument_less(document: Document) -> None:
    inputs(document, 2).pop()


def other_way_round(document: Document) -> None:
    inputs(document, 2).reverse()


def two_results(document: Document) -> None:
    graph(document)["tensor_values"]["second"] = graph(document)["tensor_values"]["relu"]
    nodes_of(document)[1]["outputs"].append({"as_tensor": {"name": "second"}})


def a_list_of_results(document: Document) -> None:
    nodes_of(document)[2]["outputs"] = [{"as_tensors": [{"name": "add"}]}]


def computed(target: str, *numbers: int) -> Callable[[Document], None]:
    """A number computed by a function, in front of everything; nothing reads it."""

    def change(document: Document) -> None:
        node = {
            "target": target, "metadata": {},
            "inputs": [
                {"name": "", "arg": {"as_int": number}, "kind": 1} for number in numbers
            ],
            "outputs": [{"as_sym_float": {"as_name": "figure"}}],
        }  # fmt: skip
        nodes_of(document).insert(0, node)

    return change


LEAF: Document = {"type": None, "context": None, "children_spec": []}


def tree(*children: Document) -> Callable[[Document], None]:
    """Other inputs than those of the graph, as they are taken apart."""
    positional = {"type": "builtins.tuple", "context": "null", "children_spec": children}
    named = {"type": "builtins.dict", "context": "[]", "children_spec": []}
    whole = {"type": "builtins.tuple", "context": "null", "children_spec": [positional, named]}

    def change(document: Document) -> None:
        (entry, *_) = document["graph_module"]["module_call_graph"]
        entry["signature"]["in_spec"] = json.dumps([1, whole])

    return change


def inside(kind: str, levels: int = 1) -> Document:
    made = LEAF
    for _ in range(levels):
        made = {"type": kind, "context": "null", "children_spec": [made]}
    return made


def fields(*names: str) -> Callable[[Document], None]:
    return lambda document: document["graph_module"].update(
        treespec_namedtuple_fields={"library.Pair": {"field_names": names}}
    )


def a_parameter_of_every_object(document: Document) -> None:
    module = document["graph_module"]
    spec = next(one for one in module["signature"]["input_specs"] if "parameter" in one)
    spec["parameter"]["parameter_name"] = "linear.__init__.__globals__"


def negative(text: str, hint: int) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        symbols({"s0": {"min_val": 2, "max_val": 9}})(document)
        expression(text, hint)(document)

    return change


LIES: dict[str, Callable[[Document], None]] = {
    "a node reads a later one": read_later,
    "a node reads itself": read_itself,
    "nodes in reverse": swapped,
    "a name is defined twice": defined_twice,
    "a result without a size": no_meta,
    "a parameter without a size": no_meta_of_a_parameter,
    "an output of nothing": output_of_nothing,
    "a tensor for a number": tensor_for_a_number,
    "an argument given twice": named_twice,
    "an argument that no schema has": more("limit", {"as_int": 1}),
    "a keyword that no schema has": more("limit", {"as_int": 1}, kind=2),
    "an argument less": one_argument_less,
    "arguments the other way round": other_way_round,
    "a list for a number": argument({"as_ints": [1]}),
    "a text for a number": argument({"as_string": "x"}),
    "a number that is an operator, too": argument({"as_int": 1, "as_operator": "torch.relu"}),
    "no number at all": argument({"as_none": True}),
    "two results of one": two_results,
    "a list of results for one": a_list_of_results,
    "an input less": one_input_less,
    "inputs in another order": inputs_in_another_order,
    "a parameter too deep": path_of_a_parameter,
    "2**62 elements": size({"as_int": 2**62}),
    "2**46 elements of four bytes": size({"as_int": 2**44}),
    "2**64 elements": size({"as_int": 2**64}),
    "a negative size": size({"as_int": -1}),
    "an infinite size": size({"as_int": float("inf")}),
    "no number": size({"as_int": float("nan")}),
    "a size of text": size({"as_int": "4"}),
    "a true size": size({"as_int": True}),
    "a stride beyond memory": sized(strides=[{"as_int": 2**50}, {"as_int": 1}]),
    "an offset beyond memory": sized(storage_offset={"as_int": 2**60}),
    "a dtype that is no code": sized(dtype="7"),
    "a device that is no name": sized(device={"type": ["cpu"], "index": None}),
    "Infinity": expression("Infinity"),
    "oo": expression("oo", 6),
    "Mod(1,0)": expression("Mod(1,0)"),
    "s0//0": expression("s0//0", 6),
    "u0//(u0 - u0)": expression("u0//(u0 - u0)"),
    "20,000 signs": expression("-" * 20_000 + "1"),
    "19,000 signs": expression("-" * 19_000 + "1", 6),
    "20,000 brackets": expression("(" * 19_999),
    "a long sum": expression("1" + "+1" * 9_000),
    "a power of powers": expression("Pow(Integer(9), Pow(Integer(9), Integer(9)))", 6),
    "a power of a symbol": expression("Pow(Pow(Mul(9, s0), 64), 64)", 6),
    "a huge product": expression("Mul(Integer(9223372036854775807), Integer(9))", 6),
    "a number of 30 digits": expression("9" * 30),
    "a float beyond all": expression("1e999", 6),
    "a hint of text": expression("s0", "6"),
    "an expression of nothing": expression("", 6),
    "a number of another kind": argument({"as_int": 1.5}),
    "a number of 80 bits": argument({"as_int": 2**80}),
    "a truth of text": argument({"as_bool": "no"}),
    "a float of text": argument({"as_float": "1e5"}),
    "ints of text": argument({"as_ints": ["a"]}),
    "a graph": argument({"as_graph": {"name": "g", "graph": {}}}),
    "an operator": argument({"as_operator": "torch.ops.aten.add.Tensor"}),
    "a symbol of 10**12": symbols({"u1000000000000": {"min_val": 0, "max_val": None}}),
    "a root of a negative number": computed("math.sqrt", -1000),
    "a division by zero": computed("_operator.truediv", 3, 0),
    "a shift backwards": computed("_operator.lshift", 3, -2),
    "inputs of a program of the system": tree(inside("subprocess.Popen")),
    "more inputs than the graph has": tree(LEAF, LEAF),
    "inputs without end": tree(inside("builtins.tuple", 60)),
    "fields that are no names": fields("a=1"),
    "a parameter that is an attribute of every object": a_parameter_of_every_object,
    "a symbol without a range": expression("s99", 6),
    "a size less than nothing": negative("-s0", 2),
    "a truth for a size": negative("s0 < 3", 2),
    "a number that is not what it says": negative("2*3", 5),
    "a range of text": symbols({"u0": {"min_val": "0", "max_val": None}}),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("pt2") / "m.pt2", Two(), (torch.randn(6, 4),))


def load(path: Path) -> object:
    return ExportedProgram().load(str(path), LoadOptions())


@pytest.mark.parametrize("read", [read_trace, load])
@pytest.mark.parametrize("name", LIES)
def test_what_cannot_run_is_refused(
    name: str, read: Callable[[Path], object], model: Path, tmp_path: Path
) -> None:
    path = changed(model, tmp_path / "m.pt2", LIES[name])
    with pytest.raises(SourceError) as raised:
        read(path)
    assert raised.value.message.startswith(f"{path}: m/models/model.json: ")
    assert len(raised.value.message) < 400 + len(str(path))


def test_a_parameter_whose_elements_share_memory_is_refused(model: Path, tmp_path: Path) -> None:
    def expanded(document: Document) -> None:
        meta = graph(document)["tensor_values"]["p_linear_weight"]
        meta["strides"] = [{"as_int": 0}, {"as_int": 1}]

    path = changed(model, tmp_path / "m.pt2", expanded)
    with pytest.raises(SourceError, match=r"linear.weight is float32.4,4. in the graph"):
        ExportedProgram().load(str(path), LoadOptions(weights=True))


def test_a_module_too_deep_is_refused(model: Path, tmp_path: Path) -> None:
    def deep(document: Document) -> None:
        stack = f"a,{'.'.join('a' * 20_000)},torch.nn.Linear"
        nodes_of(document)[0]["metadata"]["nn_module_stack"] = stack

    with pytest.raises(SourceError, match="a module is 19999 levels deep"):
        load(changed(model, tmp_path / "m.pt2", deep))


def test_the_error_names_the_node(model: Path, tmp_path: Path) -> None:
    path = changed(model, tmp_path / "m.pt2", read_itself)
    with pytest.raises(SourceError) as raised:
        read_trace(path)
    assert raised.value.message == (
        f"{path}: m/models/model.json: node 1 (relu) cannot be read"
        " (it uses 'relu', which nothing before it defines)"
    )


def test_a_subgraph_sees_its_own_inputs_alone(tmp_path: Path) -> None:
    source = export(tmp_path / "a.pt2", Branching(), (torch.randn(6, 4),))

    def outer(document: Document) -> None:
        (cond,) = (n for n in nodes_of(document) if n["target"].endswith(".cond"))
        branch = cond["inputs"][1]["arg"]["as_graph"]["graph"]
        branch["nodes"][0]["inputs"][0]["arg"] = {"as_tensor": {"name": "gt"}}

    with pytest.raises(SourceError, match="uses 'gt', which nothing before it defines"):
        read_trace(changed(source, tmp_path / "b.pt2", outer))


@pytest.mark.parametrize(
    ("position", "given", "why"),
    [
        (1, {"as_operator": "torch.ops.aten.sin.default"}, "gets a operator as argument 1"),
        (1, {"as_string": "x"}, "gets a string as argument 1"),
        (3, {"as_tensor": {"name": "x"}}, "gets a tensor as argument 3"),
    ],
)
def test_a_higher_order_operator_gets_what_it_takes(
    position: int, given: Document, why: str, tmp_path: Path
) -> None:
    source = export(tmp_path / "a.pt2", Branching(), (torch.randn(6, 4),))

    def change(document: Document) -> None:
        (cond,) = (n for n in nodes_of(document) if n["target"].endswith(".cond"))
        cond["inputs"][position]["arg"] = given

    with pytest.raises(SourceError, match=why):
        read_trace(changed(source, tmp_path / "b.pt2", change))


def test_the_interpreter_has_a_function_for_every_name_and_none_more() -> None:
    assert FUNCTIONS.keys() == PYTHON
    assert {parse_target(text).kind for text in PYTHON} == {Kind.PYTHON}


def test_the_list_without_torch_has_what_schemas_refuse() -> None:
    # not registered with the dispatcher, so no schema is looked at
    assert {*REFUSED, "aten::save"} == REACHING


@pytest.mark.slow
def test_the_schemas_without_torch_are_those_of_torch() -> None:
    # in a process of its own: tests declare operators
    code = "from tests.source.write_schemas import text; print(text(), end='')"
    done = subprocess.run(
        [*python("torch"), "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == PATH.read_text(encoding="utf-8"), (
        "write them anew: python -m tests.source.write_schemas"
    )


def test_what_a_later_torch_has_more_is_not_looked_at(model: Path, tmp_path: Path) -> None:
    def later(document: Document) -> None:
        more("limit", {"as_int": 1}, kind=2)(document)
        document["torch_version"] = "2.14.0"

    calls = read_trace(changed(model, tmp_path / "m.pt2", later)).calls
    assert [name for name, _ in calls[1].arguments] == ["self", "limit"]


def test_attributes_of_torch_ops_are_no_namespaces() -> None:
    own = set(dir(type(torch.ops))) | {"loaded_libraries", "_dir"}
    for name in sorted(own - {"__annotations__"}):
        with pytest.raises(ValueError, match="which is no operator"):
            parse_target(f"torch.ops.{name}.x")


def test_higher_order_operators_of_the_list_are_torchs() -> None:
    import torch._higher_order_ops

    missing = {n for n in HIGHER_ORDERS if not hasattr(torch.ops.higher_order, n)}
    assert missing <= {"map"}  # of torch 2.1; map_impl since
