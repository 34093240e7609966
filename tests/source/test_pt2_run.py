"""An exported graph runs as the model did, calling operators and nothing else."""

import copy
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from opcheck.errors import SourceError
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.kinds.exported_program import ExportedProgram
from opcheck.source.pt2.graph import read_trace
from opcheck.trace.run import trace_model
from tests.source.pt2_files import (
    Branching,
    Sized,
    Tiny,
    archive_of,
    changed,
    document_of,
    export,
    nodes_of,
)

NO_OPTIONS = LoadOptions()


class Recorder(TorchDispatchMode):
    """Collects the operators of a run and the modules that were running."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.ops: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        self.ops.append(func.name())
        return func(*args, **(kwargs or {}))


def load(path: Path, *inputs: str) -> Loaded:
    options = LoadOptions(tuple(map(InputSpec.parse, inputs)))
    return ExportedProgram().load(str(path), options)


def run(loaded: Loaded) -> list[str]:
    with torch.inference_mode(), Recorder() as seen:
        loaded.module(*loaded.args, **loaded.kwargs)
    ops: list[str] = seen.ops
    return ops


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("pt2") / "tiny.pt2", Tiny(), (torch.randn(6, 4),))


def test_a_run_calls_what_the_graph_lists(tiny: Path) -> None:
    assert run(load(tiny)) == [str(call.op) for call in read_trace(tiny).calls]


@pytest.mark.since("2.7")
def test_parameters_stand_where_the_model_had_them(tiny: Path) -> None:
    module = load(tiny).module
    assert isinstance(module, nn.Module)
    assert {name: tuple(p.shape) for name, p in module.named_parameters()} == {
        name: tuple(p.shape) for name, p in Tiny().named_parameters()
    }
    assert [name for name, _ in module.named_buffers()] == ["seen"]


def test_each_operator_runs_in_its_module_and_at_its_line(tiny: Path) -> None:
    calls = read_trace(tiny).calls
    places: list[tuple[str, int]] = []
    wanted = {(call.file, call.line) for call in calls}

    class Places(Recorder):
        def __torch_dispatch__(self, *args: Any, **kwargs: Any) -> Any:
            frame: Any = sys._getframe()
            while frame and (frame.f_code.co_filename, frame.f_lineno) not in wanted:
                frame = frame.f_back
            places.append((frame.f_code.co_filename, frame.f_lineno))
            return super().__torch_dispatch__(*args, **kwargs)

    loaded = load(tiny)
    with torch.inference_mode(), Places():
        loaded.module(*loaded.args)
    assert places == [(call.file, call.line) for call in calls]


def test_a_branch_and_its_subgraphs_run(tmp_path: Path) -> None:
    loaded = load(export(tmp_path / "m.pt2", Branching(), (torch.randn(6, 4),)))
    with torch.inference_mode():
        (out,) = loaded.module(torch.ones(6, 4))
    torch.testing.assert_close(out, torch.ones(6, 4).sin())


def test_sizes_follow_the_inputs(tmp_path: Path) -> None:
    batch = ({0: torch.export.Dim("batch")},)
    path = export(tmp_path / "m.pt2", Sized(), (torch.randn(6, 4),), batch)
    loaded = load(path, "x=10x4")
    with torch.inference_mode():
        view, found = loaded.module(torch.ones(10, 4))
    assert (view.shape, found.shape) == ((20, 2), (40, 2))
    assert loaded.args[0].shape == (10, 4)
    with pytest.raises(SourceError, match="has no parameter 'y'"):
        load(path, "y=10x4")


def test_inputs_keep_the_strides_of_the_export(tmp_path: Path) -> None:
    image = torch.randn(1, 3, 4, 4).to(memory_format=torch.channels_last)
    loaded = load(export(tmp_path / "m.pt2", nn.Conv2d(3, 2, 1), (image,)))
    assert loaded.args[0].stride() == image.stride()


@pytest.mark.since("2.10")
def test_an_operator_that_nobody_registered_is_declared_from_its_use(tmp_path: Path) -> None:
    source = export(tmp_path / "a.pt2", nn.ReLU(), (torch.randn(6, 4),))

    def foreign(document: dict[str, Any]) -> None:
        node = nodes_of(document)[0]
        node["target"] = "torch.ops.opcheck_test_absent.clip.default"
        node["inputs"].append({"name": "limit", "arg": {"as_float": 2.0}, "kind": 2})

    loaded = load(changed(source, tmp_path / "b.pt2", foreign))
    name = "opcheck_test_absent::clip"
    assert loaded.notes == (f"declared from the file, since no library here has them: {name}",)
    schema = torch.ops.opcheck_test_absent.clip.default._schema
    assert str(schema) == f"{name}(Tensor self, *, float limit) -> Tensor"
    with torch.inference_mode():
        (out,) = loaded.module(torch.empty(6, 4, device="meta"))
    assert (out.shape, out.dtype, out.stride()) == ((6, 4), torch.float32, (4, 1))


@pytest.mark.since("2.10")
def test_another_librarys_operator_gives_what_the_file_says_and_is_not_run(
    tmp_path: Path,
) -> None:
    ran = []

    @torch.library.custom_op("opcheck_test_there::touch", mutates_args=())
    def touch(x: torch.Tensor, path: str) -> torch.Tensor:
        ran.append(path)
        return x.clone()

    @touch.register_fake
    def _(x: torch.Tensor, path: str) -> torch.Tensor:
        ran.append(path)
        return x.new_empty(x.shape)

    source = export(tmp_path / "a.pt2", nn.ReLU(), (torch.randn(6, 4),))

    def call_it(document: dict[str, Any]) -> None:
        node = nodes_of(document)[0]
        node["target"] = "torch.ops.opcheck_test_there.touch.default"
        node["inputs"][0]["name"] = "x"
        node["inputs"].append({"name": "path", "arg": {"as_string": "file"}, "kind": 1})

    loaded = load(changed(source, tmp_path / "b.pt2", call_it))
    for device in ("cpu", "meta"):
        with torch.inference_mode():
            (out,) = loaded.module(torch.empty(6, 4, device=device))
        assert (out.shape, out.dtype, out.device.type) == ((6, 4), torch.float32, "meta")
    traced = trace_model(loaded.module, loaded.args, {}, device_type="npu")
    assert [str(node.op) for node in traced.nodes] == ["opcheck_test_there::touch"]
    copied = copy.deepcopy(loaded.module)  # as every run of the emulated device is of a copy
    with torch.inference_mode():
        (out,) = copied(torch.empty(6, 4, device="meta"))
    assert out.shape == (6, 4)
    assert ran == []


@pytest.mark.parametrize("target", ["torch.os.system", "torch.hub.load", "builtins.eval", "math.x"])
def test_nothing_but_operators_is_called(target: str, tiny: Path, tmp_path: Path) -> None:
    def call_it(document: dict[str, Any]) -> None:
        nodes_of(document)[0]["target"] = target

    with pytest.raises(SourceError, match=f"it calls '{target}', which is no operator"):
        load(changed(tiny, tmp_path / "m.pt2", call_it))


def test_pickles_beside_the_graph_are_not_touched(tiny: Path, tmp_path: Path) -> None:
    bomb = b"cos\nsystem\n(S'touch pwned'\ntR."
    path = archive_of(
        tmp_path / "m.pt2",
        {
            "m/models/model.json": json.dumps(document_of(tiny)),
            "m/data/sample_inputs/model.pt": bomb,
            "m/data/constants/model_constants_config.json": bomb,
        },
    )
    assert run(load(path)) == run(load(tiny))


def test_the_kind_names_itself() -> None:
    assert ExportedProgram.claims("some/model.pt2")
    assert not ExportedProgram.claims("model.pt")


def test_check_finds_a_bad_file_before_a_process_is_started(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        ExportedProgram().check(str(tmp_path / "m.pt2"), NO_OPTIONS)
