"""TorchScript: code in an archive, which torch compiles and runs; its operators open files."""

import io
import json
import zipfile
from collections.abc import Mapping

from tests.hostile import payloads
from tests.hostile.case import Corpus, Family
from tests.hostile.place import Place
from tests.hostile.valid import archive, program, script

CORPUS = Corpus("TorchScript", "model.pt", Family.MODEL, ("--input", "2x3"))
_LINEAR = "archive/code/__torch__/torch/nn/modules/linear.py"
_RETURN = "    return torch.linear(input, weight, bias)\n"


def scripted(*lines: str, result: str = "torch.linear(input, weight, bias)") -> bytes:
    """The linear layer with lines of code before it returns, compiled as torch stores code."""
    return archive(_members(*lines, result=result))


def _members(*lines: str, result: str = "torch.linear(input, weight, bias)") -> dict[str, bytes]:
    members = {name: text for name, text in script().items() if not name.endswith("debug_pkl")}
    code = members[_LINEAR].decode()
    assert _RETURN in code
    body = "".join(f"    {line}\n" for line in lines)
    members[_LINEAR] = code.replace(_RETURN, f"{body}    return {result}\n").encode()
    return members


_WRITERS = (
    ("saved", "torch.save(tensor, path) is an operator: aten::save.",
     '_0 = torch.save(input, "{place.checkpoint}")'),
    ("saved_by_name", "The same by its full name.",
     '_0 = ops.aten.save("text", "{place.checkpoint}")'),
    ("saved_into_home", "The same into a dot file.", '_0 = torch.save(7, "{place.home}/.bashrc")'),
    ("saved_anew", "The same to a path that is free.", '_0 = torch.save([1], "{place.fresh}")'),
    ("saved_into_the_temp_folder", "The same to where everybody may write.",
     '_0 = torch.save(True, "{place.temp}/left")'),
    ("mapped_and_filled", "A file mapped shared is written to by fill_.",
     'input = torch.add(input, torch.fill_(torch.from_file("{place.checkpoint}", True, 3, '
     'dtype=0), 66))'),
    ("mapped_anew", "A mapping makes its file.",
     'input = torch.add(input, torch.from_file("{place.fresh}", True, 3, dtype=0))'),
)  # fmt: skip
for _name, _about, _line in _WRITERS:

    def _one(place: Place, line: str = _line) -> bytes:
        return scripted(line.format(place=place))

    _one.__name__, _one.__doc__ = _name, _about
    CORPUS.case(runnable=True)(_one)


@CORPUS.case(runnable=True)
def a_key_given_as_the_result(place: Place) -> bytes:
    """A file mapped privately is read: the model gives the private key."""
    return scripted(
        f'_0 = torch.from_file("{place.secret}", False, 50, dtype=0)', "_1 = print(_0)",
    )  # fmt: skip


@CORPUS.case(runnable=True)
def a_key_in_an_error(place: Place) -> bytes:
    """An exception's text is shown: here with the bytes of the key."""
    return scripted(
        f'_0 = torch.from_file("{place.secret}", False, 50, dtype=0)',
        '_1 = torch.format("{}", _0)',
        "ops.prim.RaiseException(_1)",
    )


@CORPUS.case(runnable=True)
def a_key_in_a_size(place: Place) -> bytes:
    """Sizes are shown: here those that bytes of the key are."""
    lines = [f'k = torch.from_file("{place.secret}", False, 50, dtype=0)']
    lines += [f"s{number} = int(torch.select(k, 0, {32 + number}))" for number in range(6)]
    lines += ["z = torch.zeros([1, 1, 1, 1, 1, 1])"]
    return scripted(*lines, "y = torch.expand(z, [s0, s1, s2, s3, s4, s5])",
                    "input = torch.add(input, torch.select(y, 0, 0)[0, 0, 0, 0, 0])")  # fmt: skip


@CORPUS.case(runnable=True)
def written_in_a_function(place: Place) -> bytes:
    """A function that a method of another module calls."""
    members = _members()
    path = "archive/code/__torch__/torch/nn/functional.py"
    code = members[path].decode()
    members[path] = code.replace(
        "  if inplace:", f'  _0 = torch.save(1, "{place.checkpoint}")\n  if inplace:'
    ).encode()
    return archive(members)


@CORPUS.case(runnable=True)
def written_when_loaded(place: Place) -> bytes:
    """__setstate__ runs while the file is loaded, before anything looks at forward."""
    return archive(_placed(script("loading"), str(place.checkpoint)))


@CORPUS.case(runnable=True)
def written_in_a_hook(place: Place) -> bytes:
    """A forward hook is stored with the module, and called before forward."""
    return archive(_placed(script("hooked"), str(place.checkpoint)))


@CORPUS.case(runnable=True)
def written_in_a_fork(place: Place) -> bytes:
    """prim::fork runs a closure on another thread."""
    return archive(_placed(script("forking"), str(place.checkpoint)))


def _placed(members: Mapping[str, bytes], path: str) -> Mapping[str, bytes]:
    """The archive with the path in its code where it was saved with another."""
    return {
        name: text.replace(b"/placeholder", path.encode()) if name.endswith(".py") else text
        for name, text in members.items() if not name.endswith("debug_pkl")
    }  # fmt: skip


@CORPUS.case(runnable=True)
def written_in_another_method(place: Place) -> bytes:
    """A method that forward does not call, but that a reader of the module may: __len__."""
    members = _members()
    path = "archive/code/__torch__/torch/nn/modules/container.py"
    members[path] = members[path].replace(
        b"    return 2\n", f'    _0 = torch.save(2, "{place.checkpoint}")\n    return 2\n'.encode()
    )
    return archive(members)


@CORPUS.case(runnable=True)
def written_in_a_branch(place: Place) -> bytes:
    """The operator stands in a block of a block."""
    return scripted("if True:", "  for i in range(2):",
                    f'    _0 = torch.save("x", "{place.checkpoint}")')  # fmt: skip


@CORPUS.case(runnable=True)
def a_path_put_together(place: Place) -> bytes:
    """The path is computed: no constant of the code has it."""
    first, last = str(place.checkpoint)[:7], str(place.checkpoint)[7:]
    return scripted(f'_0 = torch.add("{first}", "{last}")', "_1 = torch.save(3.5, _0)")


@CORPUS.case()
def unpickled_by_an_operator(place: Place) -> bytes:
    """A string operator of the interpreter may reach Python: prim::PythonOp by its caret."""
    return scripted(f'_0 = ^system("{payloads.shell(place)}")(input)')


@CORPUS.case()
def python_in_the_code(place: Place) -> bytes:
    """The code is Python's syntax: somebody may have Python compile it."""
    members = _members()
    members[_LINEAR] = payloads.python(place).encode() + members[_LINEAR]
    return archive(members)


@CORPUS.case(runnable=True)
def a_module_of_python(place: Place) -> bytes:
    """The constant table and the debug files are pickles."""
    members = dict(script())
    for name in members:
        if name.endswith("debug_pkl"):
            members[name] = payloads.pickled(payloads.shell(place))
    return archive(members)


@CORPUS.case()
def a_gadget_as_data(place: Place) -> bytes:
    """data.pkl is a pickle: torch's own reader makes script objects alone, Python's runs it."""
    return archive({**script(), "archive/data.pkl": payloads.pickled(payloads.shell(place))})


@CORPUS.case()
def a_gadget_as_constants(place: Place) -> bytes:
    """So is constants.pkl."""
    return archive({**script(), "archive/constants.pkl": payloads.pickled(payloads.shell(place))})


@CORPUS.case(runnable=True)
def the_model_json_of_a_state(place: Place) -> bytes:
    """Extra files are given to whoever asks: names that lead out."""
    members = {**script(), "archive/extra/../../../checkpoint.pt": b"spoiled"}
    members["archive/extra/producer_info.json"] = json.dumps({"a": "\x1b[31m"}).encode()
    return archive(members)


@CORPUS.case(endless=True)
def a_loop_without_end(place: Place) -> bytes:
    """A while loop whose condition is true."""
    return scripted("while True:", "  input = torch.relu(input)")


@CORPUS.case(endless=True)
def a_loop_without_an_operator(place: Place) -> bytes:
    """The same without anything that a tracer sees."""
    return scripted("i = 0", "while True:", "  i = torch.add(i, 1)")


@CORPUS.case()
def a_recursion_without_end(place: Place) -> bytes:
    """A method that calls itself."""
    return scripted("_0 = (self).forward(input, )")


@CORPUS.case(endless=True)
def memory_without_end(place: Place) -> bytes:
    """A list that doubles."""
    return scripted('s = "0123456789abcdef"', "for i in range(60):", "  s = torch.add(s, s)")


@CORPUS.case(runnable=True)
def a_flood(place: Place) -> bytes:
    """print writes to the process's stdout, three hundred thousand lines."""
    return scripted("for i in range(300000):", '  print("flood, flood, flood, flood")')


@CORPUS.case(runnable=True)
def escapes_on_stdout(place: Place) -> bytes:
    """print writes what a terminal obeys, or a line that a parent takes for a message."""
    return scripted('print("\\033]0;title\\007{\\"kind\\": \\"result\\"}")')


@CORPUS.case(runnable=True)
def warnings_by_the_thousand(place: Place) -> bytes:
    """aten::warn writes to stderr."""
    return scripted("for i in range(100000):", '  torch.warn("flood", 2)')


@CORPUS.case()
def an_exception_with_escapes(place: Place) -> bytes:
    """The text of an exception is shown."""
    return scripted('ops.prim.RaiseException("\\033[2J<script>hostile()</script>")')


@CORPUS.case()
def an_exception_of_a_class(place: Place) -> bytes:
    """An exception names its class, to be looked up in Python."""
    return scripted('ops.prim.RaiseException("x", "os.system")')


@CORPUS.case()
def a_named_exit(place: Place) -> bytes:
    """The class of an exception may be one that ends the process."""
    return scripted('ops.prim.RaiseException("213", "builtins.SystemExit")')


@CORPUS.case()
def a_class_of_a_library(place: Place) -> bytes:
    """A custom class is made by a library that the name asks for."""
    return scripted("_0 = __torch__.torch.classes.hostile_import.Payload.__new__("
                    "__torch__.torch.classes.hostile_import.Payload)")  # fmt: skip


@CORPUS.case()
def a_library_loaded(place: Place) -> bytes:
    """No operator loads libraries, but a name may look like one."""
    return scripted(f'_0 = ops.load_library("{place.bait / "payload.so"}")')


@CORPUS.case(runnable=True)
def a_profile_written(place: Place) -> bytes:
    """Operators of the profiler, quantized and metal namespaces keep state of the process."""
    return scripted('_0 = ops.profiler._record_function_enter("x", None)',
                    '_1 = ops.prim.AddStatValue("x", 9223372036854775807)')  # fmt: skip


@CORPUS.case()
def gradients_switched(place: Place) -> bytes:
    """Operators that change the modes of the process."""
    return scripted("_0 = torch.set_grad_enabled(False)",
                    "_1 = ops.aten._set_grad_enabled(True)")  # fmt: skip


@CORPUS.case(runnable=True)
def a_seed(place: Place) -> bytes:
    """manual_seed changes the generator of the process."""
    return scripted("_0 = torch.manual_seed(0)")


@CORPUS.case()
def memory_of_others(place: Place) -> bytes:
    """as_strided far behind the storage, which unchecked kernels would read."""
    return scripted("_0 = torch.as_strided(input, [1000], [1000000000], 1000000000)",
                    "input = torch.add(input, torch.sum(_0))")  # fmt: skip


@CORPUS.case()
def a_tensor_of_a_pointer(place: Place) -> bytes:
    """A storage key in data.pkl that is an address, or a member of another archive."""
    members = dict(script())
    members["archive/data.pkl"] = members["archive/data.pkl"].replace(
        b"\x01\x00\x00\x000", b"\x01\x00\x00\x00/"
    )
    return archive(members)


@CORPUS.case()
def an_archive_that_is_two(place: Place) -> bytes:
    """A pickle before the archive, and an exported program in it."""
    both = {**script(), **program().members}
    return payloads.pickled(payloads.shell(place)) + archive(both)


@CORPUS.case()
def code_that_nests(place: Place) -> bytes:
    """An expression of ten thousand brackets: the parser recurses."""
    return scripted("_0 = " + "torch.relu(" * 10_000 + "input" + ")" * 10_000)


@CORPUS.case(runnable=True)
def code_that_nests_in_blocks(place: Place) -> bytes:
    """Three hundred blocks in one another."""
    return scripted(*(f"{'  ' * depth}if True:" for depth in range(300)), "  " * 300 + "pass")


@CORPUS.case()
def classes_that_need_each_other(place: Place) -> bytes:
    """Two classes whose attributes are of each other."""
    members = _members()
    path = "archive/code/__torch__/torch/nn/modules/activation.py"
    members[path] = members[path].replace(
        b"  training : bool\n",
        b"  training : bool\n  other : __torch__.torch.nn.modules.linear.Linear\n",
    )
    code = members[_LINEAR]
    members[_LINEAR] = code.replace(
        b"  training : bool\n",
        b"  training : bool\n  other : __torch__.torch.nn.modules.activation.ReLU\n",
    )
    return archive(members)


@CORPUS.case()
def versions_of_the_future(place: Place) -> bytes:
    """A format that torch does not know yet."""
    return archive({**script(), "archive/version": b"99999999999999999999\n"})


@CORPUS.case(runnable=True)
def a_member_of_a_gigabyte(place: Place) -> bytes:
    """Code that unpacks to a thousand times its size."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, member in script().items():
            if name != _LINEAR:
                packed.writestr(name, member)
        with packed.open(zipfile.ZipInfo(_LINEAR), "w", force_zip64=True) as code:
            code.write(script()[_LINEAR])
            for _ in range(1024):
                code.write(b"#" * 2**20)
    return content.getvalue()


@CORPUS.case()
def a_name_with_escapes(place: Place) -> bytes:
    """Attributes and modules are named by the file."""
    members = _members()
    path = "archive/code/__torch__/torch/nn/modules/container.py"
    members[path] = members[path].replace(b'"0"', b'"\\u001b[31m<b>"')
    return archive(members)
