"""A document against a registration: unknown alone, settled by a second source of another kind."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from opcheck.db.contradictions import of_document
from opcheck.db.store import Database
from opcheck.model.matrix import DOUBTED, OVERRULED, Condition, SupportMatrix
from opcheck.model.predicates import NoneOf, OneOf
from opcheck.model.target import Target, TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.db.overlays import OVERLAY, ROOT, written
from tests.lang.told import in_chinese

NATIVE, UNKNOWN, UNSUPPORTED = Verdict.NATIVE, Verdict.UNKNOWN, Verdict.UNSUPPORTED
DOCUMENTED, REGISTERED = Method.DOCUMENTED, Method.REGISTERED
DOCUMENTS = Path(__file__).parent.parent.parent / "docs" / "database.md"


def matrix(database: Database, target: str) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(target)))


def resolution(database: Database, target: str, op: str, **tensors: str) -> Resolution:
    """What becomes of a call on tensors of some dtypes."""
    found = matrix(database, target)
    given = tuple((n, TensorMeta(dtype, (4, 4), (4, 1))) for n, dtype in tensors.items())
    return Walk([Node(OpName.parse(op), given)], found, found.target.torch).resolution(0)


FFT_SHIFT = "aten::fft_fftshift"


@pytest.mark.parametrize(
    ("target", "op", "tensors", "verdict", "code", "sources"),
    [
        # the table marks it, the kernel's page lists it
        ("ascend-950", "aten::embedding", {"weight": "float32", "indices": "int64"}, NATIVE,
         OVERRULED, {"Ascend/pytorch", "hicann/ops-nn", "Ascend/op-plugin"}),
        ("ascend-950", "aten::hardsigmoid", {"self": "float32"}, NATIVE, OVERRULED,
         {"Ascend/pytorch", "hicann/ops-nn", "Ascend/op-plugin"}),
        ("ascend-950", "aten::upsample_bicubic2d", {"self": "float32"}, NATIVE, OVERRULED,
         {"Ascend/pytorch", "hicann/ops-cv", "Ascend/op-plugin"}),
        # both leave it out
        ("ascend-950", "aten::softplus", {"self": "float32"}, UNSUPPORTED,
         "not-supported-on-chip", {"Ascend/pytorch", "hicann/ops-nn"}),
        ("ascend-910b", "aten::gather", {"self": "complex64", "index": "int64"}, UNSUPPORTED,
         "dtype-not-supported", {"Ascend/pytorch", "hicann/ops-nn"}),
        # no table speaks of it; the page, its return codes and the kernel's code refuse it
        ("ascend-910b", "aten::native_layer_norm", {"input": "float64"}, UNSUPPORTED,
         "dtype-not-supported", {"hicann/ops-nn"}),
        # the table alone
        ("ascend-950", "aten::scaled_dot_product_attention", {"query": "float16"}, UNKNOWN,
         DOUBTED, {"Ascend/pytorch", "Ascend/op-plugin"}),
        # the table marks it, the vendor's own test runs it
        ("ascend-910b", "aten::gru.input", {"input": "float32"}, NATIVE, OVERRULED,
         {"Ascend/pytorch", "Ascend/op-plugin"}),
        # code that raises is a second source of its own
        ("ascend-950", "aten::gru.input", {"input": "float32"}, UNSUPPORTED, "no-aclnn-kernel",
         {"Ascend/pytorch", "Ascend/op-plugin"}),
    ],
)  # fmt: skip
def test_a_contradiction_is_settled_by_what_else_speaks(
    target: str,
    op: str,
    tensors: Mapping[str, str],
    verdict: Verdict,
    code: str,
    sources: set[str],
    database: Database,
) -> None:
    found = resolution(database, target, op, **tensors)
    assert (found.verdict, found.code) == (verdict, code)
    assert {evidence.source for evidence in found.evidence} == sources


def test_what_overrules_a_table_is_told_in_chinese(database: Database) -> None:
    found = resolution(database, "ascend-910b", "aten::ceil", self="int32")
    assert (found.verdict, found.code) == (NATIVE, OVERRULED)
    assert in_chinese([found.text]) == [
        "self 为 int32，厂商的原生 API 表未列出（表中为 float16, float32）；但 op-plugin "
        "对这种张量原样返回，不调用 kernel"
    ]


def test_what_a_test_of_the_vendor_runs_is_told_in_chinese(database: Database) -> None:
    found = [resolution(database, "ascend-910b", op) for op in ("aten::gru.input", FFT_SHIFT)]
    assert in_chinese([one.text for one in found]) == [
        "厂商的表将该算子标为在 910b 上不支持；但 op-plugin 自己的测试以 float32 运行它，"
        "允许十分之一的误差",
        "厂商的表将该算子标为在 910b 上不支持；但 op-plugin 自己的测试在该芯片上运行它",
    ]


def test_a_document_alone_is_little_to_go_by(database: Database) -> None:
    found = resolution(database, "ascend-950", "aten::stft", self="float32")
    assert found.confidence is Confidence.LOW
    assert found.text == (
        "the vendor's table marks this operator as not supported on 950; a kernel is registered, "
        "and no second source settles which of them holds"
    )
    assert [evidence.method for evidence in found.evidence] == [DOCUMENTED, REGISTERED]


@pytest.mark.parametrize("op", ["aten::conv1d", "aten::conv1d.padding"])
def test_bfloat16_runs_in_a_convolution_whose_kernel_lists_it(op: str, database: Database) -> None:
    """The page's text tells it of A2, A3 and 950, and not of other chips."""
    for chip, code in {
        "910b": OVERRULED,
        "910c": OVERRULED,
        "950": OVERRULED,
        "310b": DOUBTED,
    }.items():
        found = matrix(database, f"ascend-{chip}").conditions_for(op)
        assert [c.code for c in found if _bites(c, "input", "bfloat16")] == [code]


@pytest.mark.parametrize(
    ("op", "argument", "pages"),
    [
        ("batch_norm", "input", "the page of aclnnBatchNorm"),
        ("prelu", "self", "the page of aclnnPrelu"),
        ("adaptive_avg_pool1d", "self", "the page of aclnnAdaptiveAvgPool2d"),
        ("grid_sampler", "input", "each page of aclnnGridSampler2D, aclnnGridSampler3D"),
        ("nll_loss_nd", "self", "each page of aclnnNLLLoss, aclnnNLLLoss2d"),
        (
            "cross_entropy_loss",
            "self",
            "each page of aclnnLogSoftmax, aclnnNLLLoss, aclnnNLLLoss2d",
        ),
    ],
)
def test_a_composite_takes_what_all_kernels_that_it_ends_in_list(
    op: str, argument: str, pages: str, database: Database
) -> None:
    """What one of them leaves out stays denied, and old chips have no bfloat16 in any."""
    found = matrix(database, "ascend-910b").conditions_for(f"aten::{op}")
    (listed,) = [c for c in found if _bites(c, argument, "bfloat16")]
    assert listed.code == OVERRULED
    assert listed.text.endswith(f"; but {pages} lists it")
    (denied,) = [c for c in found if _bites(c, argument, "int16")]
    assert (denied.verdict, denied.text.endswith(f"; {pages} leaves it out too")) == (
        UNSUPPORTED, True
    )  # fmt: skip
    for target in ("ascend-910a", "ascend-910b@7.2.0"):
        older = matrix(database, target).conditions_for(f"aten::{op}")
        assert OVERRULED not in {c.code for c in older if _bites(c, argument, "bfloat16")}


def test_what_a_page_lists_says_nothing_of_an_older_release(database: Database) -> None:
    older, newest = (
        [c.code for c in matrix(database, target).conditions_for("aten::abs")
         if c.code != "runs-on-aicpu" and _bites(c, "self", "complex64")]
        for target in ("ascend-910b@7.2.0", "ascend-910b")
    )  # fmt: skip
    assert (older, newest) == ([DOUBTED], [OVERRULED])


def _bites(condition: Condition, argument: str, dtype: str) -> bool:
    return any(
        predicate.argument == argument
        and isinstance(predicate.bound, OneOf | NoneOf)
        and predicate.bound.holds(dtype)
        for predicate in condition.predicates
    )


_TABLE = {
    "ops": ["aten::abs"],
    "argument": "self",
    "chips": ["910b"],
    "only": ["fp32", "int64"],
    "at": ["lab:1"],
}
_SECOND = {"ops": ["aten::abs"], "argument": "self", "method": "tested", "at": ["lab:2"]}
_LISTS = {**_SECOND, "runs": True, "text": "it runs", "dtypes": ["fp16", "bf16"]}
_DENIES = {**_SECOND, "runs": False, "text": "it fails", "others_than": ["fp16", "fp32", "fp64"]}


def _settled(*seconds: Mapping[str, Any]) -> dict[str, tuple[str, Verdict, int]]:
    """Dtype -> code, verdict and pieces of evidence, of a made-up table and second sources."""
    from opcheck.db.conditions import conditions_by_operator
    from opcheck.db.reading import Citations

    target = Target("acme", "910b", "1.0", "2.9", "npu")
    release = {"torch": ["2.9"], "documented": [_TABLE], "second_sources": seconds}
    cited = Citations({"lab": {"repo": "acme/lab", "path": "a.md", "commit": "c"}})
    found = conditions_by_operator(target, release, cited)["aten::abs"]
    dtypes = ("float32", "float16", "bfloat16", "float64", "complex64", "quint8")
    told = {
        dtype: [(c.code, c.verdict, len(c.evidence)) for c in found if _bites(c, "self", dtype)]
        for dtype in dtypes
    }
    assert all(len(listed) <= 1 for dtype, listed in told.items() if dtype != "quint8")
    return {dtype: listed[0] for dtype, listed in told.items() if listed}


def test_dtypes_are_settled_one_by_one() -> None:
    unknown = (DOUBTED, UNKNOWN, 1)
    denied, listed = ("dtype-not-supported", UNSUPPORTED, 2), (OVERRULED, NATIVE, 2)
    left_out = ("float16", "bfloat16", "float64", "complex64", "quint8")
    assert _settled() == dict.fromkeys(left_out, unknown)
    assert _settled(_LISTS) == {
        "float16": listed, "bfloat16": listed, "float64": unknown, "complex64": unknown,
        "quint8": unknown,
    }  # fmt: skip
    assert _settled(_DENIES) == {
        "float16": unknown, "float64": unknown, "bfloat16": denied, "complex64": denied,
        "quint8": denied,
    }  # fmt: skip


def test_second_sources_that_disagree_settle_nothing() -> None:
    found = _settled(_LISTS, _DENIES)
    assert found["float16"] == (
        OVERRULED,
        NATIVE,
        2,
    )  # one lists it, and the other does not deny it
    assert found["bfloat16"] == (DOUBTED, UNKNOWN, 1)
    assert found["complex64"] == ("dtype-not-supported", UNSUPPORTED, 2)


def test_an_overlay_decides(tmp_path: Path) -> None:
    """Its conditions stand as they are, and it can withdraw one by the code that reports show."""
    text = OVERLAY.replace("method: tested", "method: documented").replace("acos", "gru.input")
    text = text.replace('dtype-not-supported, at: ["lab:16"]', f'{DOUBTED}, at: ["lab:16"]')
    found = matrix(Database.open(ROOT, overlays=[written(tmp_path, team=text)]), "ascend-910b")
    (own,) = [c for c in found.conditions["aten::lgamma"] if c.evidence[0].origin]
    assert (own.verdict, own.evidence[0].method) == (UNSUPPORTED, DOCUMENTED)
    assert DOUBTED not in {c.code for c in found.conditions_for("aten::gru.input")}


def _newest(database: Database) -> Iterator[SupportMatrix]:
    """The matrix of each chip and release, at the newest torch of that release."""
    for name in database.names():
        by_release = {target.sdk: target for target in reversed(list(database.releases(name)))}
        yield from map(database.matrix, by_release.values())


def _kind(condition: Condition) -> str:
    return condition.predicates[0].kind if condition.predicates else "every use"


@pytest.mark.slow
def test_nowhere_does_one_document_settle_anything(database: Database) -> None:
    """What is unsupported rests on code, on a test, on a report, or on two documents at least."""
    alone = {
        (str(found.target), op, condition.text)
        for found in _newest(database)
        for op, conditions in found.conditions.items()
        for condition in conditions
        if condition.verdict is UNSUPPORTED and _is_one_document(condition.evidence)
    }
    assert alone == set()


def _is_one_document(evidence: tuple[Evidence, ...]) -> bool:
    methods = {found.method for found in evidence}
    return methods == {DOCUMENTED} and len({found.source for found in evidence}) == 1


@pytest.mark.slow
def test_the_page_tells_how_each_kind_was_settled(database: Database) -> None:
    """The table of docs/database.md is that of the database."""
    rows = [f"| {' | '.join(row)} |" for row in _table(database)]
    page = DOCUMENTS.read_text(encoding="utf-8")
    assert [row for row in rows if row not in page] == []


def _table(database: Database) -> Iterator[tuple[str, ...]]:
    """Vendor, what the document tells of, how many, and of those: denied, listed, unknown."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for found in _newest(database):
        lines = list(_lines(database, found.target))
        ops = {op for line in lines for op in line["ops"]}
        for op in ops:
            for condition in found.conditions.get(op, ()):
                outcome = _outcome(condition)
                if outcome:
                    counts[found.target.vendor, _kind(condition), outcome] += 1
    for vendor, kind in sorted({(vendor, kind) for vendor, kind, _ in counts}):
        told = [counts[vendor, kind, outcome] for outcome in ("denied", "listed", "unknown")]
        yield vendor, kind, f"{sum(told):,}", *(f"{number:,}" for number in told)


_SECTIONS = ("conditions", "documented", "refusals")


def _lines(database: Database, target: Target) -> Iterator[Mapping[str, Any]]:
    data = database.release(target).data
    for said in chain.from_iterable(data.get(key, ()) for key in _SECTIONS):
        if of_document(said) and target.chip in said.get("chips", (target.chip,)):
            yield said


def _outcome(condition: Condition) -> str:
    if condition.code in (DOUBTED, OVERRULED):
        return "unknown" if condition.code == DOUBTED else "listed"
    twice = len({evidence.source for evidence in condition.evidence}) > 1
    documents = {evidence.method for evidence in condition.evidence} == {DOCUMENTED}
    return "denied" if condition.verdict is UNSUPPORTED and documents and twice else ""
