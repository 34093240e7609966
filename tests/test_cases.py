"""What users hit, from public issue threads, as small models: verdict, reason and evidence.

Each expectation rests on what the vendor's files say, as ``compat_db`` holds them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

import opcheck
from opcheck.model.report import Finding, Report
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.source.building import torchvision_operators

NATIVE, DECOMPOSED, FALLBACK, UNSUPPORTED = (
    Verdict.NATIVE, Verdict.DECOMPOSED, Verdict.FALLBACK, Verdict.UNSUPPORTED,
)  # fmt: skip
REGISTERED = (NATIVE, "registered")
THROUGH_OUT = (NATIVE, "registered-through-out")
DECOMPOSES = (DECOMPOSED, "decomposes")
ON_HOST = (FALLBACK, "host-fallback")
COMPUTED = (FALLBACK, "computed-on-host")
DTYPE = (UNSUPPORTED, "dtype-not-supported")
DOUBTED = (Verdict.UNKNOWN, "document-contradicts-registration")
NO_COMPLEX = (UNSUPPORTED, "complex-needs-jit-compile-off")

X = torch.linspace(-1, 1, 24)
COMPLEX = torch.complex(X, X).view(4, 6)


class Applied(nn.Module):
    """A function as a model."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


@dataclass(frozen=True)
class Case:
    """A model, the operator that users stumbled over, and its resolution by target."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[Tensor, ...]
    op: str
    resolutions: dict[str, tuple[Verdict, str]]


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    turned = torch.view_as_complex(x.view(4, 3, 2)) * angles
    return torch.view_as_real(turned).flatten(1)


CASES = (
    Case(
        "1: isin",
        torch.isin,
        (torch.arange(5), torch.arange(3)),
        "aten::isin.Tensor_Tensor",
        {
            "ascend-910b": REGISTERED,
            "ascend-910b@6.0.0": REGISTERED,
            "ascend-910b@5.0.0": ON_HOST,
        },
    ),
    Case(
        "4: index of complex numbers",
        lambda x, i: x[i],
        (COMPLEX, torch.tensor([0, 2])),
        "aten::index.Tensor",
        {"ascend-910b": DTYPE, "ascend-910a": NO_COMPLEX},
    ),
    Case(
        "4: gather of complex numbers",
        lambda x, i: x.gather(0, i),
        (COMPLEX, torch.tensor([[0, 1, 2]])),
        "aten::gather",
        {"ascend-910b": DTYPE, "ascend-910b@6.0.0": DTYPE, "ascend-310p": NO_COMPLEX},
    ),
    Case(
        "5: rotary embedding in complex128",
        rotate,
        (X.view(4, 6), COMPLEX[:, :3].to(torch.complex128)),
        "aten::mul.Tensor",
        {"ascend-910b": (NATIVE, "runs-on-aicpu"), "ascend-910a": NO_COMPLEX},
    ),
    Case(
        "6: polar",
        lambda x: torch.polar(x, x),
        (X,),
        "aten::polar",
        {"ascend-910b": REGISTERED, "ascend-910b@5.0.0": ON_HOST, "ascend-310p": NO_COMPLEX},
    ),
    Case(
        "6: view_as_complex",
        torch.view_as_complex,
        (X.view(12, 2),),
        "aten::view_as_complex",
        {"ascend-910b": REGISTERED, "ascend-910b@5.0.0": ON_HOST, "ascend-910a": NO_COMPLEX},
    ),
    Case(
        "7: repeat_interleave of double",
        lambda x: x.repeat_interleave(2, -1),
        (X.double(),),
        "aten::repeat_interleave.self_int",
        {"ascend-910b": DTYPE, "ascend-910a": DOUBTED, "ascend-910b@6.0.0": DTYPE},
    ),
    Case(
        "7: repeat_interleave of float",
        lambda x: x.repeat_interleave(2, -1),
        (X,),
        "aten::repeat_interleave.self_int",
        {"ascend-910b": REGISTERED},
    ),
    Case(
        "10: nms",
        lambda boxes, scores: torch.ops.torchvision.nms(boxes, scores, 0.5),
        (X.view(6, 4), X[:6]),
        "torchvision::nms",
        {"ascend-910b": ON_HOST, "ascend-310p": ON_HOST},
    ),
    Case(
        "13: index with a mask",
        lambda x: x[x > 0],
        (X,),
        "aten::index.Tensor",
        {"ascend-910b": REGISTERED},
    ),
    Case(
        "14: standard deviation",
        lambda x: x.std(-1),
        (X,),
        "aten::std.dim",
        {"ascend-910b": (DECOMPOSED, "may-run-on-host")},
    ),
    Case(
        "15: cumprod",
        lambda x: x.cumprod(-1),
        (X,),
        "aten::cumprod",
        {"ascend-910b": (DECOMPOSED, "runs-on-aicpu")},
    ),
    Case(
        "20: sampling a volume",
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (X.view(1, 1, 2, 3, 4), torch.zeros(1, 2, 2, 2, 3)),
        "aten::grid_sampler",
        {"ascend-910b": DECOMPOSES},
    ),
    Case(
        "22: adaptive average pooling that does not divide",
        lambda x: F.adaptive_avg_pool2d(x, (3, 5)),
        (torch.ones(1, 2, 7, 8),),
        "aten::adaptive_avg_pool2d",
        {"ascend-910b": REGISTERED, "ascend-310p": REGISTERED},
    ),
    Case(
        "23: adaptive max pooling",
        lambda x: F.adaptive_max_pool2d(x, (3, 5)),
        (torch.ones(1, 2, 7, 8),),
        "aten::adaptive_max_pool2d",
        {
            "ascend-910b": (NATIVE, "document-overruled"),  # the kernel's page lists it
            "ascend-910a": (UNSUPPORTED, "size-not-supported"),  # 8 does not divide by 5
        },
    ),
    Case(
        "25: product of doubles",
        lambda x: x @ x.mT,
        (X.double().view(4, 6),),
        "aten::matmul",
        {"ascend-910b": DTYPE, "ascend-910a": DOUBTED},
    ),
    Case(
        "28: unfold",
        lambda x: F.unfold(x, 2),
        (X.view(1, 1, 4, 6),),
        "aten::im2col",
        {"ascend-910b": REGISTERED},
    ),
    Case(
        "33: short-time Fourier transform",
        lambda x: torch.stft(x, 8, return_complex=True, window=torch.ones_like(x[0, :8])),
        (X.view(1, 24),),
        "aten::stft",
        {"ascend-910b": REGISTERED, "ascend-910a": NO_COMPLEX, "ascend-910b@5.0.0": ON_HOST},
    ),
    Case(
        "33: Fourier transform",
        torch.fft.rfft,
        (X,),
        "aten::fft_rfft",
        {"ascend-910b": DECOMPOSES, "ascend-910a": NO_COMPLEX, "ascend-910b@5.0.0": ON_HOST},
    ),
    Case(
        "34: antialiased bicubic resizing",
        lambda x: F.interpolate(x, scale_factor=0.5, mode="bicubic", antialias=True),
        (torch.ones(1, 3, 8, 8),),
        "aten::_upsample_bicubic2d_aa.vec",
        {"ascend-910b": DECOMPOSES, "ascend-310p": COMPUTED, "ascend-910b@5.0.0": ON_HOST},
    ),
    Case(
        "36: einsum",
        lambda x: torch.einsum("bij,bkj->bik", x, x),
        (X.view(2, 3, 4),),
        "aten::einsum",
        {"ascend-910b": DECOMPOSES, "ascend-910a": DECOMPOSES},
    ),
    Case(
        "bfloat16 on chips without it",
        F.silu,
        (X.bfloat16(),),
        "aten::silu",
        {"ascend-910b": REGISTERED, "ascend-910a": DTYPE, "ascend-310p": DTYPE},
    ),
)


def scanned(case: Case) -> Report:
    torchvision_operators.prepare()
    import torchvision  # noqa: F401  # brings the shape rules of its operators

    return opcheck.scan(Applied(case.function), case.inputs, targets=list(case.resolutions))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_users_case_gets_the_verdict_that_the_vendors_files_support(case: Case) -> None:
    report = scanned(case)
    assert report.trace.gaps == ()
    found = [_of(case.op, target.findings) for target in report.targets]
    assert [(f.verdict, f.reason.code) for f in found] == list(case.resolutions.values())
    runs = [_RUNS.get(verdict, True) for verdict, _ in case.resolutions.values()]
    assert [target.summary.runs for target in report.targets] == runs
    assert all(finding.evidence for finding in found)


_RUNS = {UNSUPPORTED: False, Verdict.UNKNOWN: None}
"""What a model with such a call is said to do; of any other verdict, it runs."""


def _of(op: str, findings: tuple[Finding, ...]) -> Finding:
    """The worst finding on an overload: they come worst first."""
    return next(f for f in findings if f.op == op)


def case_of(name: str) -> Case:
    (found,) = [case for case in CASES if case.name == name]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target", "confidence", "method", "words"),
    [
        ("4: gather of complex numbers", 0, Confidence.MEDIUM, Method.DOCUMENTED,
         "self is complex64, which the vendor's tables of native APIs leave out"),
        ("7: repeat_interleave of double", 0, Confidence.MEDIUM, Method.DOCUMENTED,
         "self is float64, which the vendor's tables of native APIs leave out"),
        ("4: index of complex numbers", 1, Confidence.HIGH, Method.REGISTERED,
         "Please try again with jit_compile=False"),
        ("bfloat16 on chips without it", 1, Confidence.HIGH, Method.REGISTERED,
         "self is bfloat16, which 910a does not have"),
        ("34: antialiased bicubic resizing", 1, Confidence.HIGH, Method.REGISTERED,
         "its kernel computes on the host"),
        ("10: nms", 0, Confidence.HIGH, Method.REGISTERED, "torchvision_npu"),
        ("1: isin", 2, Confidence.HIGH, Method.REGISTERED,
         "ascend registers no kernel for aten::isin.Tensor_Tensor"),
    ],
)  # fmt: skip
def test_a_reason_says_how_it_is_known(
    name: str, target: int, confidence: Confidence, method: Method, words: str
) -> None:
    case = case_of(name)
    found = _of(case.op, scanned(case).targets[target].findings)
    assert words in found.reason.text
    assert (found.confidence, found.evidence[0].method) == (confidence, method)
    assert found.evidence[0].path


@pytest.mark.slow
def test_real_arithmetic_takes_the_place_of_complex_numbers() -> None:
    """What users were told to write instead of case 4 runs where complex numbers do not."""

    def real(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(1)

    inputs = (X.view(4, 6), X[:12].view(4, 3), X[:12].view(4, 3))
    report = opcheck.scan(Applied(real), inputs, targets=["ascend-910a", "ascend-910b"])
    assert [t.summary.runs for t in report.targets] == [True, True]
    assert [t.summary.support_rate for t in report.targets] == [1.0, 1.0]


@pytest.mark.slow
def test_a_fallback_counts_the_bytes_that_it_moves() -> None:
    target = scanned(case_of("10: nms")).targets[0]
    boxes, scores, kept = 6 * 4 * 4, 6 * 4, 6 * 8
    assert target.summary.fallback_bytes == boxes + scores + kept
