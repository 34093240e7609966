"""Exported programs in archives that lie, with pickles beside the graph, or with odd JSON."""

import io
import json
import struct
import zipfile

from tests.hostile import payloads
from tests.hostile.case import Corpus, Family, Made
from tests.hostile.place import Place
from tests.hostile.valid import Program, archive, program, tensor, text, weights

CORPUS = Corpus("program archive", "model.pt2", Family.MODEL)


def _member(made: Program, ending: str) -> str:
    (name,) = (name for name in made.members if name.endswith(ending))
    return name


def _saved(place: Place) -> bytes:
    """A gadget as ``torch.save`` would write it, in a zip."""
    return archive({
        "archive/data.pkl": payloads.pickled(payloads.shell(place)), "archive/version": b"3\n",
        "archive/byteorder": b"little",
    })  # fmt: skip


@CORPUS.case(runnable=True)
def pickled_sample_inputs(place: Place) -> bytes:
    """Sample inputs are what torch.load reads, without weights_only where that fails."""
    made = program()
    made.members[_member(made, "sample_inputs/model.pt")] = _saved(place)
    return made.packed()


@CORPUS.case(runnable=True)
def bare_pickle_as_sample_inputs(place: Place) -> bytes:
    """The same in the format before zip."""
    made = program()
    made.members[_member(made, "sample_inputs/model.pt")] = payloads.pickled(payloads.shell(place))
    return made.packed()


def _pickled_weight(place: Place, path: str, content: bytes, kind: str = "weights") -> bytes:
    made = program("buffered")
    name = _member(made, f"model_{kind}_config.json")
    config = json.loads(made.members[name])
    first = next(iter(config["config"].values()))
    first |= {"use_pickle": True, "path_name": path}
    made.members[name] = json.dumps(config).encode()
    made.members[f"{name.rpartition('/')[0]}/{path}"] = content
    return made.packed()


@CORPUS.case(runnable=True)
def a_pickled_weight(place: Place) -> bytes:
    """use_pickle has torch.load read a weight without weights_only."""
    return _pickled_weight(place, "weight_0", _saved(place))


@CORPUS.case(runnable=True)
def a_pickled_constant(place: Place) -> bytes:
    """The same of a constant."""
    return _pickled_weight(place, "tensor_0", _saved(place), "constants")


@CORPUS.case(runnable=True)
def a_custom_object_of_the_archive(place: Place) -> bytes:
    """Constants whose names begin with custom_obj are unpickled by torch's native reader."""
    return _pickled_weight(place, "custom_obj_0", _saved(place), "constants")


@CORPUS.case(runnable=True)
def an_opaque_object_of_the_archive(place: Place) -> bytes:
    """Those that begin with opaque_obj by Python's pickle."""
    content = payloads.pickled(payloads.shell(place))
    return _pickled_weight(place, "opaque_obj_0", content, "constants")


@CORPUS.case(runnable=True)
def a_weight_outside_of_the_archive(place: Place) -> bytes:
    """path_name is a path in the archive: somebody may take it for one on the disk."""
    return _pickled_weight(place, "../../../../home/.ssh/id_rsa", b"")


@CORPUS.case(runnable=True)
def the_old_layout_with_pickles(place: Place) -> bytes:
    """Before torch 2.7: state dict, constants and examples are pickles beside the JSON."""
    made = program()
    pickles = (
        "serialized_state_dict.pt",
        "serialized_constants.pt",
        "serialized_example_inputs.pt",
    )
    return archive({
        "serialized_exported_program.json": json.dumps(made.document).encode(),
        "version": b"8.20", **{name: _saved(place) for name in pickles},
    })  # fmt: skip


@CORPUS.case(runnable=True)
def a_compiled_library(place: Place) -> bytes:
    """An archive may carry an AOTInductor library, which loaders unpack and load."""
    made = program()
    root = made.name.split("/")[0]
    made.members[f"{root}/data/aotinductor/model/payload.so"] = b"\x7fELF" + b"\0" * 64
    made.members[f"{root}/data/aotinductor/model/payload.wrapper_metadata.json"] = b"{}"
    return made.packed()


@CORPUS.case(runnable=True)
def members_that_lead_out(place: Place) -> bytes:
    """Names with .. or a root: whoever unpacks the archive writes elsewhere."""
    made = program()
    made.members |= {
        "../fresh.pt": b"spoiled", str(place.checkpoint): b"spoiled",
        "archive/extra/../../../checkpoint.pt": b"spoiled",
    }  # fmt: skip
    return made.packed()


@CORPUS.case(runnable=True)
def a_link_as_a_member(place: Place) -> bytes:
    """A member whose mode says that it is a symbolic link."""
    content = io.BytesIO(program().packed())
    with zipfile.ZipFile(content, "a") as packed:
        link = zipfile.ZipInfo("archive/data/weights/link")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        packed.writestr(link, str(place.secret))
    return content.getvalue()


def _second_document(place: Place) -> bytes:
    made = program()
    made.add("torch.os.system", text(payloads.shell(place)), at=0)
    return json.dumps(made.document).encode()


@CORPUS.case()
def two_documents_of_one_name(place: Place) -> bytes:
    """A name may be there twice: one reader takes the first, another the last."""
    made = program()
    plain = json.dumps(made.document).encode()
    others = [(name, made.members[name]) for name in made.members if name != made.name]
    return archive([*others, (made.name, plain), (made.name, _second_document(place))])


@CORPUS.case(runnable=True)
def two_models(place: Place) -> bytes:
    """An archive may have several models."""
    made = program()
    made.members["archive/models/zz.json"] = _second_document(place)
    return made.packed()


@CORPUS.case()
def a_pickle_with_an_archive_behind_it(place: Place) -> bytes:
    """Zip is read from its end, pickle from its beginning: one file is both."""
    return payloads.pickled(payloads.shell(place)) + program().packed()


@CORPUS.case(near=False)
def a_script_by_another_name(place: Place) -> bytes:
    """TorchScript under the name of an exported program."""
    from tests.hostile.corpus.scripts import scripted

    return scripted(f'torch.save(input, "{place.checkpoint}")')


@CORPUS.case(near=False)
def a_state_dict_by_another_name(place: Place) -> bytes:
    """A state dict under the name of an exported program."""
    return weights()


@CORPUS.case(near=False)
def a_pickle_by_another_name(place: Place) -> bytes:
    """A pickle under the name of an exported program."""
    return payloads.pickled(payloads.shell(place))


@CORPUS.case()
def a_document_of_a_gigabyte(place: Place) -> bytes:
    """What unpacks to a thousand times its size."""
    made = program()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, member in made.members.items():
            if name != made.name:
                packed.writestr(name, member)
        with packed.open(zipfile.ZipInfo(made.name), "w", force_zip64=True) as document:
            document.write(b'{"graph_module": "')
            for _ in range(1024):
                document.write(b" " * 2**20)
            document.write(b'"}')
    return content.getvalue()


@CORPUS.case()
def sizes_that_lie(place: Place) -> bytes:
    """The directory of the archive claims four gigabytes for each member."""
    content = bytearray(program().packed())
    at = 0
    while (at := content.find(b"PK\x01\x02", at)) >= 0:
        struct.pack_into("<LL", content, at + 20, 0xFFFFFFFE, 0xFFFFFFFE)
        at += 4
    return bytes(content)


@CORPUS.case()
def members_that_overlap(place: Place) -> bytes:
    """Every entry of the directory points to the first member."""
    content = bytearray(program().packed())
    at = 0
    while (at := content.find(b"PK\x01\x02", at)) >= 0:
        struct.pack_into("<L", content, at + 42, 0)
        at += 4
    return bytes(content)


@CORPUS.case()
def an_encrypted_member(place: Place) -> bytes:
    """Flags ask for a password: somebody may prompt for it."""
    content = bytearray(program().packed())
    for sign, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = 0
        while (at := content.find(sign, at)) >= 0:
            content[at + offset] |= 1
            at += 4
    return bytes(content)


_TEXTS = (
    ("nested_lists", "Brackets, a hundred thousand deep.", b"[" * 100_000 + b"]" * 100_000),
    ("nested_maps", "The same with keys.", b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    ("no_numbers", "Words that JSON lacks and Python's reader takes.", b'{"a": [NaN, Infinity]}'),
    ("a_long_number", "More digits than Python turns into a number.",
     b'{"a": ' + b"9" * 10**6 + b"}"),
    ("wide_text", "UTF-16 with its mark.", '{"graph_module": {}}'.encode("utf-16")),
    ("nothing", "No document.", b""),
    ("null", "A document that is no mapping.", b"null"),
    ("half_a_pair", "Half of a surrogate pair.", b'{"graph_module": "\\ud800"}'),
    ("zeros", "Bytes of zero.", b"\0" * 4096),
)  # fmt: skip
CORPUS.each(_TEXTS, lambda place, content: program().packed(content), near=False)  # type: ignore[arg-type]


@CORPUS.case()
def two_values_of_one_key(place: Place) -> bytes:
    """A key twice: one reader takes the first graph, another the last."""
    made = program()
    spelled = json.dumps(made.document).encode()
    return made.packed(spelled[:-1] + b"," + _second_document(place)[1:])


@CORPUS.case()
def an_argument_of_two_kinds(place: Place) -> bytes:
    """A union with two members: one reader takes the first, another the last."""
    made = program()
    made.nodes[1]["inputs"][0]["arg"] = {
        "as_tensor": {"name": "linear"}, "as_operator": "torch.os.system",
    }  # fmt: skip
    return made.packed()


@CORPUS.case(runnable=True)
def names_that_are_code(place: Place) -> bytes:
    """Names of tensors become variables of generated Python code."""
    made = program()
    evil = f"x=0\n    {payloads.expression(place)}\n    y"
    spelled = json.dumps(made.document).replace('"relu"', json.dumps(evil))
    return made.packed(spelled.encode())


@CORPUS.case(runnable=True)
def names_of_python(place: Place) -> bytes:
    """A tensor that is called like a builtin or a keyword."""
    made = program()
    spelled = json.dumps(made.document).replace('"relu"', '"__import__"')
    return made.packed(spelled.replace('"linear"', '"lambda"').encode())


@CORPUS.case()
def a_parameter_that_leads_out(place: Place) -> bytes:
    """The name of a parameter is a path of modules, which are made as they are named."""
    made = program()
    specs = made.document["graph_module"]["signature"]["input_specs"]
    specs[0]["parameter"]["parameter_name"] = "__class__.__init__.__globals__"
    specs[1]["parameter"]["parameter_name"] = "forward.__code__"
    return made.packed()


@CORPUS.case()
def a_version_of_the_future(place: Place) -> bytes:
    """A schema that nobody knows yet."""
    made = program()
    made.document["schema_version"] = {"major": 2**70, "minor": -1}
    return made.packed()


@CORPUS.case()
def a_graph_within_a_graph_within(place: Place) -> bytes:
    """Branches, a hundred deep."""
    made = program("branching")
    (cond,) = (node for node in made.nodes if node["target"].endswith("cond"))
    inner = json.dumps(cond)
    for _ in range(100):
        outer = json.loads(json.dumps(cond))
        graph = outer["inputs"][1]["arg"]["as_graph"]["graph"]
        graph["nodes"].insert(0, json.loads(inner))
        graph["tensor_values"]["gt"] = made.sizes["gt"]
        graph["tensor_values"]["getitem"] = made.sizes["x"]
        inner = json.dumps(outer)
        if len(inner) > 2**22:
            break
    made.nodes[made.nodes.index(cond)] = json.loads(inner)
    return made.packed()


@CORPUS.case(runnable=True, endless=True)
def many_nodes(place: Place) -> bytes:
    """A graph of two hundred thousand calls, small when packed."""
    made = program()
    relu = made.nodes[1]
    made.nodes[1:1] = [
        {**relu, "name": f"r{place}", "outputs": [tensor(f"r{place}")]} for place in range(200_000)
    ]
    for number in range(200_000):
        made.sizes[f"r{number}"] = made.sizes["relu"]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, member in {**made.members, made.name: json.dumps(made.document).encode()}.items():
            packed.writestr(name, member)
    return content.getvalue()


@CORPUS.case(near=False)
def a_pipe(place: Place) -> Made:
    """A named pipe under the name of a model: whoever opens it waits."""
    import os

    os.mkfifo(place.project / "model.pt2")
    return Made("model.pt2")


@CORPUS.case(near=False)
def a_link_to_zeros(place: Place) -> Made:
    """A link to a device that has no end."""
    (place.project / "model.pt2").symlink_to("/dev/zero")
    return Made("model.pt2")


@CORPUS.case(near=False, opens_key=True)
def a_link_to_the_key(place: Place) -> Made:
    """A link to the private key: a message may not quote it."""
    (place.project / "model.pt2").symlink_to(place.secret)
    return Made("model.pt2")
