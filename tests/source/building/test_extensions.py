"""Extensions that a model's file would build: read, noted where they are called, never built."""

import importlib
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from types import ModuleType

import pytest
import torch

from opcheck.kernel_code.launching import ignored, listening
from opcheck.model.launches import KernelCode, Language, Launch
from opcheck.source.building.stand_ins import extensions
from tests.trace.look import calls, reasons, traced

NAME = "torch.utils.cpp_extension"
CUDA = """
__global__ void twice_kernel(float* x) { x[0] *= 2; }
torch::Tensor twice(torch::Tensor x) { return x; }
std::tuple<torch::Tensor, at::Tensor> both(torch::Tensor x) { return {x, x}; }
std::vector<torch::Tensor> parts(torch::Tensor x) { return {x}; }
void fill(torch::Tensor x) {}
int create(int id, float rate) { return 0; }
bool is_there() { return true; }
"""


@pytest.fixture
def loaders(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """torch's module, imported anew as in a process of a model's own."""
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    before = list(sys.meta_path)
    extensions.prepare()
    yield importlib.import_module(NAME)
    sys.meta_path[:] = before
    sys.modules.pop(NAME, None)


def test_a_call_is_noted_with_the_language_of_its_sources(loaders: ModuleType) -> None:
    made = loaders.load_inline("twice", "torch::Tensor twice(torch::Tensor x);", CUDA)
    line = sys._getframe().f_lineno - 1
    trace = traced(lambda x: made.twice(x, 2).relu(), torch.ones(2, 4))
    code = KernelCode("twice", "tests/source/building/test_extensions.py", line, Language.CUDA)
    where = f"tests/source/building/test_extensions.py:{line + 2}"
    assert trace.launches == (Launch(code, where, dtypes=(("argument 0", "float32"),)),)
    assert calls(trace) == ["aten::empty_like", "aten::relu"]
    assert reasons(trace) == [
        "calls cuda::twice of an extension that was not built; what it gives is taken to be like "
        "its first tensor"
    ]


def test_sources_tell_what_functions_return(loaders: ModuleType) -> None:
    made = deepcopy(loaders.load_inline("all", "", cuda_sources=[CUDA]))
    x = torch.ones(2, 3, dtype=torch.float16, device="meta")
    with listening(ignored):
        assert made.twice(x).shape == (2, 3)
        assert [each.dtype for each in made.both(x)] == [torch.float16] * 2
        assert made.fill(x) is None
        assert (made.create(1, 0.1), made.is_there()) == (0, False)
        assert made.anything(1, x=x).shape == (2, 3)
        for function, given in ((made.parts, x), (made.twice, 3)):
            with pytest.raises(NotImplementedError, match="it was not built"):
                function(given)


def test_files_are_read_for_what_they_bind(loaders: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "net.cpp"
    source.write_text(CUDA + 'PYBIND11_MODULE(m, m) { m.def("forward", &fill); }')
    host = loaders.load("net", [source, tmp_path / "missing.cpp"])
    kernel = loaders.load("net", [str(source), str(tmp_path / "net.cu")], verbose=True)
    told = []
    with listening(lambda code, given, grid: told.append((code.operator, [*given], grid))):
        assert host.forward(torch.ones(2)) is None
        assert kernel.other(torch.ones(2), n=1).shape == (2,)
    assert told == [("cpp::forward", ["argument 0"], ()), ("cuda::other", ["argument 0", "n"], ())]


def test_values_are_refused(loaders: ModuleType) -> None:
    made = loaders.load_inline("twice", CUDA)
    with pytest.raises(RuntimeError, match="cpp::twice was not built, and nothing computes it"):
        made.twice(torch.ones(2))
    with pytest.raises(AttributeError):
        made._private  # noqa: B018  # asked for on purpose
