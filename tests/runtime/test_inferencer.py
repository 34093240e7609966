"""One call on the host: what is taken for a model, what comes back, and what goes wrong."""

import pickle
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.errors import InferenceError, OpcheckError, SourceError, UsageError
from opcheck.runtime import Inferencer, detect_device
from tests.lang.told import in_chinese


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 2))


X = torch.linspace(-1, 1, 12).reshape(3, 4)
WANTED = net().eval()(X).detach()


def saved(folder: Path) -> Path:
    path = folder / "net.pt2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(torch.export.export(net().eval(), (X,)), path)
    return path


@pytest.mark.parametrize("device", ["cpu", torch.device("cpu"), detect_device("cpu")], ids=str)
def test_a_module_or_what_makes_one_runs(device: Any) -> None:
    for model in (net(), net):
        with Inferencer(model, device=device) as infer:
            result = infer(X)
        torch.testing.assert_close(result, WANTED)
        assert not result.requires_grad


def test_a_saved_program_runs(tmp_path: Path) -> None:
    for path in (saved(tmp_path), str(saved(tmp_path))):
        with Inferencer(path, device="cpu") as infer:
            torch.testing.assert_close(infer(X), WANTED)
    with Inferencer(path, device="cpu", trust=True) as infer:
        torch.testing.assert_close(infer(X), WANTED)


def test_any_source_runs_with_its_weights(tmp_path: Path, recwarn: Any) -> None:
    """Its inputs need not be known before there are any."""
    torch.save(net().state_dict(), tmp_path / "weights.pt")
    (tmp_path / "mine.py").write_text(
        "import torch\nfrom torch import nn\n\n"
        "class Net(nn.Sequential):\n"
        "    def __init__(self):\n"
        "        super().__init__(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 2))\n"
        f"        self.load_state_dict(torch.load({str(tmp_path / 'weights.pt')!r}))\n"
    )
    torch.jit.script(net()).save(tmp_path / "script.pt")
    torch.save(net(), tmp_path / "whole.pt")
    for text in (f"{tmp_path / 'mine.py'}:Net", tmp_path / "script.pt"):
        with Inferencer(text, device="cpu") as infer:
            torch.testing.assert_close(infer(X), WANTED)
    with pytest.raises(SourceError, match=r"whole\.pt") as told:
        Inferencer(tmp_path / "whole.pt", device="cpu")
    assert "--trust" in told.value.hint
    with Inferencer(tmp_path / "whole.pt", device="cpu", trust=True) as infer:
        torch.testing.assert_close(infer(X), WANTED)
    assert not [each for each in recwarn if "random" in str(each.message)]


def test_random_weights_are_told() -> None:
    with pytest.warns(RuntimeWarning, match=r"torchvision:squeezenet1_1: weights are random"):
        Inferencer("torchvision:squeezenet1_1", device="cpu").close()


class Planted:
    """Leaves a file behind where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.path,)


def test_nothing_in_a_file_is_unpickled(tmp_path: Path) -> None:
    path, mark = saved(tmp_path), tmp_path / "mark"
    planted = tmp_path / "planted.pt2"
    torch.save(Planted(mark), tmp_path / "planted.pt", pickle_protocol=2)
    content, replaced = (tmp_path / "planted.pt").read_bytes(), 0
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(planted, "w") as new:
        for member in old.namelist():
            inputs = member.endswith(".pt") and "sample_inputs" in member
            replaced += inputs
            new.writestr(member, content if inputs else old.read(member))
    assert replaced == 1
    with Inferencer(planted, device="cpu") as infer:
        torch.testing.assert_close(infer(X), WANTED)
    assert not mark.exists()
    pickle.loads(pickle.dumps(Planted(mark)))
    assert mark.exists(), "it would have"


@pytest.mark.parametrize(
    ("model", "error", "text"),
    [
        (3, UsageError, "not a model: int"),
        (lambda: "text", UsageError, "gives no model but a str"),
        ("model.pt", SourceError, "model.pt: no such file"),
        ("nonsense", UsageError, "not a model source: 'nonsense'"),
        ("missing.pt2", SourceError, "missing.pt2"),
    ],
)
def test_what_is_no_model_is_told(model: Any, error: type[OpcheckError], text: str) -> None:
    with pytest.raises(error, match=text) as told:
        Inferencer(model, device="cpu")
    assert told.value.hint


def test_the_module_comes_back_as_it_was() -> None:
    module = net()
    module[2].eval()
    infer = Inferencer(module, device="cpu")
    assert not module.training
    infer.close()
    infer.close()
    assert [part.training for part in module] == [True, True, False]
    with pytest.raises(InferenceError, match="closed"):
        infer(X)


def test_what_is_computed_in_is_not_seen_outside() -> None:
    with Inferencer(net(), device="cpu", precision="bfloat16") as infer:
        result = infer(X)
    assert result.dtype == torch.float32
    torch.testing.assert_close(result, WANTED, rtol=0.05, atol=0.05)
    assert not torch.equal(result, WANTED)
    narrow = net().bfloat16()
    with Inferencer(narrow, device="cpu", precision="float32") as infer:
        assert infer(X).dtype == torch.float32
    assert {weight.dtype for weight in narrow.parameters()} == {torch.bfloat16}
    with Inferencer(narrow, device="cpu") as infer:
        assert infer(X.bfloat16()).dtype == torch.bfloat16


class Failing(nn.Module):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def forward(self, x: Tensor) -> Tensor:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nmore"),
        RuntimeError("NPU out of memory. NPUWorkspaceAllocator tried to allocate 2.00 GiB"),
        RuntimeError("RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm"),
        MemoryError(),
    ],
    ids=lambda error: str(error)[:8],
)
def test_out_of_memory_says_what_to_do(error: Exception) -> None:
    refused = pytest.raises(InferenceError, match="not enough memory in a call of 3 rows")
    with Inferencer(Failing(error), device="cpu") as infer, refused as told:
        infer(X)
    assert "max_batch" in told.value.hint
    assert told.value.__cause__ is error
    assert "more" not in told.value.message


class TooLarge(nn.Linear):
    """A layer for which no device has room, as it finds when it is put there."""

    def train(self, mode: bool = True) -> Any:
        raise torch.OutOfMemoryError("no room")


@pytest.mark.parametrize(
    ("model", "rows", "english", "chinese"),
    [
        (TooLarge(4, 4), 0, "for the weights", "用于权重"),
        (Failing(MemoryError("no room")), 1, "in a call of 1 row", "一次 1 行的调用"),
        (Failing(MemoryError("no room")), 0, "in a call of no rows", "一次没有行的调用"),
    ],
)
def test_what_there_is_no_memory_for_is_told(
    model: nn.Module, rows: int, english: str, chinese: str
) -> None:
    with pytest.raises(InferenceError) as told, Inferencer(model, device="cpu") as infer:
        infer(X[:rows])
    device = detect_device("cpu")
    assert told.value.message == f"{device} has not enough memory {english}: no room"
    assert in_chinese([told.value.message]) == [f"{device} 内存不足（{chinese}）：no room"]


def test_a_missing_kernel_says_where_suggestions_are() -> None:
    error = NotImplementedError("Could not run 'aten::i0' with arguments from the 'musa' backend.")
    refused = pytest.raises(InferenceError, match="no kernel for what the model calls")
    with Inferencer(Failing(error), device="cpu") as infer, refused as told:
        infer(X)
    assert "opcheck plan" in told.value.hint


@pytest.mark.parametrize("error", [ValueError("mine"), NotImplementedError("mine")])
def test_errors_of_the_model_stay_its_own(error: Exception) -> None:
    failed = pytest.raises(type(error), match="mine")
    with Inferencer(Failing(error), device="cpu") as infer, failed as told:
        infer(X)
    assert told.value is error
    assert told.value.__cause__ is None


LACKED = "opcheck_runtime_test"
SHIM = f"""
import torch

library = torch.library.Library("{LACKED}", "IMPL")
library.impl("twice", lambda x: x * 2, "CPU")
LIBRARIES = [library]
"""


class Twice(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return getattr(torch.ops, LACKED).twice(x)


def test_kernels_of_a_file_are_there_until_it_is_closed(tmp_path: Path) -> None:
    library = torch.library.Library(LACKED, "DEF")
    library.define("twice(Tensor x) -> Tensor")
    shim = tmp_path / "shim.py"
    shim.write_text(SHIM)
    try:
        with Inferencer(Twice(), device="cpu", shim=shim) as infer:
            torch.testing.assert_close(infer(X), X * 2)
        with Inferencer(Twice(), device="cpu") as infer, pytest.raises(InferenceError):
            infer(X)
    finally:
        library._destroy()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "No such file"),
        ("1 / 0", "ZeroDivisionError"),
        ("x = 1", "has no list LIBRARIES"),
    ],
)
def test_a_file_that_is_no_shim_is_told(text: str | None, told: str, tmp_path: Path) -> None:
    path = tmp_path / "shim.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InferenceError, match=told) as error:
        Inferencer(net(), device="cpu", shim=path)
    assert "opcheck fix --shim" in error.value.hint


def test_warming_up_gives_the_same_again() -> None:
    with Inferencer(net, device="cpu") as infer:
        assert infer.warm_up(X) is infer
        infer.synchronize()
        torch.testing.assert_close(infer(X), WANTED)
