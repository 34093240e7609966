"""Files of weights: pickles, which run what they name, safetensors and ONNX, which lie."""

import builtins
import io
import json
import os
import pickle
import runpy
import struct
import subprocess
import tarfile
import zipfile
from typing import Any

from tests.hostile import payloads
from tests.hostile.case import Corpus, Family, Made
from tests.hostile.place import Place
from tests.hostile.valid import archive, members, safetensors, weights

PICKLE = Corpus("pickle", "model.pt", Family.MODEL)


def _torch(content: bytes) -> bytes:
    """A state dict as torch saves it, with another pickle in it."""
    return archive({**members(weights()), "archive/data.pkl": content})


def _dumped(*values: object, protocol: int = 2) -> bytes:
    return pickle.dumps({"layer.weight": 1.0, "evil": list(values)}, protocol)


_GADGETS: tuple[tuple[str, str, Any], ...] = (
    ("a_shell", "A reduction names any function: os.system.",
     lambda place: payloads.gadget(os.system, payloads.shell(place))),
    ("a_process", "subprocess.Popen, whose object is never called.",
     lambda place: payloads.gadget(subprocess.Popen, ["sh", str(place.bait / "payload.sh")])),
    ("an_expression", "eval.",
     lambda place: payloads.gadget(builtins.eval, payloads.expression(place))),
    ("a_script", "runpy.run_path.",
     lambda place: payloads.gadget(runpy.run_path, str(place.bait / "payload.py"))),
    ("a_file", "open, which empties a file.",
     lambda place: payloads.gadget(builtins.open, str(place.checkpoint), "w")),
    ("an_import", "__import__ of a module beside the file.",
     lambda place: payloads.gadget(builtins.__import__, "hostile_import")),
    ("an_end", "os._exit: seen although nothing is written.",
     lambda place: payloads.gadget(os._exit, 213)),
)  # fmt: skip
for _name, _about, _gadget in _GADGETS:

    def _zipped(place: Place, gadget: Any = _gadget) -> bytes:
        return _torch(_dumped(gadget(place)))

    def _bare(place: Place, gadget: Any = _gadget) -> bytes:
        return _dumped(gadget(place), protocol=4)

    for _make, _form in ((_zipped, "in_an_archive"), (_bare, "in_a_bare_pickle")):
        _make.__name__, _make.__doc__ = f"{_name}_{_form}", _about
        PICKLE.case(file="model.pth" if _make is _bare else "")(_make)


@PICKLE.case(file="pytorch_model.bin")
def a_gadget_of_torch(place: Place) -> bytes:
    """weights_only allows some functions of torch: to build tensors of any storage."""
    content = (b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(ctorch.storage\n_load_from_bytes\n("
               + b"X" + struct.pack("<L", 4) + b"evil" + b"tRK\x00)))tR.")  # fmt: skip
    return _torch(content)


@PICKLE.case(file="model.ckpt")
def a_gadget_by_stack_global(place: Place) -> bytes:
    """Protocol 4 takes names from the stack: a reader that looks for the opcode GLOBAL is blind."""
    command = payloads.shell(place).encode()
    return (b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c" + bytes([len(command)]) + command
            + b"\x85R.")  # fmt: skip


@PICKLE.case(file="model.ckpt")
def a_gadget_from_the_memo(place: Place) -> bytes:
    """Names put together by way of the memo, with an INST."""
    command = payloads.shell(place).encode()
    return b"(V" + command + b"\nios\nsystem\n."


@PICKLE.case()
def a_gadget_in_build(place: Place) -> bytes:
    """BUILD calls __setstate__ or sets attributes."""
    return _torch(
        b"\x80\x02ccollections\nOrderedDict\n)R}X\x09\x00\x00\x00__class__cos\nsystem\nsb."
    )


@PICKLE.case()
def an_extension_code(place: Place) -> bytes:
    """EXT looks a number up in copyreg's table."""
    return _torch(b"\x80\x02\x82\x01.")


@PICKLE.case()
def a_persistent_id(place: Place) -> bytes:
    """Storages are persistent ids: tuples with a class and the name of a member."""
    return _torch(b"\x80\x02(X\x07\x00\x00\x00storagecos\nsystem\nX\x13\x00\x00\x00"
                  b"../../.ssh/id_rsa.."
                  b"X\x03\x00\x00\x00cpuK\x01tQ.")  # fmt: skip


@PICKLE.case(near=False)
def a_pickle_that_grows(place: Place) -> bytes:
    """Tuples of tuples that are doubled: a few bytes are a billion objects."""
    doubled = b"".join(b"q%ch%ch%c\x86" % (n, n, n) for n in range(100))
    return b"\x80\x02K\x01" + doubled + b"."


@PICKLE.case(near=False)
def a_length_that_lies(place: Place) -> bytes:
    """A text of eight exabytes."""
    return b"\x80\x04\x8d" + struct.pack("<Q", 2**63 - 1) + b"x."


@PICKLE.case(near=False)
def a_deep_pickle(place: Place) -> bytes:
    """Lists in lists, a million deep."""
    return b"\x80\x02" + b"]" * 10**6 + b"a" * (10**6 - 1) + b"."


@PICKLE.case(file="model.tar", near=False)
def an_old_tar(place: Place) -> bytes:
    """The oldest format is a tar, unpacked to a folder: with members that lead out."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as packed:
        for name in ("storages", "tensors", "../checkpoint.pt", str(place.fresh)):
            member = tarfile.TarInfo(name)
            member.size = 5
            packed.addfile(member, io.BytesIO(b"spoil"))
    return made.getvalue()


@PICKLE.case(file="model.pt", near=False)
def an_old_tar_by_the_name_of_a_model(place: Place) -> bytes:
    """The same under a name that is looked at."""
    return an_old_tar(place)  # type: ignore[return-value]


@PICKLE.case(file="model.pkl", near=False)
def numbers_of_the_old_format(place: Place) -> bytes:
    """The format before zip: a magic number, a protocol, and then pickles one after another."""
    magic = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
    return magic + pickle.dumps({}, 2) + payloads.pickled(payloads.shell(place))


@PICKLE.case(near=False)
def a_pipe_of_weights(place: Place) -> Made:
    """A named pipe under the name of a file of weights."""
    os.mkfifo(place.project / "model.pth")
    return Made("model.pth")


SAFETENSORS = Corpus("safetensors", "model.safetensors", Family.MODEL)
_TENSOR = {"dtype": "F32", "shape": [4, 4], "data_offsets": [0, 64]}
_HEADERS: tuple[tuple[str, str, Any], ...] = (
    ("offsets_beyond_the_file", "Data that is not there.",
     {"a": {**_TENSOR, "data_offsets": [0, 2**40]}}),
    ("offsets_below_nothing", "Data before the file.",
     {"a": {**_TENSOR, "data_offsets": [-64, 0]}}),
    ("offsets_in_disorder", "Data that ends before it begins.",
     {"a": {**_TENSOR, "data_offsets": [64, 0]}}),
    ("tensors_that_overlap", "Two tensors of the same bytes.", {"a": _TENSOR, "b": _TENSOR}),
    ("sizes_that_overflow", "A shape whose product is no number of 64 bits.",
     {"a": {**_TENSOR, "shape": [2**40, 2**40]}}),
    ("names_with_escapes", "A name with what a terminal and a page obey.",
     {"\x1b]0;x\x07<script>hostile()</script>\u202e": _TENSOR}),
    ("names_that_lead_out", "A name that is a path.", {"../../../home/.bashrc": _TENSOR}),
    ("names_of_python", "A name that sets attributes.",
     {"__class__.__init__.__globals__": _TENSOR}),
    ("a_dtype_of_a_module", "A dtype that is looked up by name.",
     {"a": {**_TENSOR, "dtype": "hostile_import"}}),
    ("metadata_that_is_code", "Metadata is a mapping of texts: somebody may evaluate it.",
     {"__metadata__": {"format": "__import__('os').system('false')", "config": "{{7*7}}"},
      "a": _TENSOR}),
    ("metadata_of_another_kind", "Metadata that is no mapping.",
     {"__metadata__": [1], "a": _TENSOR}),
    ("a_tensor_of_another_kind", "A description that is a text.", {"a": "b"}),
    ("a_list", "A header that is no mapping.", [1, 2, 3]),
)  # fmt: skip
SAFETENSORS.each(_HEADERS, lambda place, header: safetensors(header))


@SAFETENSORS.case()
def a_length_beyond_the_file(place: Place) -> bytes:
    """The header is eight exabytes long."""
    return safetensors(claimed=2**63 - 1)


@SAFETENSORS.case(near=False)
def a_header_of_a_gigabyte(place: Place) -> Made:
    """The same with a file that has holes, as large as it says."""
    with (place.project / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", 2**30) + b'{"a":"')
        file.truncate(2**30 + 8)
    return Made("model.safetensors")


@SAFETENSORS.case(near=False)
def a_header_that_nests(place: Place) -> bytes:
    """Brackets, a hundred thousand deep."""
    return safetensors(b'{"a":' * 100_000 + b"1" + b"}" * 100_000)


@SAFETENSORS.case(near=False)
def a_pickle_of_tensors(place: Place) -> bytes:
    """A pickle under the name."""
    return payloads.pickled(payloads.shell(place))


@SAFETENSORS.case()
def a_key_twice(place: Place) -> bytes:
    """One name for two descriptions."""
    one = json.dumps({"a": _TENSOR})[1:-1]
    return safetensors(f"{{{one},{one}}}".encode())


ONNX = Corpus("ONNX", "model.onnx", Family.MODEL)


def _field(number: int, content: bytes) -> bytes:
    """A field of a protocol buffer, with its length before it."""
    length, size = len(content), b""
    while length > 0x7F:
        size, length = size + bytes([length & 0x7F | 0x80]), length >> 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + content


def _onnx(*nodes: bytes, extra: bytes = b"") -> bytes:
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"graph") + extra
    return b"\x08\x08" + _field(2, b"pytorch") + _field(7, graph) + _field(8, b"\x10\x11")


def _node(kind: bytes, domain: bytes = b"") -> bytes:
    return (_field(1, b"x") + _field(2, b"y") + _field(4, kind)
            + (_field(7, domain) if domain else b""))  # fmt: skip


_FILES: tuple[tuple[str, str, Any], ...] = (
    ("a_plain_graph", "A graph without anything hostile: there may be no reader for it.",
     lambda place: _onnx(_node(b"Relu"))),
    ("an_operator_of_python", "onnxruntime-extensions has operators that call Python.",
     lambda place: _onnx(_node(b"PyOp", b"ai.onnx.contrib"))),
    ("an_operator_that_is_code", "The kind of a node is a text.",
     lambda place: _onnx(_node(payloads.expression(place).encode()))),
    ("data_outside_of_the_file", "external_data names a file: here the private key.",
     lambda place: _onnx(_node(b"Relu"), extra=_field(5, b"\x70\x01" + _field(
         13, _field(1, b"location") + _field(2, b"../home/.ssh/id_rsa"))))),
    ("data_that_is_written", "The same with a file that a converter makes.",
     lambda place: _onnx(_node(b"Relu"), extra=_field(5, b"\x70\x01" + _field(
         13, _field(1, b"location") + _field(2, str(place.fresh).encode()))))),
    ("names_with_escapes", "Names are texts.",
     lambda place: _onnx(_node(b"\x1b]0;x\x07<script>hostile()</script>"))),
    ("a_length_that_lies", "A field of two gigabytes.",
     lambda place: b"\x08\x08\x3a\xff\xff\xff\xff\x07"),
    ("groups_that_nest", "Groups, a million deep.", lambda place: b"\x0b" * 10**6),
    ("fields_that_nest", "Graphs in attributes of nodes of graphs.",
     lambda place: _nested(1000)),
    ("a_pickle", "A pickle under the name.",
     lambda place: payloads.pickled(payloads.shell(place))),
    ("an_archive", "A zip with a pickle under the name.",
     lambda place: archive({"archive/data.pkl": payloads.pickled(payloads.shell(place))})),
)  # fmt: skip


def _nested(depth: int) -> bytes:
    found = _node(b"If")
    for _ in range(depth):
        found = _node(b"If") + _field(5, _field(1, b"then") + _field(6, _field(1, found)))
    return _onnx(found)


for _name, _about, _maker in _FILES:

    def _file(place: Place, maker: Any = _maker) -> bytes:
        content: bytes = maker(place)
        return content

    _file.__name__, _file.__doc__ = _name, _about
    ONNX.case(near=_name not in ("a_pickle", "an_archive", "groups_that_nest"))(_file)


@ONNX.case(near=False)
def a_pipe_of_a_graph(place: Place) -> Made:
    """A named pipe under the name of a graph."""
    os.mkfifo(place.project / "model.onnx")
    return Made("model.onnx")


def _bomb() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("archive/data.pkl", b"\0" * 2**28)
    return made.getvalue()


@PICKLE.case(near=False)
def a_bomb(place: Place) -> bytes:
    """A pickle that unpacks to a thousand times its size."""
    return _bomb()
