"""Calls that an emulated device refuses: where they raise, what they say, how they are counted."""

import linecache
import re
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

import opcheck
from opcheck.emulate.session import Emulator
from opcheck.model.emulation import Refusal, Site
from opcheck.model.report import Reason
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict
from opcheck.resolve import resolution as codes
from tests.emulate.matrices import matrix_of, without, without_fallback

NEWEST = matrix_of("ascend-910b")
NO_GELU = without(NEWEST, ["gelu"])
NO_SOFTMAX = without(NEWEST, ["softmax", "_softmax", "_softmax_backward_data"])


class Attention(nn.Module):
    """A model with one line for each thing that can be missing."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        scores = self.project(x) @ x.mT
        weights = scores.softmax(-1)
        return F.gelu(weights @ x)


def line_of(error: BaseException) -> str:
    """The last line of this file that an error passed through."""
    trace, found = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == __file__:
            found = trace.tb_lineno
        trace = trace.tb_next
    return linecache.getline(__file__, found).strip()


@pytest.mark.slow
@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize(
    ("matrix", "op", "line"),
    [
        (NO_GELU, "aten::gelu", "return F.gelu(weights @ x)"),
        (NO_SOFTMAX, "aten::_softmax", "weights = scores.softmax(-1)"),
    ],
    ids=["gelu", "softmax"],
)
def test_a_missing_operator_raises_in_the_models_own_line(
    matrix: Any, op: str, line: str, values: bool
) -> None:
    with Emulator(without_fallback(matrix), values=values) as device:
        model, x = Attention().to(device), torch.ones(3, 4, device=device)
        with pytest.raises(NotImplementedError) as caught:
            model(x)
        assert re.fullmatch(
            rf"Could not run '{op}(\.out)?' with arguments from the 'npu' backend\.",
            str(caught.value),
        )
        assert line_of(caught.value) == line
        assert (x + 1).shape == (3, 4)


@pytest.mark.slow
def test_a_missing_operator_of_the_backward_raises_where_backward_was_called() -> None:
    matrix = without_fallback(without(NEWEST, ["gelu_backward"]))
    with Emulator(matrix) as device:
        model, x = Attention().to(device), torch.ones(3, 4, device=device)
        loss = model(x).sum()
        with pytest.raises(NotImplementedError, match="gelu_backward") as caught:
            loss.backward()
        assert line_of(caught.value) == "loss.backward()"
        assert model.project.weight.grad is None
        (x.requires_grad_() * 2).sum().backward()
        assert x.grad is not None


@pytest.mark.slow
def test_a_run_goes_on_past_what_is_missing_and_collects_it() -> None:
    emulator = Emulator(without_fallback(without(NO_SOFTMAX, ["gelu"])), stop=False)
    with emulator as device:
        model, x = Attention().to(device), torch.ones(3, 4, device=device)
        found = [model(x) for _ in range(2)]
        torch.manual_seed(0)
    assert [tuple(y.shape) for y in found] == [(3, 4), (3, 4)]
    ops = [(r.op.removesuffix(".out"), r.reason.code, r.count) for r in emulator.refusals]
    assert ops == [("aten::_softmax", codes.NO_KERNEL, 2), ("aten::gelu", codes.NO_KERNEL, 2)]
    lines = [linecache.getline(__file__, site.line).strip() for site in sites(emulator)]
    assert lines == ["weights = scores.softmax(-1)", "return F.gelu(weights @ x)"]
    verdicts = {k.op.removesuffix(".out"): k.verdict for k in emulator.kernels}
    assert verdicts["aten::gelu"] is verdicts["aten::_softmax"] is Verdict.UNSUPPORTED
    assert verdicts["aten::addmm"] is Verdict.NATIVE


def sites(emulator: Emulator) -> list[Site]:
    return [site for refusal in emulator.refusals for site in refusal.sites]


@pytest.mark.slow
def test_what_is_missing_still_has_its_values_where_the_run_goes_on() -> None:
    torch.manual_seed(0)
    model = Attention()
    x = torch.randn(3, 4)
    expected = model(x).detach()
    with Emulator(without_fallback(NO_GELU), stop=False) as device:
        found = model.to(device)(x.to(device)).detach().cpu()
    torch.testing.assert_close(found, expected)


@pytest.mark.slow
def test_what_the_fallback_runs_warns_once_in_the_vendors_words() -> None:
    emulator = Emulator(NO_GELU)
    with emulator as device, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model, x = Attention().to(device), torch.ones(3, 4, device=device)
        for _ in range(3):
            model(x)
    (said,) = caught
    (calls,) = emulator.host_calls
    assert str(said.message) == (
        f"CAUTION: The operator '{calls.op}' is not currently supported on the NPU backend and "
        "will fall back to run on the CPU. This may have performance implications."
    )
    assert linecache.getline(said.filename, said.lineno).strip() == "return F.gelu(weights @ x)"
    there_and_back = 12 * 4 * (1 + 2)  # what it reads, and what it writes into
    assert (calls.count, calls.nbytes, calls.phase) == (3, 3 * there_and_back, Phase.FORWARD)
    assert calls.reason.code == codes.HOST_FALLBACK
    assert emulator.refusals == ()


@pytest.mark.slow
def test_a_fallback_without_a_kernel_of_the_host_fails() -> None:
    matrix = without(NEWEST, ["convolution_overrideable", "conv2d", "convolution", "_convolution"])
    for values in (True, False):
        with Emulator(matrix, values=values) as device:
            x = torch.ones(1, 1, 4, 4, device=device)
            with pytest.raises(NotImplementedError) as caught:
                F.conv2d(x, x[..., :2, :2])
        assert str(caught.value) == (
            "Could not run 'aten::convolution_overrideable' with arguments from the 'CPU' backend."
        )
    emulator = Emulator(matrix, stop=False)
    with emulator as device:
        x = torch.ones(1, 1, 4, 4, device=device)
        assert F.conv2d(x, x[..., :2, :2]).shape == (1, 1, 3, 3)
    assert [r.reason.code for r in emulator.refusals] == [codes.NO_KERNEL_ANYWHERE]


@pytest.mark.slow
@pytest.mark.parametrize("values", [True, False])
def test_a_dtype_that_the_chip_lacks_raises_with_the_reason_as_a_note(values: bool) -> None:
    with opcheck.emulate("ascend-910a", values=values) as device:
        x = torch.ones(2, device=device)
        with pytest.raises(RuntimeError) as caught:
            x.bfloat16()
        assert line_of(caught.value) == "x.bfloat16()"
        told = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
        assert "bfloat16, which 910a does not have" in told
        assert x.half().dtype is torch.float16
        with pytest.raises(RuntimeError):
            nn.Linear(2, 2).bfloat16().to(device)


@pytest.mark.slow
def test_complex_numbers_raise_in_the_vendors_words_on_the_old_chips() -> None:
    emulator = opcheck.emulate("ascend-910a")
    with emulator as device:
        x = torch.ones(2, device=device)
        with pytest.raises(RuntimeError) as caught:
            torch.complex(x, x)
    assert str(caught.value) == (
        "Current settings do not support Complex dtype. Please try again with jit_compile=False."
    )
    (note,) = caught.value.__notes__
    assert note.startswith(f"aten::complex on {emulator.target}: complex tensors cannot")
    (refusal,) = emulator.refusals
    assert refusal.error == f"RuntimeError: {caught.value}"
    assert refusal.reason.code == "complex-needs-jit-compile-off"


@pytest.mark.slow
def test_a_refusal_is_told_whole() -> None:
    emulator = opcheck.emulate("ascend-910b", stop=False)
    with emulator as device:
        x = torch.ones(4, dtype=torch.float64, device=device)
        for _ in range(2):
            x.repeat_interleave(2, -1)
    text = "self is float64, which the vendor's tables of native APIs leave out (they list "
    (refusal,) = emulator.refusals
    assert refusal.reason.text.startswith(text)
    (site,) = refusal.sites
    assert linecache.getline(__file__, site.line).strip() == "x.repeat_interleave(2, -1)"
    assert refusal == Refusal(
        op="aten::repeat_interleave.self_int",
        reason=Reason("dtype-not-supported", refusal.reason.text),
        error=f"RuntimeError: {refusal.reason.text}",
        count=2,
        phase=Phase.FORWARD,
        sites=(Site("", "tests/emulate/test_refusals.py", site.line),),
        counts=(2,),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("confidence", "refused"), [("low", True), ("medium", True), ("high", False)]
)
def test_what_only_a_document_says_refuses_unless_more_is_asked(
    confidence: str, refused: bool
) -> None:
    emulator = opcheck.emulate("ascend-910b", stop=False, confidence=confidence)
    with emulator as device:
        torch.ones(4, dtype=torch.float64, device=device).repeat_interleave(2, -1)
    assert bool(emulator.refusals) is refused


@pytest.mark.slow
def test_a_host_tensor_among_device_tensors_is_a_refusal() -> None:
    emulator = opcheck.emulate("ascend-910b", stop=False)
    with emulator as device:
        found = torch.ones(3, device=device) + torch.ones(3)
    assert found.device == device
    (refusal,) = emulator.refusals
    assert (refusal.op, refusal.reason.code) == ("aten::add.Tensor", codes.HOST_TENSOR)


@pytest.mark.slow
def test_a_caution_warns_once_and_is_counted() -> None:
    emulator = opcheck.emulate("ascend-910b")
    with emulator as device, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = torch.ones(2, device=device)
        found = [x.double() for _ in range(3)]
    assert [y.dtype for y in found] == [torch.float32] * 3
    assert [str(w.message) for w in caught] == [
        "Device do not support double dtype now, dtype cast replace with float."
    ]
    (caution,) = emulator.cautions
    assert (caution.op, caution.reason.code, caution.count) == (
        "aten::_to_copy", "float64-becomes-float32", 3,
    )  # fmt: skip
    assert {k.op: k.verdict for k in emulator.kernels}["aten::_to_copy"] is Verdict.NATIVE


@pytest.mark.slow
def test_islands_and_bytes_are_those_of_a_hand_count() -> None:
    """On the device: empty, exp, sin; host: flip; device: exp; host: flip, flip; device: exp."""
    emulator = Emulator(without(NEWEST, ["flip"]), values=False)
    with emulator as device:
        x = torch.empty(8, dtype=torch.float16, device=device)
        y = x.exp().sin().flip(0)
        z = y.exp().flip(0).flip(0)
        z.exp()
    assert emulator.device.record.islands == 3
    (calls,) = emulator.host_calls
    assert (calls.count, calls.nbytes) == (3, 3 * (8 + 8) * 2)
    counts = {k.op: (k.verdict, k.count) for k in emulator.kernels}
    assert counts == {
        "aten::empty.memory_format": (Verdict.NATIVE, 1),
        "aten::exp": (Verdict.NATIVE, 3),
        "aten::sin": (Verdict.NATIVE, 1),
        "aten::flip": (Verdict.FALLBACK, 3),
    }


@pytest.mark.slow
def test_a_kernel_that_computes_on_the_host_is_a_host_call() -> None:
    """Registered by the vendor, whose own source says that it copies to the host."""
    emulator = opcheck.emulate("ascend-310p")
    with emulator as device, pytest.warns(UserWarning, match="Now this kernel is running on CPU"):
        x = torch.ones(1, 3, 8, 8, device=device)
        F.interpolate(x, scale_factor=0.5, mode="bicubic", antialias=True)
    (calls,) = emulator.host_calls
    assert calls.reason.code == "computed-on-host"
    assert calls.nbytes == (3 * 64 + 3 * 16) * 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["npu:1", "npu:7"])
def test_a_device_that_there_is_not_is_refused(name: str) -> None:
    text = f"invalid device index {name[-1]}: torch.npu is emulated here, with one device"
    with opcheck.emulate("ascend-910b"):
        for ask in (torch.ones(2).to, lambda at: torch.ones(2, device=at), nn.Linear(2, 2).to):
            with pytest.raises(RuntimeError) as caught:
                ask(name)
            assert str(caught.value) == text
