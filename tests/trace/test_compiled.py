"""What ``torch.compile`` was asked to compile: run as it is written, and noted."""

import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import opcheck
from opcheck.model.trace import GIVEN_BACKEND, INSIDE, Compilation, CompiledRegion
from opcheck.trace.running import eager
from tests.trace.look import calls, traced

X = torch.ones(2, 4)


@torch.compile
def doubled(x: Tensor) -> Tensor:
    return x * 2


class Calls(nn.Module):
    """A layer that calls something else."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.inner(x).exp()
        return found


def compiled_in_place() -> nn.Module:
    layer = nn.Linear(4, 4)
    layer.compile()
    return layer


@pytest.fixture(params=["loaded by a user", "in a process of the model's own"])
def place(request: pytest.FixtureRequest) -> Iterator[None]:
    """With the real ``torch.compile``, and with what stands for it where a file is loaded."""
    original = torch.compile
    if request.param != "loaded by a user":
        eager.prepare()
    yield
    torch.compile = original


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("make", "backend"),
    [
        (lambda: torch.compile(nn.Linear(4, 4)), "inductor"),
        (lambda: torch.compile(nn.Linear(4, 4), backend="aot_eager"), "aot_eager"),
        (lambda: torch.compile(torch.nn.functional.relu), "inductor"),
        (lambda: torch.compile(backend="cudagraphs")(lambda x: x + 1), "cudagraphs"),
        (lambda: doubled, "inductor"),
    ],
)
def test_what_is_compiled_inside_a_model_is_noted(make: Any, backend: str) -> None:
    trace = traced(Calls(make()), X)
    assert calls(trace)[-1] == "aten::exp"
    assert len(calls(trace)) == 2
    (found,) = trace.compiled
    assert found.how.backend == backend
    assert trace.gaps == ()


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "make",
    [lambda: doubled, lambda: torch.compile(lambda x: x * 2), lambda: nn.Linear(4, 4)],
)
def test_calls_tell_of_which_compiled_function_they_are(make: Any) -> None:
    found = traced(Calls(make()), X)
    marks = {str(each.op): dict(each.modes).get(INSIDE, "") for each in found.nodes}
    compiled = marks.pop("aten::mul.Tensor", "")
    assert [compiled] == ([region.where for region in found.compiled] or [""])
    assert set(marks.values()) == {""}


def test_the_backend_of_a_module_that_was_compiled_before_is_not_known() -> None:
    (found,) = traced(Calls(compiled_in_place()), X).compiled
    assert found.how == Compilation(GIVEN_BACKEND)


def test_how_it_is_asked_to_compile_is_noted() -> None:
    eager.prepare()
    try:
        layer = torch.compile(
            nn.Linear(4, 4), mode="max-autotune", fullgraph=True, dynamic=False, backend="npu"
        )
        options: dict[str, Any] = {"trace.enabled": True, "max_autotune": False}
        function = torch.compile(torch.nn.functional.relu, options=options)
    finally:
        torch.compile = REAL
    (first,) = traced(Calls(layer), X).compiled
    assert first == CompiledRegion("inner", Compilation("npu", "max-autotune", True, "false"))
    (second,) = traced(Calls(function), X).compiled
    assert second.how == Compilation(
        "inductor", options=("max_autotune=False", "trace.enabled=True")
    )
    assert second.where.startswith("tests/trace/test_compiled.py:")


@pytest.mark.parametrize("where", ["the module", "the environment", "nowhere"])
def test_it_is_noted_whether_errors_of_the_compiler_are_suppressed(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = types.ModuleType("torch._dynamo.config")
    config.suppress_errors = where == "the module"  # type: ignore[attr-defined]
    if where == "the environment":
        monkeypatch.setenv("TORCHDYNAMO_SUPPRESS_ERRORS", "1")
        monkeypatch.delitem(sys.modules, "torch._dynamo.config", raising=False)
    else:
        monkeypatch.setitem(sys.modules, "torch._dynamo.config", config)
    assert eager.as_set(Compilation("inductor")).suppressed is (where != "nowhere")


def test_a_mode_is_known_by_what_torch_keeps_of_it() -> None:
    layer = torch.compile(nn.Linear(4, 4), mode="reduce-overhead")
    (found,) = traced(Calls(layer), X).compiled
    assert found.how == Compilation("inductor", options=("triton.cudagraphs=True",))
    assert found.how.captures_graphs


@pytest.mark.usefixtures("place")
def test_a_module_that_is_compiled_in_place_is_noted() -> None:
    (found,) = traced(Calls(compiled_in_place()), X).compiled
    assert found.where == "inner"


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.compile(nn.Linear(4, 4), backend="eager"),
        lambda: torch.compile(nn.Linear(4, 4), disable=True),
        lambda: torch.compiler.disable(lambda x: x + 1),
    ],
)
def test_what_no_compiler_changes_is_none(make: Any) -> None:
    assert traced(Calls(make()), X).compiled == ()


def test_what_is_compiled_and_not_called_is_none() -> None:
    class Has(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.unused = torch.compile(nn.Linear(4, 4))

        def forward(self, x: Tensor) -> Tensor:
            return x.exp()

    assert traced(Has(), X).compiled == ()


def test_a_method_in_a_copy_is_that_of_the_copy() -> None:
    eager.prepare()
    try:
        import copy

        layer: Any = nn.Linear(4, 4)
        layer.run = torch.compile(layer.forward)
        other = copy.deepcopy(layer)
        assert other.run.__self__ is other
    finally:
        torch.compile = REAL


REAL = torch.compile


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "target", "runs"),
    [
        (lambda: torch.compile(nn.Linear(4, 4)), "nvidia-a100@2.13.0", True),
        (lambda: torch.compile(nn.Linear(4, 4)), "apple-mps@2.13.0", None),
        (lambda: torch.compile(nn.Linear(4, 4)), "google-tpu-v5e@r2.9", False),
        (compiled_in_place, "nvidia-a100@2.13.0", None),
    ],
)
def test_a_model_that_is_compiled_is_never_plainly_green(
    make: Any, target: str, runs: bool | None
) -> None:
    plain = opcheck.scan(nn.Linear(4, 4), X, targets=[target])
    report = opcheck.scan(make(), X, targets=[target])
    assert plain.targets[0].summary.runs is True
    assert report.targets[0].summary.runs is runs
    (found,) = (one for one in report.targets[0].findings if one.op == "torch::compile")
    assert "was not seen" in found.reason.text or runs is False
