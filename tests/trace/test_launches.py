"""Kernels of a model's own in a trace: read, noted where they are launched, and never run."""

from pathlib import Path
from types import ModuleType

import pytest
import torch

from opcheck.model.launches import ANY_STAGES, ASSEMBLY, Called, KernelCode, Launch, Operation
from opcheck.model.trace import Trace
from opcheck.trace import trace_model
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep
from tests.kernel_code.stood_in import imported
from tests.trace.look import calls, reasons, traced

X = torch.ones(2, 300)
ADD = """
@triton.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, other=1.0):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + other, mask=offsets < n)

def add(x, **options):
    out = torch.empty_like(x, dtype=torch.float16)
    grid = lambda meta: (triton.cdiv(out.numel(), meta["BLOCK"]),)
    add_kernel[grid](x, out, out.numel(), BLOCK=256, num_warps=8, **options)
    return out
"""
ADDING = KernelCode(
    "add_kernel", "with_kernels.py", 6,
    parameters=("x_ptr", "out_ptr", "n", "BLOCK", "other"), constants=("BLOCK",),
    operations=(
        Operation("arange", 7), Operation("load", 8, ("x_ptr",)), Operation("program_id", 7),
        Operation("store", 9, ("out_ptr",)),
    ),
    calls=(Called("arange", 7, ("BLOCK",)), Called("block", 8, ("BLOCK",), ("*x_ptr",))),
)  # fmt: skip


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]  # a function
    def write(text: str, name: str = "with_kernels") -> ModuleType:
        return imported(text, tmp_path, monkeypatch, name)

    return write


def launch(trace: Trace) -> Launch:
    (found,) = trace.launches
    return found


def test_a_launch_is_noted_with_dtypes_constants_and_grid(written) -> None:  # type: ignore[no-untyped-def]
    module = written(ADD)
    trace = traced(lambda x: module.add(x).relu() + module.add(x), X)
    assert trace.launches == (
        Launch(
            ADDING, "with_kernels.py:14",
            dtypes=(("x_ptr", "float32"), ("out_ptr", "float16")),
            constants=(("BLOCK", "256"),), programs=3, count=2, warps=8,
            grid=(3,),
        ),
    )  # fmt: skip
    assert calls(trace) == [
        "aten::empty_like", "aten::relu", "aten::empty_like", "aten::add.Tensor",
    ]  # fmt: skip
    assert not trace.gaps


def test_options_of_a_vendor_s_compiler_are_none_of_a_kernel_s_arguments(written) -> None:  # type: ignore[no-untyped-def]
    module = written(ADD)
    options = {"multibuffer": False, "num_stages": 1, "num_ctas": 2, "grf_mode": "256"}
    found = launch(traced(lambda x: module.add(x, **options), X))
    assert (found.stages, found.warps, found.clusters) == (1, 8, 2)
    with pytest.raises(KeyError, match="nothing_like_it"):
        module.add(X, nothing_like_it=1)


def test_values_that_a_kernel_wrote_are_not_known_and_others_are(written) -> None:  # type: ignore[no-untyped-def]
    module = written(ADD)

    def model(x):  # type: ignore[no-untyped-def]  # as a user's
        size = torch.tensor([3], device=x.device)
        out = module.add(size)
        return x[: size.item()] if out.sum() > 0 else x

    trace = traced(model, X)
    assert reasons(trace) == ["reads a value that depends on data; it is taken to be False here"]
    assert "aten::slice.Tensor" not in calls(trace)


def test_configurations_and_heuristics_give_constants(written) -> None:  # type: ignore[no-untyped-def]
    module = written("""
        cleared = []

        def clear(given):
            cleared.append(given["n"])

        @triton.autotune(
            configs=[
                triton.Config({"BLOCK": 64}, num_stages=2, pre_hook=clear),
                triton.Config({"BLOCK": 128}),
            ],
            key=["n"],
        )
        @triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
        @triton.jit
        def kernel(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
            tl.store(x_ptr, 0)

        def run(x):
            kernel[lambda meta: triton.cdiv(128, meta["BLOCK"])](x, 128)
            return x
        """)
    found = launch(traced(module.run, X))
    assert (found.constants, found.programs) == ((("BLOCK", "64"), ("EVEN", "True")), 2)
    assert found.stages == ANY_STAGES
    assert module.cleared == [128]


def test_assembly_of_another_file_is_a_kernel_s_where_every_run_calls_it(written) -> None:  # type: ignore[no-untyped-def]
    written(
        """
        @triton.jit
        def fast(x):
            return tl.inline_asm_elementwise("tanh.f32 $0, $1;", "=f,f", [x], tl.float32, True, 1)

        @triton.jit
        def slow(x):
            return tl.inline_asm_elementwise("ex2.f32 $0, $1;", "=f,f", [x], tl.float32, True, 1)
        """,
        "with_assembly",
    )
    module = written("""
        from with_assembly import fast, slow

        @triton.jit
        def kernel(x_ptr, SLOW: tl.constexpr):
            x = fast(tl.load(x_ptr))
            if SLOW:
                x = slow(x)
            tl.store(x_ptr, x)

        def run(x):
            kernel[(1,)](x, False)
            return x
        """)
    found = launch(traced(module.run, X)).kernel
    assert [each.text for each in found.calls if each.name == ASSEMBLY] == ["tanh.f32 $0, $1;"]


def test_what_a_kernel_calls_in_another_file_is_read_there(written) -> None:  # type: ignore[no-untyped-def]
    written(
        """
        @triton.jit
        def clipped(x):
            return tl.clamp(x.to(tl.float32), 0.0, 1.0)
        """,
        "with_helpers",
    )
    module = written("""
        import with_helpers
        from with_helpers import clipped

        @triton.jit
        def silu(x):
            return x * tl.sigmoid(x)

        @triton.jit
        def kernel(x_ptr, ACT: tl.constexpr, OTHER: tl.constexpr):
            x = with_helpers.clipped(clipped(tl.load(x_ptr)))
            tl.store(x_ptr, OTHER(ACT(x)))

        def run(x):
            kernel[(1, 2)](x, silu, None)
            return x
        """)
    found = launch(traced(module.run, X))
    assert [each.name for each in found.kernel.operations] == [
        "clamp", "load", "sigmoid", "store", "to",
    ]  # fmt: skip
    assert (found.kernel.dtypes, found.kernel.unread) == (("float32",), ("OTHER",))
    assert found.constants == (("ACT", "silu"), ("OTHER", "None"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"wrong": 1}, "Keyword argument wrong was specified but unrecognised"),
        ({"n": None}, "add_kernel() is missing"),
    ],
)
def test_a_launch_that_does_not_fit_the_kernel_raises(written, given, said) -> None:  # type: ignore[no-untyped-def]
    module = written(ADD)

    def model(x):  # type: ignore[no-untyped-def]  # as a user's
        out = torch.empty_like(x)
        arguments = {"BLOCK": 4, "n": 4, **given}
        module.add_kernel[(1,)](x, out, **{k: v for k, v in arguments.items() if v is not None})
        return out

    (gap,) = traced(model, X).gaps
    assert said in gap.reason


def test_without_a_device_a_launch_raises_as_triton_does(written) -> None:  # type: ignore[no-untyped-def]
    module = written(ADD)
    with pytest.raises(RuntimeError, match="0 active drivers"):
        module.add(X)


def test_a_kernel_without_a_file_is_noted_as_not_read(written) -> None:  # type: ignore[no-untyped-def]
    module = written("")
    space = {"triton": module.triton, "tl": module.tl}
    exec("@triton.jit\ndef kernel(x, n):\n    tl.store(x, n)\n", space)

    def run(x):  # type: ignore[no-untyped-def]  # as a user's
        space["kernel"][(1,)](x, 2)
        return x

    found = launch(traced(run, X))
    assert found.kernel == KernelCode("kernel", "", 0, parameters=("x", "n"))


def test_launches_in_a_backward_are_of_the_backward(written) -> None:  # type: ignore[no-untyped-def]
    module = written(
        ADD
        + """
class Added(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return add(x).float()

    @staticmethod
    def backward(ctx, grad):
        return add(grad).float()

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        return Added.apply(self.layer(x)).sum()
"""
    )
    step = Training(TrainingStep(), Registrations(frozenset()))
    trace = trace_model(module.Net(), (torch.ones(2, 4),), {}, device_type="npu", training=step)
    assert [found.phase for found in trace.launches] == ["backward", "forward"]
