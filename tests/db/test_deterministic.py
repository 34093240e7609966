"""Which kernels deterministic mode refuses on each target, by release and torch."""

import pytest
from msgspec.structs import replace

from opcheck.db.by_hand.deterministic import RAISES, WARNS
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.report import Reason
from opcheck.model.trace import Node, OpName, TensorMeta, Trace, Use, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.conditions import matches
from opcheck.resolve.findings import resolve
from tests.db.calls import dense, node
from tests.emulate.matrices import matrix_of

X = dense(4, 8)
COUNTS = dense(4, 8, dtype="int64")


def refused(target: str, call: Node, value: str = "error") -> list[tuple[str, Verdict]]:
    """Codes and verdicts of the conditions on the mode that a call meets."""
    made = replace(call, modes=(("deterministic", value),)) if value else call
    return [
        (condition.code, condition.verdict)
        for condition in matrix_of(target).conditions_for(str(call.op))
        if condition.code in (RAISES, WARNS) and matches(condition, made) is not None
    ]


ERROR = [(RAISES, Verdict.UNSUPPORTED)]
MEDIAN = node("aten::median.dim_values", self=X, dim=0)
SUM = node("aten::cumsum", self=X, dim=0)
ADDED = node("aten::_index_put_impl_", self=X, accumulate=True)
SMALL = node("aten::kthvalue.values", self=X, k=1)
CALLS: tuple[tuple[str, Node, list[tuple[str, Verdict]]], ...] = (
    ("nvidia-h100", MEDIAN, ERROR),
    ("amd-mi300x", MEDIAN, ERROR),
    ("intel-max", MEDIAN, ERROR),
    ("moorethreads-s5000", MEDIAN, []),
    ("ascend-910b", MEDIAN, []),
    ("apple-mps", MEDIAN, []),
    ("apple-mps@2.13.0", ADDED, ERROR),
    ("apple-mps@2.12.1", ADDED, []),
    ("apple-mps@2.15.0", node("aten::_index_put_impl_", self=X, accumulate=False), []),
    ("apple-mps@2.15.0", node("aten::_index_put_impl_", self=COUNTS, accumulate=True), []),
    ("apple-mps@2.15.0", node("aten::index_reduce", self=X, reduce="prod"), ERROR),
    ("apple-mps@2.15.0", node("aten::index_reduce", self=X, reduce="amax"), []),
    ("nvidia-h100@2.13.0", SUM, ERROR),
    ("nvidia-h100@2.14.1", SUM, []),
    ("nvidia-h100@2.13.0", node("aten::cumsum", self=COUNTS, dim=0), []),
    ("nvidia-h100@2.9.1", SMALL, ERROR),
    ("nvidia-h100@2.10.0", SMALL, []),
    ("intel-max@2.5.1", SMALL, []),
    ("intel-max@2.6.0", SMALL, ERROR),
    ("nvidia-h100@2.7.1", node("aten::histc", self=COUNTS), ERROR),
    ("nvidia-h100@2.8.0", node("aten::histc", self=COUNTS), []),
    ("nvidia-h100@2.8.0", node("aten::histc", self=X), ERROR),
    ("moorethreads-s5000", node("aten::histc", self=X), ERROR),
    ("nvidia-h100", node("aten::bincount", self=dense(4, dtype="int64")), []),
    ("nvidia-h100", node("aten::bincount", self=dense(4, dtype="int64"), weights=dense(4)), ERROR),
    ("nvidia-h100@2.0.1", node("aten::bincount", self=dense(4, dtype="int64")), ERROR),
    ("nvidia-h100", node("aten::nll_loss2d_forward", self=X, reduction=1), ERROR),
    ("nvidia-h100", node("aten::nll_loss2d_forward", self=X, reduction=0), []),
    ("nvidia-h100", node("aten::scatter_reduce.two", self=X, reduce="prod"), ERROR),
    ("nvidia-h100", node("aten::scatter_reduce.two", self=X, reduce="sum"), []),
    ("intel-max@2.5.1", node("aten::scatter_reduce.two", self=X, reduce="sum"), ERROR),
    ("intel-max@2.6.0", node("aten::scatter_reduce.two", self=X, reduce="sum"), []),
    ("intel-max@2.11.0", node("aten::scatter_reduce.two", self=COUNTS, reduce="sum"), ERROR),
    ("intel-max@2.11.0", node("aten::scatter_reduce.two", self=X, reduce="sum"), []),
    ("intel-max@2.11.0", node("aten::scatter_add", self=COUNTS), ERROR),
    ("intel-max@2.12.1", node("aten::scatter_add", self=COUNTS), []),
    ("intel-max@2.11.0", node("aten::reflection_pad2d_backward", grad_output=X), ERROR),
    ("intel-max@2.12.1", node("aten::reflection_pad2d_backward", grad_output=X), []),
)


@pytest.mark.parametrize(("target", "call", "expected"), CALLS)
def test_a_kernel_raises_in_the_releases_that_refuse_it(
    target: str, call: Node, expected: list[tuple[str, Verdict]]
) -> None:
    assert refused(target, call) == expected


def test_a_warning_is_a_caution_and_no_mode_is_nothing() -> None:
    assert refused("nvidia-h100", MEDIAN, "warn") == [(WARNS, Verdict.NATIVE)]
    assert refused("nvidia-h100", MEDIAN, "") == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            "error",
            "已开启 torch.use_deterministic_algorithms(True)，PyTorch 会报错："
            '"median CUDA with indices output does not have a deterministic implementation"',
        ),
        (
            "warn",
            "已开启 torch.use_deterministic_algorithms(True, warn_only=True)，PyTorch 会告警："
            '"median CUDA with indices output does not have a deterministic implementation"，'
            "各次运行的结果可能不同",
        ),
    ],
)
def test_what_the_mode_raises_is_told_in_chinese_with_pytorchs_own_words(
    value: str, expected: str
) -> None:
    made = replace(MEDIAN, modes=(("deterministic", value),))
    trace = Trace("2.13.0", "cuda", "inference", (made,), (Use(0, "", "", 0, 1),), (0,))
    (finding,) = resolve(trace, matrix_of("nvidia-h100@2.13.0")).findings
    with speaking(Language.CHINESE):
        assert tell(finding.reason.text) == expected


def _products(modes: tuple[tuple[str, str], ...]) -> Trace:
    weight = TensorMeta("float32", (8, 8), (8, 1))
    given: tuple[tuple[str, Value], ...] = (("self", X), ("mat2", weight))
    calls = [Node(OpName.parse(op), given, (X,), modes=modes) for op in ("aten::mm", "aten::bmm")]
    uses = tuple(Use(place, "", "", 0, 1) for place in range(2))
    return Trace("2.9.1", "cuda", "inference", tuple(calls), uses, (0, 1))


@pytest.mark.parametrize(
    ("target", "value", "times"),
    [
        ("nvidia-h100@2.9.1", "error", 1),
        ("nvidia-h100@2.9.1", "warn", 1),
        ("nvidia-h100@2.9.1", "", 0),
        ("nvidia-h100@2.10.0", "error", 0),
        ("amd-mi300x@2.9.1", "error", 0),
    ],
)
def test_products_of_cublas_are_told_of_once_for_the_target(
    target: str, value: str, times: int
) -> None:
    trace = _products((("deterministic", value),) if value else ())
    told = [one for one in resolve(trace, matrix_of(target)).advisories if "cublas" in one.code]
    assert (
        told
        == [
            Reason(
                "cublas-not-deterministic",
                "torch.use_deterministic_algorithms is on: what cuBLAS multiplies raises or, with "
                "warn_only=True, warns, unless CUBLAS_WORKSPACE_CONFIG is :4096:8 or :16:8 in the "
                "environment of the program",
            )
        ]
        * times
    )
