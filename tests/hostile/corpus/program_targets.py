"""Exported programs whose nodes name what is no operator: torch.export looks up dotted names."""

from tests.hostile import payloads
from tests.hostile.case import Corpus, Family
from tests.hostile.place import Place
from tests.hostile.valid import Json, program, tensor, text

CORPUS = Corpus("program targets", "model.pt2", Family.MODEL)


def called(target: str, *arguments: Json, used: bool = False) -> bytes:
    """The plain program with one call more, whose result is given where it is ``used``."""
    made = program()
    made.add(target, *arguments, at=0)
    if used:
        made.give("evil")
    return made.packed()


def chained(*steps: tuple[str, tuple[Json, ...]]) -> bytes:
    """The plain program with several calls more, each named ``evilN``."""
    made = program()
    for place, (target, arguments) in enumerate(steps):
        made.add(target, *arguments, out=f"evil{place}", at=place)
    made.give(f"evil{len(steps) - 1}")
    return made.packed()


_SHELLS = (
    ("os_of_torch", "A target beginning with torch is looked up attribute by attribute: torch.os "
     "is the module.", "torch.os.system"),
    ("os_of_serialization", "The same through a module that imports os.",
     "torch.serialization.os.system"),
    ("subprocess_of_torch", "The same through one that imports subprocess.",
     "torch.utils.collect_env.subprocess.getoutput"),
    ("os_of_the_loader_of_ops", "torch.ops is a module whose class lies in a module with os.",
     "torch.ops.__class__.__getattr__.__globals__.os.system"),
    ("os_popen", "Another function of os.", "torch.os.popen"),
    ("os_named_plainly", "No prefix that a serializer writes.", "os.system"),
    ("subprocess_named_plainly", "The same of subprocess.", "subprocess.getoutput"),
    ("os_of_operator", "_operator is taken for any function of that module, and its attributes.",
     "_operator.__spec__.loader.load_module.__globals__.os.system"),
    ("math_to_os", "A target beginning with math is looked up in math.",
     "math.__loader__.__init__.__globals__.sys.modules.os.system"),
)  # fmt: skip
CORPUS.each(_SHELLS, lambda place, target: called(str(target), text(payloads.shell(place))))

_EXPRESSIONS = (
    ("builtins_eval", "A Python target as an exporter names one.", "builtins.eval"),
    ("builtins_exec", "The same of exec.", "builtins.exec"),
    ("builtins_of_ops", "The builtins of the module that torch.ops is.",
     "torch.ops.__builtins__.eval"),
    ("builtins_of_aten", "A namespace of operators is a module, too.",
     "torch.ops.aten.__builtins__.eval"),
    ("builtins_of_the_packet", "Functions have globals, and these builtins.",
     "torch.ops.aten.relu.__init__.__globals__.__builtins__.eval"),
    ("builtins_of_the_overload", "The same of an overload's method.",
     "torch.ops.aten.relu.default.decompose.__globals__.__builtins__.eval"),
    ("builtins_of_a_higher_order_operator", "The same of a higher-order operator's.",
     "torch.ops.higher_order.cond.__init__.__globals__.__builtins__.eval"),
    ("sympy", "sympify evaluates its text.",
     "torch.fx.experimental.symbolic_shapes.sympy.sympify"),
    ("numexpr_of_dynamo", "eval under another name.", "torch.fx.graph_module._exec_with_source"),
)  # fmt: skip
CORPUS.each(
    _EXPRESSIONS, lambda place, target: called(str(target), text(payloads.expression(place)))
)

_PATHS = (
    ("load_library", "torch.ops.load_library is a method, not an operator: it loads native code.",
     "torch.ops.load_library", "payload.so"),
    ("load_library_dressed_up", "The same, with as many parts as an operator's name has.",
     "torch.ops.load_library.__call__.__call__", "payload.so"),
    ("load_library_as_an_overload", "A name with the form namespace, operator, overload.",
     "torch.ops.load_library.__func__.__call__", "payload.so"),
    ("load_library_of_classes", "torch.classes has one as well.",
     "torch.classes.load_library", "payload.so"),
    ("ctypes", "ctypes as a module of torch sees it.", "torch.ctypes.CDLL", "payload.so"),
    ("ctypes_of_ops", "ctypes as the module of torch.ops sees it.",
     "torch._ops.ctypes.CDLL", "payload.so"),
    ("import_a_module_file", "A loader of modules takes a path.",
     "torch.package.importlib.machinery.SourceFileLoader", "payload.py"),
    ("hub_load", "A folder of the user's is imported.", "torch.hub.load", "."),
    ("open_builtin", "A file is opened, here only to be read.", "builtins.open", "payload.py"),
    ("open_of_torch", "torch has builtins.", "torch.builtins.open", "payload.py"),
    ("torch_load", "A path is unpickled.", "torch.serialization.load", "payload.pt"),
    ("run_path", "A script is run by its path.", "runpy.run_path", "payload.py"),
)  # fmt: skip
for _name, _about, _target, _file in _PATHS:

    def _one(place: Place, target: str = _target, file: str = _file) -> bytes:
        return called(target, text(str(place.bait / file)))

    _one.__name__, _one.__doc__ = _name, _about
    CORPUS.case()(_one)


@CORPUS.case()
def eval_got_from_a_dict(place: Place) -> bytes:
    """The builtins of torch.ops's initialiser are a dict; its method get is the first target, the
    higher-order operator wrap, which calls its first argument, is the second."""
    return chained(
        ("torch.ops.__init__.__builtins__.get", (text("eval"),)),
        ("torch.ops.higher_order.wrap", (tensor("evil0"), text(payloads.expression(place)))),
    )


@CORPUS.case()
def attrgetter_then_call(place: Place) -> bytes:
    """_operator.attrgetter makes an accessor, _operator.call calls what it is given."""
    return chained(
        ("_operator.attrgetter", (text("os.system"),)),
        ("_operator.call", (tensor("evil0"), text(payloads.shell(place)))),
    )


@CORPUS.case()
def methodcaller_then_call(place: Place) -> bytes:
    """_operator.methodcaller calls any method of any argument."""
    return chained(
        ("_operator.methodcaller", (text("tofile"), text(str(place.checkpoint)))),
        ("_operator.call", (tensor("evil0"), tensor("x"))),
    )


@CORPUS.case()
def a_method_of_a_tensor_that_writes(place: Place) -> bytes:
    """torch.Tensor is no operator, but its methods are functions: numpy().tofile is one away."""
    return called("torch._C.TensorBase.__reduce_ex__", tensor("x"), text(str(place.fresh)))


@CORPUS.case()
def saved_by_torch(place: Place) -> bytes:
    """torch.save is a Python function of torch, and overwrites a path."""
    return called("torch.save", tensor("x"), text(str(place.checkpoint)))


@CORPUS.case()
def import_by_ops(place: Place) -> bytes:
    """torch.ops.import_module imports what its text names: here a file beside the model."""
    return called("torch.ops.import_module", text("hostile_import"))


@CORPUS.case()
def import_by_builtins(place: Place) -> bytes:
    """__import__ as a Python target."""
    return called("builtins.__import__", text("hostile_import"))


@CORPUS.case()
def extension_operator(place: Place) -> bytes:
    """A target that begins with # is given to the handler that a package registered."""
    return called("#hostile_import:payload", tensor("x"))


@CORPUS.case()
def the_process_ends(place: Place) -> bytes:
    """os._exit ends the process that reads: seen although nothing was written."""
    return called("torch.os._exit", {"as_int": 213})


@CORPUS.case()
def a_signal_to_the_group(place: Place) -> bytes:
    """os.killpg of its own group ends whoever shares it."""
    return called("torch.os.killpg", {"as_int": 0}, {"as_int": 9})


@CORPUS.case(endless=True)
def sleeps_for_ever(place: Place) -> bytes:
    """time.sleep as a target: the reader hangs."""
    return called("torch.utils.data.dataloader.time.sleep", {"as_int": 10**6})


@CORPUS.case()
def a_connection(place: Place) -> bytes:
    """A socket as a target: an answer of the reader leaves the machine."""
    return chained(
        ("torch.distributed.TCPStore", (text("127.0.0.1"), {"as_int": place.number})),
    )


@CORPUS.case()
def a_dunder_overload(place: Place) -> bytes:
    """An attribute of an overload stands where the overload's name does."""
    return called("torch.ops.aten.relu.__class__", tensor("x"))


@CORPUS.case(harmless=True)
def an_operator_that_is_no_overload(place: Place) -> bytes:
    """A packet without an overload is resolved by its arguments."""
    return called("torch.ops.aten.relu", tensor("x"))


@CORPUS.case()
def kernels_of_an_overload(place: Place) -> bytes:
    """py_impl of an overload registers a kernel: later calls of it, by anybody, would take that."""
    return called("torch.ops.aten.relu.default.py_impl", text("CPU"))


@CORPUS.case()
def caches_of_an_overload(place: Place) -> bytes:
    """Methods of an overload's caches change what the process does next."""
    return called("torch.ops.aten.relu.default.py_kernels.clear")


@CORPUS.case()
def a_target_with_a_call_in_it(place: Place) -> bytes:
    """A target is a text: somebody may evaluate it."""
    return called(f"torch.ops.aten.{payloads.expression(place)}.default", tensor("x"))


@CORPUS.case()
def a_target_that_is_a_path(place: Place) -> bytes:
    """A namespace that is a path: somebody may look for its library."""
    return called(f"torch.ops.{place.bait / 'payload.so'}.op.default", tensor("x"))


@CORPUS.case()
def a_namespace_of_a_module_beside_the_model(place: Place) -> bytes:
    """A custom operator's namespace is named as its package: somebody may import that."""
    return called("torch.ops.hostile_import.op.default", tensor("x"))
