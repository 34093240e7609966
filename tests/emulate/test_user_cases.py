"""What users hit on NPUs, run on the emulated device, with what the scan says beside it.

The cases and their numbers are those of ``tests/test_cases.py``. Of these, cannot be shown here:

* 5: that complex128 is slow on AI CPU. Nothing here has a speed; the device says where it would
  run.
* 1: the exception in the AI CPU kernel after the fallback's warning, a fault of one release's
  binary on which the vendor's sources say nothing.
* 12: ``deform_conv`` of mmcv, whose operators are in no matrix; torchvision's stands in for it.
* 13: a wrong shape from a boolean mask, a fault of another plugin than the vendor's. The vendor's
  own kernel gives the right shape, and so does the emulated device.
"""

import warnings
from functools import cache

import pytest
import torch
from torch import Tensor

import opcheck
from opcheck.emulate.host_and_device import Placing
from opcheck.emulate.session import Emulator
from opcheck.model.report import TargetReport
from opcheck.model.verdict import Verdict
from opcheck.source.building import torchvision_operators
from tests.test_cases import CASES, COMPLEX, Case, X, case_of, scanned

PAIRS = [(case, target) for case in CASES for target in case.resolutions]


def emulated(case: Case, target: str, *, values: bool = True, stop: bool = False) -> Emulator:
    """Run a case on the emulated target, its inputs there from the start."""
    torchvision_operators.prepare()
    import torchvision  # noqa: F401  # brings the shape rules of its operators

    emulator = opcheck.emulate(target, values=values, stop=stop)
    with emulator:
        case.function(*Placing(emulator.device, values).inputs(case.inputs))
    return emulator


@cache
def said_of(name: str) -> tuple[TargetReport, ...]:
    """What the scan says of a case, target by target."""
    return scanned(case_of(name)).targets


@pytest.mark.slow
@pytest.mark.parametrize(
    "values", [pytest.param(True, marks=pytest.mark.slow), False], ids=["values", "shapes"]
)
@pytest.mark.parametrize(
    ("case", "target"), PAIRS, ids=[f"{case.name}, {target}" for case, target in PAIRS]
)
def test_the_device_does_what_the_scan_says(case: Case, target: str, values: bool) -> None:
    report = said_of(case.name)[list(case.resolutions).index(target)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        emulator = emulated(case, target, values=values)
    said = {
        verdict: {f.reason.code for f in report.findings if f.verdict is verdict}
        for verdict in Verdict
    }
    refused = {refusal.reason.code for refusal in emulator.refusals}
    assert bool(refused) is bool(said[Verdict.UNSUPPORTED])
    assert refused <= said[Verdict.UNSUPPORTED]
    if not refused:
        assert {c.reason.code for c in emulator.host_calls} == said[Verdict.FALLBACK]
        assert sum(c.nbytes for c in emulator.host_calls) == report.summary.fallback_bytes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target", "words"),
    [
        ("4: index of complex numbers", "ascend-910b", "self, which is complex64"),
        ("4: index of complex numbers", "ascend-910a", "jit_compile=False"),
        ("4: gather of complex numbers", "ascend-910b@6.0.0", "self is complex64"),
        ("5: rotary embedding in complex128", "ascend-910a", "jit_compile=False"),
        ("7: repeat_interleave of double", "ascend-910b", "self is float64"),
        ("bfloat16 on chips without it", "ascend-910a", "bfloat16"),
    ],
)
def test_a_users_call_raises_on_the_device(name: str, target: str, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        emulated(case_of(name), target, stop=True)
    told = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert words in told


@pytest.mark.slow
def test_case_1_warns_of_the_host_on_an_old_release_and_runs() -> None:
    case = case_of("1: isin")
    with opcheck.emulate("ascend-910b@5.0.0") as device:
        with pytest.warns(UserWarning, match="'aten::isin.Tensor_Tensor_out' is not currently"):
            found = case.function(*(x.to(device) for x in case.inputs))
        assert found.tolist() == [True, True, True, False, False]
    with opcheck.emulate("ascend-910b") as device, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert case.function(*(x.to(device) for x in case.inputs)).tolist() == found_of(case)


def found_of(case: Case) -> list[bool]:
    return case.function(*case.inputs).tolist()  # type: ignore[no-any-return]  # as a case returns


@pytest.mark.slow
def test_case_4_real_arithmetic_runs_where_complex_numbers_do_not() -> None:
    def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)

    x, angle = X.view(4, 6), COMPLEX[:, :3].real
    expected = torch.view_as_complex(x.view(4, 3, 2)) * torch.polar(torch.ones(4, 3), angle)
    emulator = opcheck.emulate("ascend-910a")
    with emulator as device:
        found = rotated(x.to(device), angle.cos().to(device), angle.sin().to(device)).cpu()
    torch.testing.assert_close(found, torch.view_as_real(expected).flatten(1))
    assert not emulator.refusals
    assert not emulator.host_calls


@pytest.mark.slow
def test_case_5_complex128_runs_and_says_where() -> None:
    emulator = emulated(case_of("5: rotary embedding in complex128"), "ascend-910b")
    assert emulator.refusals == ()
    assert {"aten::mul.Tensor", "aten::view_as_real"} == {c.op for c in emulator.cautions}
    assert {c.reason.code for c in emulator.cautions} == {"runs-on-aicpu"}


@pytest.mark.slow
def test_case_7_angles_in_float32_run() -> None:
    emulator = opcheck.emulate("ascend-910b")
    with emulator as device:
        angles = torch.arange(4, dtype=torch.float64, device=device)
        with pytest.warns(UserWarning, match="replace with float"):
            moved = angles.cpu().to(device)  # the device's own cast gives float32 already
        assert moved.dtype is torch.float32
        with pytest.raises(RuntimeError, match="self is float64"):
            angles.repeat_interleave(2)
        assert angles.float().repeat_interleave(2).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.slow
def test_case_10_only_the_suppression_itself_runs_on_the_host() -> None:
    """Users take its warning for everything on the CPU; only this operator is."""
    torchvision_operators.prepare()
    import torchvision  # noqa: F401  # brings the shape rules of its operators

    emulator = opcheck.emulate("ascend-910b", values=False)
    with emulator as device, pytest.warns(UserWarning) as caught:
        boxes, scores = torch.rand(6, 4, device=device), torch.rand(6, device=device)
        torch.ops.torchvision.nms(boxes + 1, scores.exp(), 0.5)
    assert [str(w.message) for w in caught] == [
        "CAUTION: The operator 'torchvision::nms' is not currently supported on the NPU backend "
        "and will fall back to run on the CPU. This may have performance implications."
    ]
    verdicts = {k.op: k.verdict for k in emulator.kernels}
    assert verdicts.pop("torchvision::nms") is Verdict.FALLBACK
    assert set(verdicts.values()) == {Verdict.NATIVE}


@pytest.mark.slow
def test_case_12_a_deformed_convolution_runs_on_the_host() -> None:
    torchvision_operators.prepare()
    import torchvision  # noqa: F401  # brings the shape rules of its operators

    emulator = opcheck.emulate("ascend-910b", values=False)
    with emulator as device, pytest.warns(UserWarning, match="'torchvision::deform_conv2d'"):
        x, weight = torch.rand(1, 2, 5, 5, device=device), torch.rand(3, 2, 3, 3, device=device)
        offset, mask = torch.rand(1, 18, 3, 3, device=device), torch.rand(1, 9, 3, 3, device=device)
        bias = torch.rand(3, device=device)
        found = torch.ops.torchvision.deform_conv2d(
            x, weight, offset, mask, bias, 1, 1, 0, 0, 1, 1, 1, 1, True
        )
        assert found.shape == (1, 3, 3, 3)
    (calls,) = emulator.host_calls
    assert calls.nbytes == 4 * (50 + 54 + 162 + 81 + 3 + 27)


@pytest.mark.slow
def test_case_13_a_boolean_mask_gives_the_right_shape() -> None:
    with opcheck.emulate("ascend-910b") as device:
        x = torch.arange(75.0).view(1, 5, 5, 3)
        mask = torch.zeros(1, 5, 5, dtype=torch.bool)
        mask[0, 1, 1:4] = True
        found = x.to(device)[mask.to(device)]
        assert found.shape == (3, 3)
        assert torch.equal(found.cpu(), x[mask])
