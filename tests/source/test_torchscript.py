"""TorchScript only computes: nothing in a file writes or opens anything, at load or later."""

# torch reads the comments of an interface as types
# mypy: disable-error-code="empty-body"

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.source.archive import open_archive
from opcheck.source.base import LoadOptions
from opcheck.source.building.torchscript import NODES, check_graphs, refusal
from opcheck.source.inputs import InputSpec
from opcheck.source.kinds.model_pt import TorchScript
from opcheck.source.load import load
from opcheck.source.script_code import words_of
from tests.source.pt2_files import archive_of

FULL = b"........"
BODY = "return torch.relu(x)"
SAVES = 'torch.save(x, "{canary}")'
MAPS = 'torch.fill_(torch.from_file("{canary}", True, 8, dtype=0), 65)'
FUNCTION = 'def f(x: int) -> int:\n  torch.save(x, "{canary}")\n  return x\n'
UNCALLED = "a method that nothing calls"
HERE = "__torch__.tests.source.test_torchscript"
FORWARD = "x: Tensor) -> Tensor:"


class Part(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x)


@torch.jit.interface
class Stage(nn.Module):
    def go(self, x: Tensor) -> Tensor:
        pass


class Double(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x

    @torch.jit.export
    def go(self, x: Tensor) -> Tensor:
        return x * 2


@torch.jit.script
class Counter:
    def __init__(self, step: int) -> None:
        self.step = step

    def add(self, x: Tensor) -> Tensor:
        return x + self.step


def halved(x: Tensor) -> Tensor:
    return x / 2


def cosine(module: nn.Module, given: tuple[Tensor], output: Tensor) -> Tensor:
    return output.cos()


class Whole(nn.Module):
    """All that a script may be made of."""

    stage: Stage

    def __init__(self) -> None:
        super().__init__()
        self.stage = Double()  # type: ignore[assignment]  # an interface has no subclasses
        self.parts = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.hooked = Part()
        self.hooked.register_forward_hook(cosine)

    def forward(self, x: Tensor, times: int = 2, mode: str = "nearest") -> dict[str, Tensor]:
        counter = Counter(2)
        future = torch.jit.fork(halved, x)
        x = self.stage.go(x) + counter.add(x) + self.hooked(self.parts(x))
        if times > 5:
            raise RuntimeError('don\'t save it: # "5"')
        with torch.no_grad():
            rows = [x, torch.jit.wait(future)]
        for _ in range(times):
            rows.append(x)  # noqa: PERF401  # the operator is what is looked at
        return {f"{mode.upper()}-{len(rows)}": torch.cat(rows)}


def saved(module: nn.Module) -> bytes:
    content = io.BytesIO()
    torch.jit.save(torch.jit.script(module), content)
    return content.getvalue()


def changed(path: Path, change: Callable[[str], str], module: nn.Module | None = None) -> Path:
    """Write a script with other code."""
    members: dict[str, bytes | str] = {}
    with zipfile.ZipFile(io.BytesIO(saved(module or Part()))) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".py"):
                content = change(content.decode()).encode()
            if not name.endswith(".debug_pkl"):
                members[name] = content
    return archive_of(path, members)


def filled(code: str, canary: Path) -> str:
    return code.replace("{canary}", canary.as_posix()).replace("{here}", HERE)


def instead(old: str, new: str) -> Callable[[str], str]:
    return lambda code: code.replace(old, new)


def before_return(text: str) -> Callable[[str], str]:
    return instead(BODY, f"_0 = {text}\n    {BODY}")


def with_default(text: str, before: str = "") -> Callable[[str], str]:
    return lambda code: before + code.replace(FORWARD, f"x: Tensor,\n    y: int={text}) -> Tensor:")


RUN_AT_LOAD = {
    "a default": with_default("{here}.f(1, )", FUNCTION),
    "a mapped default": instead(
        FORWARD,
        'x: Tensor,\n    y: Tensor=torch.fill_(torch.from_file("{canary}", True, 8, dtype=0), 65)'
        ") -> Tensor:",
    ),
    "a constant": lambda code: (
        FUNCTION + code.replace("  def ", "  k : Final[int] = {here}.f(1, )\n  def ")
    ),
    "a name with an escape": with_default(
        "{here}.f(1, )", FUNCTION.replace("torch.save", 'getattr(torch, "sa\\166e")')
    ),
    "a name in two parts": with_default(
        "{here}.f(1, )", FUNCTION.replace("torch.save", 'getattr(torch, "sa" "ve")')
    ),
    "a name in other quotes": with_default(
        "{here}.f(1, )", FUNCTION.replace("torch.save", "getattr(torch, 'sa\\166e')")
    ),
    "code between quotes": with_default(
        "{here}.f(1, )",
        FUNCTION.replace(SAVES, f"""a = ('"', {SAVES}, '"')"""),
    ),
}  # fmt: skip
"""What PyTorch runs as it loads a script."""
RUN_AT_CALL = {
    "forward": before_return(SAVES),
    "a mapped file": instead(BODY, f"return torch.add(torch.relu(x), torch.sum({MAPS}))"),
    "a function": lambda code: FUNCTION + before_return("{here}.f(1, )")(code),
    "a branch": instead(BODY, f"if True:\n      _0 = {SAVES}\n    else:\n      pass\n    {BODY}"),
    "a loop": instead(BODY, f"for i in range(2):\n      _0 = {SAVES}\n    {BODY}"),
    "a fork": instead(
        BODY, f"def g():\n      return {SAVES}\n    _0 = fork(g)\n    torch.wait(_0)\n    {BODY}"
    ),
    UNCALLED: lambda code: (
        code + f"  def other(self: {{here}}.Part) -> int:\n    x = 1\n    _0 = {SAVES}\n"
        "    return 1\n"
    ),
    "a spaced name": before_return('torch . save (x, "{canary}")'),
}
"""What runs as the module is called or asked something."""


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    path = tmp_path / "canary"
    path.write_bytes(FULL)
    return path


@pytest.mark.parametrize("kind", [*RUN_AT_LOAD, *RUN_AT_CALL])
def test_nothing_of_a_script_writes(tmp_path: Path, canary: Path, kind: str) -> None:
    change = {**RUN_AT_LOAD, **RUN_AT_CALL}[kind]
    path = changed(tmp_path / "m.pt", lambda code: filled(change(code), canary))
    with pytest.raises(SourceError) as caught:
        load(str(path), LoadOptions())
    assert "--trust" in caught.value.hint
    assert canary.read_bytes() == FULL
    assert sorted(tmp_path.iterdir()) == [canary, path]


@pytest.mark.parametrize("kind", [*RUN_AT_LOAD, *RUN_AT_CALL])
def test_the_same_would_write_with_trust(tmp_path: Path, canary: Path, kind: str) -> None:
    """So that the test before looks for what would happen."""
    change = {**RUN_AT_LOAD, **RUN_AT_CALL}[kind]
    path = changed(tmp_path / "m.pt", lambda code: filled(change(code), canary))
    module: Any = load(str(path), LoadOptions(trust=True, uncalled=True, weights=True)).module
    if kind == UNCALLED:
        module.other()
    elif kind in RUN_AT_CALL:
        module(torch.ones(2))
    assert canary.read_bytes() != FULL


@pytest.mark.parametrize("kind", RUN_AT_CALL)
def test_the_graphs_alone_show_it(tmp_path: Path, canary: Path, kind: str) -> None:
    """Whatever the words of the code are."""
    change = RUN_AT_CALL[kind]
    path = changed(tmp_path / "m.pt", lambda code: filled(change(code), canary))
    compiled = torch._C.CompilationUnit()
    torch._C.import_ir_module(compiled, str(path), torch.device("cpu"), {}, False)  # type: ignore[call-arg]  # the stub lacks the last one
    with pytest.raises(SourceError, match=r"__torch__\S+ \(code/\S+:\d+\) has aten::"):
        check_graphs(path, compiled)
    assert canary.read_bytes() == FULL


def test_a_part_that_only_an_interface_reaches_is_looked_at(tmp_path: Path, canary: Path) -> None:
    path = changed(
        tmp_path / "m.pt",
        instead("return torch.mul(x, 2)", f'torch.save(x, "{canary}")\n    return torch.mul(x, 2)'),
        Whole(),
    )
    with pytest.raises(SourceError, match="its code names save, which does more than compute"):
        load(str(path), LoadOptions())
    compiled = torch._C.CompilationUnit()
    torch._C.import_ir_module(compiled, str(path), torch.device("cpu"), {}, False)  # type: ignore[call-arg]  # the stub lacks the last one
    with pytest.raises(SourceError, match=r"Double.go .* has aten::save"):
        check_graphs(path, compiled)
    assert canary.read_bytes() == FULL


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("archive/model.json", "TorchScript of PyTorch 1.0"),
        ("archive/MODEL.json", "TorchScript of PyTorch 1.0"),
        ("other/constants.pkl", "'other/constants.pkl' is not within 'archive/'"),
        ("archive/CODE/__torch__/more.py", "its code names save"),
        ("archive/more.pkl", "it holds an object of torch.classes.c10d.FileStore"),
    ],
)
def test_what_pytorch_could_take_for_the_model_is_refused(
    tmp_path: Path, name: str, words: str
) -> None:
    path = changed(tmp_path / "m.pt", lambda code: code)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, "c__torch__.torch.classes.c10d\nFileStore\ntorch.save")
    with pytest.raises(SourceError, match=words):
        load(str(path), LoadOptions())


@pytest.mark.filterwarnings("ignore")
def test_all_that_a_script_is_made_of_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    torch.manual_seed(0)
    module = Whole()
    path.write_bytes(saved(module))
    x = torch.ones(2, 3)
    options = LoadOptions(weights=True, uncalled=True)
    found = load(str(path), options).module(x)
    assert list(found) == ["NEAREST-4"]
    torch.testing.assert_close(found, torch.jit.script(module)(x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [torch.qint8, torch.float16], ids=str)
def test_quantised_weights_are_loaded(tmp_path: Path, dtype: torch.dtype) -> None:
    path = tmp_path / "m.pt"
    plain = nn.Sequential(nn.Linear(3, 3), nn.LSTM(3, 3))
    module = torch.ao.quantization.quantize_dynamic(plain, {nn.Linear, nn.LSTM}, dtype=dtype)
    path.write_bytes(saved(module))
    options = LoadOptions(weights=True, uncalled=True)
    x = torch.ones(2, 2, 3)
    torch.testing.assert_close(load(str(path), options).module(x), module(x))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "resnet18",
        "swin_t",
        "ssdlite320_mobilenet_v3_large",
        "raft_small",
        "maxvit_t",
    ],
)
def test_models_of_torchvision_are_loaded(tmp_path: Path, name: str) -> None:
    from opcheck.source.building import torchvision_operators

    torchvision_operators.prepare()
    from torchvision import models

    given = {"weights_backbone": None} if name.startswith("ssd") else {}
    path = tmp_path / "m.pt"
    path.write_bytes(saved(models.get_model(name, weights=None, **given).eval()))
    module: Any = load(str(path), LoadOptions(uncalled=True)).module
    assert isinstance(module, torch.jit.ScriptModule)


def test_words_in_texts_do_not_count(tmp_path: Path) -> None:
    code = (
        'x = "torch.save it, don\'t \\"copy\\" it # now"\ny = getattr(getattr(self, "a.b"), "0")\n'
    )
    path = archive_of(tmp_path / "m.pt", {"m/code/a.py": code, "m/code/b.py.debug_pkl": "save"})
    with open_archive(path) as archive:
        assert words_of(path, archive) == {"x", "y", "a", "b", "_"}


def test_operators_that_no_file_may_call_are_these() -> None:
    refused = {
        schema.name.partition("::")[2]
        for schema in torch._C._jit_get_all_schemas()
        if schema.name.startswith("aten::") and refusal(schema)
    }
    assert refused - {"get_gradients"} == {  # that one is there once torch.distributed is
        "save", "from_file", "set", "set_", "record_stream",
        "confirmed_by_owner", "is_owner", "local_value", "owner", "owner_name", "to_here",
        "_test_ambiguous_defaults", "_test_string_default",
    }  # fmt: skip


def test_nodes_that_have_a_schema_touch_no_more_than_values() -> None:
    named = {schema.name for schema in torch._C._jit_get_all_schemas()}
    known = {name for name in NODES if f"prim::{name}" in named}
    assert len(known) > 40
    assert not known & {"PythonOp", "IgnoredPythonOp", "rpc_async", "rpc_sync", "rpc_remote"}


def test_a_traced_script_says_its_inputs(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    torch.jit.trace(Part(), torch.zeros(2, 3)).save(str(path))
    loaded = TorchScript().load(str(path), LoadOptions())
    assert [tuple(value.shape) for value in loaded.args] == [(2, 3)]


def test_a_frozen_script_is_loaded_though_it_has_no_modes(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    frozen = torch.jit.freeze(torch.jit.script(nn.Sequential(nn.Conv2d(3, 4, 3)).eval()))
    frozen.save(str(path))
    options = LoadOptions((InputSpec.parse("input=1x3x8x8"),))
    assert load(str(path), options).in_training == ()
