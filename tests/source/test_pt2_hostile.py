"""A hostile ``.pt2`` has no effect, whatever reads it: a canary tells, not the lack of a crash."""

import json
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.app.main import run
from opcheck.errors import ExitCode, SourceError
from opcheck.source.base import LoadOptions
from opcheck.source.building.pt2.program import exported_program, guards_of
from opcheck.source.kinds.exported_program import ExportedProgram
from opcheck.source.pt2.graph import read_trace
from tests.source.pt2_files import PROGRAM, archive_of, document_of, export, nodes_of

Document = dict[str, Any]
Change = Callable[[Document, Path], None]
"""Makes a document hostile; the path is the canary's."""

COMMANDS = {
    "scan": ["scan", "{model}", "--target", "ascend-910b"],
    "scan --exact": ["scan", "{model}", "--target", "ascend-910b", "--exact"],
    "gate": ["gate", "{model}", "--target", "ascend-910b"],
    "plan": ["plan", "{model}", "--target", "ascend-910b"],
    "fix --graph": ["fix", "{model}", "--target", "ascend-910b", "--graph", "{out}"],
    "emulate": ["emulate", "{model}", "--target", "ascend-910b"],
}


class Plain(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu()


def text(value: str) -> Document:
    return {"as_string": value}


def tensor(name: str) -> Document:
    return {"as_tensor": {"name": name}}


def node(target: str, output: str, **inputs: Document) -> Document:
    """A node that passes its inputs by position."""
    given = [{"name": name, "arg": arg, "kind": 1} for name, arg in inputs.items()]
    outputs = [tensor(output)]
    return {"name": output, "target": target, "inputs": given, "outputs": outputs, "metadata": {}}


def add(document: Document, *nodes: Document) -> None:
    """Put nodes before all others, with a tensor for each of their results."""
    metas = document["graph_module"]["graph"]["tensor_values"]
    for one in nodes:
        metas[one["outputs"][0]["as_tensor"]["name"]] = deepcopy(metas["x"])
    nodes_of(document)[:0] = nodes


def touching(canary: Path) -> str:
    return f"__import__('pathlib').Path({str(canary)!r}).touch()"


def eval_through_wrap(document: Document, canary: Path) -> None:
    add(
        document,
        node("torch.ops.__init__.__builtins__.get", "e", key=text("eval")),
        node("torch.ops.higher_order.wrap", "f", fn=tensor("e"), code=text(touching(canary))),
    )


def load_a_library(document: Document, canary: Path) -> None:
    library = canary.with_suffix(".so")
    library.write_bytes(b"not one")
    target = "torch.ops.load_library.__call__.__call__"
    add(document, node(target, "e", path=text(str(library))))


def map_a_file(document: Document, canary: Path) -> None:
    size, shared = {"as_int": 24}, {"as_bool": True}
    add(
        document,
        node("torch.ops.aten.from_file.default", "e", filename=text(str(canary)), shared=shared,
             size=size),
        node("torch.ops.aten.fill_.Scalar", "f", self=tensor("e"), value={"as_int": 7}),
    )  # fmt: skip


def call(target: str) -> Change:
    def change(document: Document, canary: Path) -> None:
        add(document, node(target, "e", code=text(touching(canary))))

    return change


def wrap(operator: str) -> Change:
    """Have a higher-order operator call something else than an operator."""

    def change(document: Document, canary: Path) -> None:
        made = node(
            "torch.ops.higher_order.out_dtype", "e", op={"as_operator": operator},
            dtype={"as_scalar_type": 7}, code=text(touching(canary)),
        )  # fmt: skip
        add(document, made)

    return change


def size(document: Document, canary: Path) -> None:
    expression = {"as_expr": {"expr_str": touching(canary), "hint": {"as_int": 6}}}
    document["graph_module"]["graph"]["tensor_values"]["x"]["sizes"][0] = expression


def unused_number(document: Document, canary: Path) -> None:
    """torch evaluates every number of the graph, those that nothing reads too."""
    expression = {"as_expr": {"expr_str": touching(canary), "hint": None}}
    document["graph_module"]["graph"]["sym_int_values"]["s"] = expression
    (one,) = [node("torch.ops.aten.sym_size.int", "s", a=tensor("x"), b={"as_int": 0})]
    one["outputs"] = [{"as_sym_int": {"as_name": "s"}}]
    nodes_of(document).insert(0, one)


def name_of_value(document: Document, canary: Path) -> None:
    graph = json.dumps(document).replace('"relu"', json.dumps(f"r=0;{touching(canary)};r"))
    document.clear()
    document.update(json.loads(graph))


def name_of_submodule(document: Document, canary: Path) -> None:
    meta = {"stack_trace": "", "nn_module_stack": f"L,{touching(canary)},torch.nn.ReLU"}
    nodes_of(document)[0]["metadata"] = meta


LEAF: Document = {"type": None, "context": None, "children_spec": []}


def imports_a_module(document: Document, canary: Path) -> None:
    """A dict with a default value is described by the module that its factory is from."""
    (canary.parent / "opcheck_test_imported.py").write_text(f"open({str(canary)!r}, 'w')")
    factory = {
        "default_factory_module": "opcheck_test_imported", "default_factory_name": "open",
        "dict_context": '["a"]',
    }  # fmt: skip
    spec = {"type": "collections.defaultdict", "context": factory, "children_spec": [LEAF]}
    signature = document["graph_module"]["module_call_graph"][0]["signature"]
    signature["out_spec"] = json.dumps([1, spec])


def imports_an_enumeration(document: Document, canary: Path) -> None:
    (canary.parent / "opcheck_test_imported.py").write_text(f"open({str(canary)!r}, 'w')")
    key = {"__enum__": True, "fqn": "opcheck_test_imported", "name": "a"}
    spec = {"type": "builtins.dict", "context": json.dumps([key]), "children_spec": [LEAF]}
    signature = document["graph_module"]["module_call_graph"][0]["signature"]
    signature["in_spec"] = json.dumps([1, spec])


def source_functions(document: Document, canary: Path) -> None:
    nodes_of(document)[0]["metadata"]["source_fn_stack"] = "a,torch.ops.__init__.__builtins__"


def guards(document: Document, canary: Path) -> None:
    document["guards_code"] = [touching(canary)]


HOSTILE: dict[str, Change] = {
    "eval through wrap": eval_through_wrap,
    "load_library": load_a_library,
    "from_file": map_a_file,
    "size": size,
    "unused number": unused_number,
    "name of a value": name_of_value,
    **{
        target: call(target)
        for target in (
            "builtins.eval", "_operator.attrgetter", "operator.attrgetter",
            "math.__loader__.load_module", "torch.hub.load", "torch.load",
            "torch._C._jit_pass_lint", "torch.ops.aten.__class__.mro", "torch.ops.aten.save",
            "torch.ops.import_module.__call__", "torch.ops.higher_order.__class__",
            "torch.ops.higher_order.call_torchbind", "torch.ops.higher_order.run_const_graph",
            "torch.ops.aten._print", "torch.ops.prim.Print", "torch.ops.aten.add.__call__",
            "#inductor:eval", "torch.ops.loaded_libraries.add",
        )
    },
    "wrapped eval": wrap("builtins.eval"),
    "wrapped from_file": wrap("torch.ops.aten.from_file.default"),
    "wrapped python": wrap("_operator.add"),
}  # fmt: skip
ONLY_TORCH_READS: dict[str, Change] = {
    "guards": guards,
    "name of a module": name_of_submodule,
    "functions that a node came from": source_functions,
    "module of a factory": imports_a_module,
    "module of an enumeration": imports_an_enumeration,
}
"""What torch's own reader would look up, import or compile, and ours has no use for."""
EXPLOITS = ("eval through wrap", "load_library", "from_file", "size")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("pt2") / "m.pt2", Plain(), (torch.randn(6, 4),))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def spoiled(model: Path, folder: Path, change: Change) -> Path:
    document = document_of(model)
    change(document, folder / "canary")
    return archive_of(folder / "m.pt2", {f"m/{PROGRAM}": json.dumps(document)})


def changed_graph(path: Path) -> None:
    exported_program(path, LoadOptions(weights=True))
    guards_of(path)


def run_it(path: Path) -> None:
    loaded = ExportedProgram().load(str(path), LoadOptions(weights=True))
    loaded.module(*loaded.args)


@pytest.mark.parametrize("read", [read_trace, run_it, changed_graph])
@pytest.mark.parametrize("name", HOSTILE)
def test_each_reader_refuses_it_and_does_nothing(
    name: str, read: Callable[[Path], object], model: Path, folder: Path
) -> None:
    path = spoiled(model, folder, HOSTILE[name])
    before = sorted(folder.iterdir())
    with pytest.raises(SourceError, match=r"m\.pt2: m/models/model\.json: "):
        read(path)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("name", ONLY_TORCH_READS)
def test_what_torch_alone_would_read_does_nothing(name: str, model: Path, folder: Path) -> None:
    path = spoiled(model, folder, ONLY_TORCH_READS[name])
    with suppress(SourceError):
        changed_graph(path)
    assert not (folder / "canary").exists()


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", EXPLOITS)
def test_no_command_has_an_effect(name: str, command: str, model: Path, folder: Path) -> None:
    path = spoiled(model, folder, HOSTILE[name])
    before = sorted(folder.iterdir())
    argv = [part.format(model=path, out=folder / "out.pt2") for part in COMMANDS[command]]
    assert run(argv) == ExitCode.MODEL
    assert sorted(folder.iterdir()) == before
