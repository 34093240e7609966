"""Exported programs that call operators which exist, with arguments that do harm."""

from tests.hostile import payloads
from tests.hostile.case import Corpus, Family
from tests.hostile.corpus.program_targets import called, chained
from tests.hostile.place import Place
from tests.hostile.valid import Json, call, number, program, tensor, text

CORPUS = Corpus("program arguments", "model.pt2", Family.MODEL)


def _mapped(path: str, size: int) -> tuple[Json, ...]:
    return (text(path), {"as_bool": True}, number(size), ("dtype", {"as_scalar_type": 1}))


@CORPUS.case()
def a_file_mapped_and_filled(place: Place) -> bytes:
    """aten::from_file maps a path, shared: what is written to the tensor is in the file."""
    return chained(
        ("torch.ops.aten.from_file.default", _mapped(str(place.checkpoint), 16)),
        ("torch.ops.aten.fill_.Scalar", (tensor("evil0"), number(66))),
    )


@CORPUS.case()
def a_file_made_by_mapping(place: Place) -> bytes:
    """aten::from_file with shared makes the file, as large as it is asked to."""
    return called("torch.ops.aten.from_file.default", *_mapped(str(place.fresh), 4096))


@CORPUS.case()
def a_key_mapped(place: Place) -> bytes:
    """aten::from_file without shared reads the private key; the graph gives its bytes."""
    arguments = (text(str(place.secret)), {"as_bool": False}, number(40),
                 ("dtype", {"as_scalar_type": 1}))  # fmt: skip
    return called("torch.ops.aten.from_file.default", *arguments, used=True)


@CORPUS.case()
def a_key_that_becomes_a_size(place: Place) -> bytes:
    """Bytes of the key become sizes of tensors, and sizes stand in reports."""
    key = (text(str(place.secret)), {"as_bool": False}, number(60),
           ("dtype", {"as_scalar_type": 1}))  # fmt: skip
    made = program()
    made.add("torch.ops.aten.from_file.default", *key, out="evil0", at=0)
    made.nodes.insert(1, call("torch.ops.aten.select.int", tensor("evil0"), number(0), number(40),
                              out="evil1"))  # fmt: skip
    item = call("torch.ops.aten.item.default", tensor("evil1"), out="size")
    item["outputs"] = [{"as_sym_int": {"as_name": "size"}}]
    made.nodes.insert(2, item)
    made.graph["sym_int_values"]["size"] = {"as_expr": {"expr_str": "u0", "hint": None}}
    made.sizes["evil1"] = {**made.sizes["x"], "sizes": [], "strides": []}
    made.nodes.insert(3, call("torch.ops.aten.zeros.default",
                              {"as_sym_ints": [{"as_name": "size"}]}, out="evil2"))  # fmt: skip
    made.sizes["evil2"] = made.sizes["x"]
    made.give("evil2")
    return made.packed()


@CORPUS.case()
def a_device_file_mapped(place: Place) -> bytes:
    """aten::from_file of a device."""
    return called("torch.ops.aten.from_file.default", *_mapped("/dev/zero", 16), used=True)


@CORPUS.case()
def saved_by_an_operator(place: Place) -> bytes:
    """aten::save pickles its argument to a path."""
    return called("torch.ops.aten.save.default", tensor("x"), text(str(place.checkpoint)))


@CORPUS.case()
def read_by_debugprims(place: Place) -> bytes:
    """debugprims::load_tensor reads a file of a content store that a name points to."""
    return called(
        "torch.ops.debugprims.load_tensor.default", text(str(place.bait / "payload.pt")),
        {"as_ints": [2]}, {"as_ints": [1]}, ("dtype", {"as_scalar_type": 7}),
        ("device", {"as_device": {"type": "cpu", "index": None}}),
    )  # fmt: skip


@CORPUS.case()
def wrap_of_an_operator_argument(place: Place) -> bytes:
    """An argument as_operator is looked up as a target is, and wrap calls what it is given."""
    return called("torch.ops.higher_order.wrap", {"as_operator": "torch.os.system"},
                  text(payloads.shell(place)))  # fmt: skip


@CORPUS.case()
def wrap_of_builtins(place: Place) -> bytes:
    """The same with eval, by way of the builtins of a namespace."""
    return called("torch.ops.higher_order.wrap",
                  {"as_operator": "torch.ops.aten.__builtins__.eval"},
                  text(payloads.expression(place)))  # fmt: skip


def _wrapping(name: str, about: str, *before: Json) -> None:
    def one(place: Place) -> bytes:
        return called(f"torch.ops.higher_order.{name}", *before,
                      {"as_operator": "torch.os.system"}, text(payloads.shell(place)))  # fmt: skip

    one.__name__, one.__doc__ = f"{name}_of_an_operator_argument", about
    CORPUS.case()(one)


_NONE: Json = {"as_none": True}
_wrapping("wrap_with_set_grad_enabled", "Sets a mode, and calls its second argument.",
          {"as_bool": False})  # fmt: skip
_wrapping("wrap_with_autocast", "The same with autocast.", text("cpu"), _NONE, {"as_bool": False},
          _NONE)  # fmt: skip
_wrapping("auto_functionalized", "Calls the operator that it is given, on copies.")
_wrapping("auto_functionalized_v2", "The same, of another release.")
_wrapping("hints_wrapper", "Calls its first argument with the others.")
_wrapping("run_const_graph", "Calls its first argument.")
_wrapping("tag_activation_checkpoint", "Calls its first argument under checkpoint.")
_wrapping("strict_mode", "Calls its first argument.")
_wrapping("call_torchbind", "Calls a method, by name, of an object.")
_wrapping("invoke_subgraph", "Calls its first argument once for each name.")
_wrapping("flat_apply", "Unflattens its arguments and calls what a spec names.")
_wrapping("with_effects", "Calls the operator that it is given, after a token.", tensor("x"))
_wrapping("out_dtype", "Calls the operator that it is given.")


@CORPUS.case()
def a_branch_that_runs_code(place: Place) -> bytes:
    """A graph within the graph is resolved by the same rules, somewhere else in a reader."""
    made = program("branching")
    (cond,) = (node for node in made.nodes if node["target"].endswith("cond"))
    branch = cond["inputs"][1]["arg"]["as_graph"]["graph"]
    branch["nodes"][0] = call("torch.os.system", text(payloads.shell(place)), out="sin")
    return made.packed()


@CORPUS.case()
def a_branch_that_writes(place: Place) -> bytes:
    """The same with an operator that opens files."""
    made = program("branching")
    (cond,) = (node for node in made.nodes if node["target"].endswith("cond"))
    for branch in cond["inputs"][1:3]:
        graph = branch["arg"]["as_graph"]["graph"]
        graph["nodes"].insert(0, call("torch.ops.aten.from_file.default",
                                      *_mapped(str(place.checkpoint), 4), out="evil"))  # fmt: skip
        graph["nodes"].insert(1, call("torch.ops.aten.fill_.Scalar", tensor("evil"), number(66),
                                      out="filled"))  # fmt: skip
        graph["tensor_values"] |= {"evil": made.sizes["x"], "filled": made.sizes["x"]}
    return made.packed()


@CORPUS.case(endless=True)
def a_loop_without_end(place: Place) -> bytes:
    """while_loop whose condition never turns false: a reader that computes values never ends."""
    made = program("branching")
    (cond,) = (node for node in made.nodes if node["target"].endswith("cond"))
    body = cond["inputs"][1]
    test = {"name": "", "kind": 1, "arg": {"as_graph": {"name": "test_graph", "graph": {
        **body["arg"]["as_graph"]["graph"], "outputs": [tensor("gt")],
        "nodes": [call("torch.ops.aten.any.default", tensor("x"), out="gt")],
        "tensor_values": {"x": made.sizes["x"], "gt": made.sizes["gt"]}}}}}  # fmt: skip
    body["arg"]["as_graph"]["graph"]["nodes"] = [
        call("torch.ops.aten.ones_like.default", tensor("x"), out="sin")
    ]
    inputs = {"name": "", "kind": 1, "arg": {"as_tensors": [{"name": "x"}]}}
    none = {"name": "", "kind": 1, "arg": {"as_tensors": []}}
    cond |= {"target": "torch.ops.higher_order.while_loop", "inputs": [test, body, inputs, none]}
    return made.packed()


@CORPUS.case()
def printed_by_an_operator(place: Place) -> bytes:
    """aten::_print and the higher-order print write to the reader's own stdout."""
    return chained(
        ("torch.ops.aten._print.default", (text("\x1b]0;title\x07" * 10_000),)),
        ("torch.ops.higher_order.print", (text("{0.__class__}" * 10_000), tensor("x"))),
    )


@CORPUS.case()
def a_format_that_reads_attributes(place: Place) -> bytes:
    """The format of print may follow attributes to the environment."""
    globals_ = "{0.__class__.__init__.__globals__[os].environ}"
    return called("torch.ops.higher_order.print", text(globals_), tensor("x"))


@CORPUS.case()
def warned_by_an_operator(place: Place) -> bytes:
    """aten::warn writes to stderr with a stack level that may be anything."""
    return called("torch.ops.aten.warn.default", text("\x1b[2J" * 1000), number(2**62))


@CORPUS.case()
def a_custom_object(place: Place) -> bytes:
    """A custom object is named by its class, and torch unpickles what the archive has for it."""
    made = program()
    made.add("torch.ops.higher_order.call_torchbind",
             {"as_custom_obj": {"name": "custom_obj_0", "class_fqn": "os.system"}},
             text("system"), text(payloads.shell(place)), at=0)  # fmt: skip
    made.graph["custom_obj_values"]["custom_obj_0"] = {
        "name": "custom_obj_0", "class_fqn": "__torch__.torch.classes.hostile_import.Payload",
    }  # fmt: skip
    return made.packed()


@CORPUS.case()
def a_delegate(place: Place) -> bytes:
    """A lowered module is a blob that a backend's library runs."""
    return called("torch.ops.higher_order.executorch_call_delegate",
                  {"as_custom_obj": {"name": "lowered", "class_fqn": str(place.bait)}},
                  tensor("x"))  # fmt: skip


@CORPUS.case()
def a_kernel_by_number(place: Place) -> bytes:
    """A Triton kernel is an index into a table of the process that wrote the file."""
    return called("torch.ops.higher_order.triton_kernel_wrapper_mutation", number(10**9),
                  number(10**9), ("grid", {"as_int_lists": [[1, 1, 1]]}))  # fmt: skip


@CORPUS.case()
def an_aoti_library(place: Place) -> bytes:
    """aot_inductor's operators load a shared library by its path."""
    return called("torch.ops.aoti_torch.load_constants.default",
                  text(str(place.bait / "payload.so")), tensor("x"))  # fmt: skip


@CORPUS.case()
def a_process_group(place: Place) -> bytes:
    """Collectives take the name of a group: to resolve one may make a connection."""
    return called("torch.ops._c10d_functional.all_reduce.default", tensor("x"), text("sum"),
                  text(f"tcp://127.0.0.1:{place.number}"))  # fmt: skip


@CORPUS.case()
def arguments_in_a_dict(place: Place) -> bytes:
    """as_string_to_argument nests arguments: what holds for the outer ones holds for these."""
    inner = {"function": {"as_operator": "torch.os.system"}, "text": text(payloads.shell(place))}
    return called("torch.ops.higher_order.hints_wrapper", {"as_operator": "torch.os.system"},
                  {"as_string_to_argument": inner},
                  ("hints", {"as_string_to_argument": inner}))  # fmt: skip


@CORPUS.case()
def an_einsum_of_a_path(place: Place) -> bytes:
    """A text argument of an operator that parses it: einsum's equation."""
    return called("torch.ops.aten.einsum.default", text(payloads.shell(place)),
                  {"as_tensors": [{"name": "x"}]})  # fmt: skip


@CORPUS.case()
def a_device_that_is_a_module(place: Place) -> bytes:
    """A device's type names a module of torch: somebody may import it."""
    device = {"type": "hostile_import", "index": 2**40}
    return called("torch.ops.aten.zeros.default", {"as_ints": [2]},
                  ("device", {"as_device": device}))  # fmt: skip
