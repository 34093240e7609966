"""``opcheck fix --graph``: a changed program in a new file, proved, and never unpickled."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from opcheck.commands.fix import answer as fix_answer
from opcheck.commands.fix.values import Fix, FixKind, FixRequest
from opcheck.errors import SourceError, UsageError
from opcheck.model.plan import Label
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.base import LoadOptions
from opcheck.source.building.pt2.program import exported_program

TARGET = TargetSpec("moorethreads-s4000", "1.0.0")
NET = """\
import torch


class Inner(torch.nn.Module):
    def forward(self, x):
        return x.std(-1)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.linear = torch.nn.Linear(4, 4)
        self.norm = torch.nn.BatchNorm1d(4)
        self.register_buffer("stops", torch.tensor([1, 2]))
        self.register_buffer("scale", torch.tensor(2.0), persistent=False)

    def forward(self, x, *, more):
        found = torch.isin(more["ids"], self.stops)
        spread = self.inner(self.norm(self.linear(x)).relu_())
        return {"found": found, "spread": spread * self.scale}


class Branching(torch.nn.Module):
    def forward(self, x):
        found = torch.isin(x, torch.tensor([1, 2], device=x.device))
        return x.std(-1) if found.any() else x


def model():
    return Net(), {"x": torch.ones(3, 4), "more": {"ids": torch.arange(12).reshape(3, 4)}}


def branching():
    return Branching(), torch.ones(3, 4)
"""


def fixed(source: str, path: str, allow: Label = Label.EXACT) -> Fix:
    return fix_answer.fix(
        FixRequest(ScanRequest(ModelSpec(source), (TARGET,)), FixKind.GRAPH, path, allow)
    )


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program with a dynamic size, beside the file that it is from."""
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET, encoding="utf-8")
    space: dict[str, Any] = {"__name__": "net"}
    exec(compile(NET, str(tmp_path / "net.py"), "exec"), space)
    module, inputs = space["model"]()
    size = torch.export.Dim("rows", min=2, max=64)
    dynamic = {"x": {0: size}, "more": {"ids": None}}
    program = torch.export.export(module.eval(), (), inputs, dynamic_shapes=dynamic)
    torch.export.save(program, "net.pt2")
    return Path("net.pt2")


def calls(path: str) -> list[str]:
    program = torch.export.load(path)
    return [str(n.target) for n in program.graph.nodes if n.op == "call_function"]


@pytest.mark.slow
def test_a_program_is_written_once_its_proof_holds(saved: Path) -> None:
    before = saved.read_bytes()
    found = fixed("net.pt2", "out.pt2", Label.TOLERANCE)
    assert [(way.op, way.replaces) for way in found.followed] == [
        ("aten::isin.Tensor_Tensor", "aten::isin.Tensor_Tensor"),
        ("aten::std.dim", "aten::std.correction"),
    ]
    assert found.proof is not None
    assert (found.proof.holds, found.proof.runs, found.proof.remaining) == (True, True, ())
    assert (found.files, saved.read_bytes()) == (("out.pt2",), before)
    assert not {"aten.isin.Tensor_Tensor", "aten.std.dim", "aten.std.correction"} & {
        *calls("out.pt2")
    }
    kept = {"aten.linear.default", "aten.batch_norm.default", "aten.relu_.default"}
    assert kept <= {*calls("out.pt2")}

    old, new = torch.export.load("net.pt2"), torch.export.load("out.pt2")
    given = {"x": torch.rand(7, 4), "more": {"ids": torch.arange(12).reshape(3, 4)}}
    assert str(new.range_constraints.values()) == str(old.range_constraints.values())
    torch.testing.assert_close(new.module()(**given), old.module()(**given))
    means = [n for n in new.graph.nodes if str(n.target).startswith("aten.mean")]
    assert means
    assert all("inner" in str(n.meta["nn_module_stack"]) for n in means)
    assert all("net.py" in n.meta["stack_trace"] for n in means)


@pytest.mark.slow
def test_another_source_is_exported_first(saved: Path) -> None:
    found = fixed("net.py:model", "out.pt2")
    assert [way.replaces for way in found.followed] == ["aten::isin.Tensor_Tensor"]
    assert [rest.replaces for rest in found.left] == ["aten::std.correction"]
    assert found.proof is not None
    assert (found.proof.holds, found.proof.remaining) == (True, ("aten::std.correction",))
    assert "aten.std.dim" in calls("out.pt2")


@pytest.mark.slow
def test_a_model_that_cannot_be_exported_is_told(saved: Path) -> None:
    with pytest.raises(SourceError, match=r"torch\.export cannot export the model"):
        fixed("net.py:branching", "out.pt2")
    assert not Path("out.pt2").exists()


def test_a_name_that_no_program_has_is_refused(saved: Path) -> None:
    with pytest.raises(UsageError, match="not named like one"):
        fixed("net.pt2", "out.py")


# --- files from strangers ------------------------------------------------------------------------


def spoiled(saved: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The file with another program in it."""
    other = Path("spoiled.pt2")
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(other, "w") as new:
        for item in old.infolist():
            content = old.read(item)
            if item.filename.endswith("models/model.json"):
                document = json.loads(content)
                change(document)
                content = json.dumps(document).encode()
            new.writestr(item.filename, content)
    return other


EVIL = "__import__('os').system('touch evil')"


def _size(document: dict[str, Any]) -> None:
    values = document["graph_module"]["graph"]["tensor_values"].values()
    sizes = [size for value in values for size in value["sizes"]]
    next(size for size in sizes if "as_expr" in size)["as_expr"]["expr_str"] = EVIL


def _target(document: dict[str, Any]) -> None:
    document["graph_module"]["graph"]["nodes"][0]["target"] = "torch.hub.load"


def _parameter(document: dict[str, Any]) -> None:
    specs = document["graph_module"]["signature"]["input_specs"]
    first = next(spec["parameter"] for spec in specs if "parameter" in spec)
    first["parameter_name"] = f'x"), {EVIL}, ("'


def _inputs(document: dict[str, Any]) -> None:
    entry = document["graph_module"]["module_call_graph"][0]["signature"]
    entry["in_spec"] = entry["in_spec"].replace("more", f"more={EVIL}")


@pytest.mark.parametrize("change", [_size, _target, _parameter, _inputs])
def test_what_a_file_names_is_never_run(
    saved: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    file = spoiled(saved, change)
    with pytest.raises(SourceError):
        exported_program(file, LoadOptions(weights=True))
    assert not Path("evil").exists()


def test_guards_are_kept_as_text_and_not_compiled(saved: Path) -> None:
    def guards(document: dict[str, Any]) -> None:
        document["guards_code"] = [EVIL]

    program = exported_program(spoiled(saved, guards), LoadOptions(weights=True))
    assert not program._guards_code
    program.module()
    assert not Path("evil").exists()


def test_a_program_is_read_as_torch_reads_it(saved: Path) -> None:
    ours, theirs = exported_program(saved, LoadOptions(weights=True)), torch.export.load(saved)
    assert str(ours.graph) == str(theirs.graph)
    assert str(ours.graph_signature) == str(theirs.graph_signature)
    given = {"x": torch.rand(5, 4), "more": {"ids": torch.arange(12).reshape(3, 4)}}
    torch.testing.assert_close(ours.module()(**given), theirs.module()(**given), rtol=0, atol=0)
