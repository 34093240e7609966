"""Exported programs that do no harm and cannot run: to call one runnable is the harm."""

import copy
from collections.abc import Callable

from tests.hostile.case import Corpus, Family
from tests.hostile.place import Place
from tests.hostile.valid import Json, Program, call, number, program, tensor, text

CORPUS = Corpus("program that cannot run", "model.pt2", Family.MODEL)
Change = Callable[[Program], object]


_TAKEN_BY_TORCH = (
    "an_argument_too_many", "a_keyword_of_nobody", "other_weights", "branches_that_differ",
)  # fmt: skip
"""What torch runs all the same, as tests/hostile/test_truth.py asks it."""


def _broken(name: str, about: str, change: Change, kind: str = "plain") -> None:
    def one(place: Place) -> bytes:
        made = program(kind)
        change(made)
        return made.packed()

    one.__name__, one.__doc__ = name, about
    CORPUS.case(harmless=True, runnable=name in _TAKEN_BY_TORCH)(one)


def _input(made: Program, node: int, place: int, argument: Json) -> None:
    made.nodes[node]["inputs"][place]["arg"] = argument


def _used(target: str, *arguments: Json) -> Change:
    """Put a call behind the others and give its result."""

    def change(made: Program) -> None:
        made.add(target, *arguments)
        made.give("evil")

    return change


def _ints(*values: int) -> Json:
    return {"as_ints": list(values)}


_broken(
    "a_later_name",
    "A node reads what a later one makes.",
    lambda made: _input(made, 0, 0, tensor("add")),
)
_broken(
    "its_own_name", "A node reads its own output.", lambda made: _input(made, 1, 0, tensor("relu"))
)
_broken(
    "nodes_in_disorder", "The nodes stand in the other order.", lambda made: made.nodes.reverse()
)
_broken(
    "a_name_of_nobody",
    "A node reads what nothing makes.",
    lambda made: _input(made, 1, 0, tensor("nobody")),
)
_broken(
    "an_output_of_nobody", "The graph gives what nothing makes.", lambda made: made.give("nobody")
)
_broken(
    "a_name_twice",
    "Two nodes make one name, and the first is what the sizes are of.",
    lambda made: made.nodes[0]["outputs"].append(tensor("relu")),
)
_broken(
    "an_argument_too_few", "relu without a tensor.", lambda made: made.nodes[1]["inputs"].clear()
)
_broken(
    "an_argument_too_many",
    "relu with three.",
    lambda made: made.nodes[1]["inputs"].extend(copy.deepcopy(made.nodes[1]["inputs"]) * 2),
)
_broken(
    "a_keyword_of_nobody",
    "An argument that the operator lacks.",
    lambda made: made.nodes[1]["inputs"].append({"name": "colour", "arg": text("red"), "kind": 2}),
)
_broken("a_text_for_a_tensor", "relu of a text.", lambda made: _input(made, 1, 0, text("linear")))
_broken(
    "an_overload_of_nobody",
    "aten::relu has no overload by that name.",
    lambda made: made.nodes[1].update(target="torch.ops.aten.relu.nobody"),
)
_broken(
    "an_operator_of_nobody",
    "aten has no operator by that name.",
    lambda made: made.nodes[1].update(target="torch.ops.aten.nobody.default"),
)
_broken(
    "a_namespace_of_nobody",
    "No library has that namespace.",
    lambda made: made.nodes[1].update(target="torch.ops.nobody.relu.default"),
)
_broken("no_target", "A node without a target.", lambda made: made.nodes[1].update(target=""))
_broken(
    "sizes_without_bounds",
    "A tensor of 2**62 elements.",
    _used("torch.ops.aten.zeros.default", _ints(2**62)),
)
_broken(
    "sizes_that_overflow",
    "A tensor of 2**80 elements.",
    _used("torch.ops.aten.zeros.default", _ints(2**40, 2**40)),
)
_broken(
    "less_than_nothing",
    "A tensor of -5 elements.",
    _used("torch.ops.aten.zeros.default", _ints(-5)),
)
_broken(
    "another_number_of_elements",
    "A view of six elements as seven.",
    _used("torch.ops.aten.reshape.default", tensor("x"), _ints(7)),
)
_broken(
    "matrices_that_do_not_fit",
    "A product of 2x3 and 2x3.",
    _used("torch.ops.aten.mm.default", tensor("x"), tensor("x")),
)
_broken(
    "a_dimension_of_nobody",
    "The tenth dimension of two.",
    _used("torch.ops.aten.sum.dim_IntList", tensor("x"), _ints(9)),
)
_broken(
    "an_index_out_of_range",
    "The hundredth row of two.",
    _used("torch.ops.aten.select.int", tensor("x"), number(0), number(100)),
)
_broken(
    "shapes_that_do_not_broadcast",
    "2x3 and 4.",
    _used("torch.ops.aten.add.Tensor", tensor("x"), tensor("p_layer_bias")),
)
_broken(
    "tensors_of_nothing",
    "cat of no tensors.",
    _used("torch.ops.aten.cat.default", {"as_tensors": []}),
)
_broken(
    "a_window_that_is_too_large",
    "A pooling window of 99 on 3.",
    _used("torch.ops.aten.max_pool1d.default", tensor("x"), _ints(99)),
)
_broken(
    "strides_of_nothing",
    "Pooling by strides of zero.",
    _used("torch.ops.aten.avg_pool1d.default", tensor("x"), _ints(1), _ints(0)),
)
_broken(
    "memory_beyond_the_storage",
    "A view a billion elements behind the tensor.",
    _used("torch.ops.aten.as_strided.default", tensor("x"), _ints(2), _ints(1), number(10**9)),
)
_broken(
    "an_equation_that_does_not_fit",
    "einsum of three dimensions for two.",
    _used("torch.ops.aten.einsum.default", text("ijk->i"), {"as_tensors": [{"name": "x"}]}),
)
_broken(
    "no_sizes_of_an_output", "Nothing says what relu gives.", lambda made: made.sizes.pop("relu")
)
_broken(
    "other_weights",
    "The layer's weight is 4x3 in the graph and 5x5 in its description.",
    lambda made: made.sizes["p_layer_weight"].update(sizes=[number(5), number(5)]),
)
_broken(
    "no_inputs_in_the_signature",
    "The graph has three inputs, its signature none.",
    lambda made: made.document["graph_module"]["signature"]["input_specs"].clear(),
)
_broken(
    "a_graph_without_inputs",
    "The nodes read inputs that the graph does not list.",
    lambda made: made.graph["inputs"].clear(),
)


def _branches(made: Program) -> list[dict[str, Json]]:
    (cond,) = (node for node in made.nodes if node["target"].endswith("cond"))
    found: list[dict[str, Json]] = cond["inputs"]
    return found


def _graph(made: Program, place: int = 1) -> dict[str, Json]:
    found: dict[str, Json] = _branches(made)[place]["arg"]["as_graph"]["graph"]
    return found


_broken(
    "a_branch_is_missing", "cond with one branch.", lambda made: _branches(made).pop(2), "branching"
)
_broken(
    "a_branch_that_reads_what_is_outside",
    "A branch reads a name of the outer graph.",
    lambda made: _graph(made)["nodes"][0]["inputs"][0].update(arg=tensor("sum_1")),
    "branching",
)
_broken(
    "a_branch_that_reads_itself",
    "A branch's node reads its own output.",
    lambda made: _graph(made)["nodes"][0]["inputs"][0].update(arg=tensor("sin")),
    "branching",
)
_broken(
    "branches_that_differ",
    "One branch gives one tensor, the other two.",
    lambda made: _graph(made)["outputs"].append(tensor("x")),
    "branching",
)
_broken(
    "a_branch_that_gives_nothing",
    "A branch gives what nothing makes.",
    lambda made: _graph(made).update(outputs=[tensor("nobody")]),
    "branching",
)


def _size(made: Program, target: str, *arguments: Json) -> None:
    """Have the number that a reshape takes be computed by something else."""
    (place,) = (i for i, node in enumerate(made.nodes) if node["target"] == "_operator.mul")
    made.nodes[place] = {
        **call(target, *arguments, out="mul"), "outputs": [{"as_sym_int": {"as_name": "mul"}}],
    }  # fmt: skip


_ROWS: Json = {"as_sym_int": {"as_name": "sym_size_int_1"}}
_broken(
    "a_size_divided_by_nothing",
    "The number of rows, divided by zero.",
    lambda made: _size(made, "_operator.floordiv", _ROWS, number(0)),
    "dynamic",
)
_broken(
    "a_remainder_by_nothing",
    "The number of rows, modulo zero.",
    lambda made: _size(made, "_operator.mod", _ROWS, number(0)),
    "dynamic",
)
_broken(
    "a_size_beyond_all_measure",
    "Rows times 2**62.",
    lambda made: _size(made, "_operator.mul", _ROWS, number(2**62)),
    "dynamic",
)
_broken(
    "a_size_below_nothing",
    "Rows minus a thousand.",
    lambda made: _size(made, "_operator.sub", _ROWS, number(1000)),
    "dynamic",
)
_broken(
    "a_size_of_one_argument",
    "A product of one.",
    lambda made: _size(made, "_operator.mul", _ROWS),
    "dynamic",
)
_broken(
    "an_accessor_for_a_size",
    "_operator.attrgetter where a number is made.",
    lambda made: _size(made, "_operator.attrgetter", text("real")),
    "dynamic",
)
_broken(
    "a_math_function_of_nobody",
    "math has no function by that name.",
    lambda made: _size(made, "math.nobody", _ROWS),
    "dynamic",
)
_broken(
    "a_root_of_a_negative",
    "The square root of minus a thousand.",
    lambda made: _size(made, "math.sqrt", number(-1000)),
    "dynamic",
)
