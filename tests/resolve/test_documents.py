"""A table that leaves a dtype out of a composite: the documents of its kernels decide."""

import pytest

from opcheck.db.store import Database
from opcheck.model.matrix import DOUBTED, NO_DTYPE, OVERRULED, Condition, SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Composite, Node
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.lang.told import in_chinese
from tests.resolve import made

WHOLE, PART, VIEW = "aten::whole", "aten::part", "aten::view"
HALF = {"self": made.tensor("bfloat16")}
PAGE = Evidence(Method.DOCUMENTED, "vendor/kernels", "part.md", 9)
DOUBT = made.condition(Verdict.UNKNOWN, made.dtype("bfloat16"), code=DOUBTED)
LISTS = Condition(
    OVERRULED, Verdict.NATIVE, "", Confidence.MEDIUM, (made.dtype("bfloat16"),), (PAGE,)
)
DENIES_OTHERS = Condition(
    NO_DTYPE, Verdict.UNSUPPORTED, "", Confidence.MEDIUM, (made.dtype("int64"),), (PAGE,)
)


def decided(*of_part: Condition, registered: tuple[str, ...] = (PART, VIEW)) -> Resolution:
    """Of a composite on bfloat16 that runs as a view and a kernel."""
    nodes = [
        made.node(VIEW, given=HALF),
        made.node(PART, given=HALF),
        made.node(WHOLE, 0, 1, composite=Composite.IMPLICIT, given=HALF),
    ]
    conditions = {WHOLE: [DOUBT], PART: [*of_part]}
    return Walk(nodes, made.matrix(*registered, conditions=conditions), "2.9.0").resolution(2)


@pytest.mark.parametrize("row", [LISTS, DENIES_OTHERS], ids=["listed", "not among those left out"])
def test_it_runs_where_the_documents_of_its_kernels_list_the_dtype(row: Condition) -> None:
    found = decided(row)
    assert (found.verdict, found.code) == (Verdict.DECOMPOSED, OVERRULED)
    assert PAGE in found.evidence
    assert found.leaves == {VIEW, PART}


def test_both_documents_are_cited() -> None:
    found = decided(DENIES_OTHERS)
    assert found.evidence == (made.TABLE, PAGE)
    (said,) = in_chinese([found.text])
    assert said == (
        "self 为 bfloat16，厂商的表未把它列给 aten::whole；它以 aten::part 运行，"
        "这些算子自己的文档列有所给的数据类型"
    )


def test_nobody_knows_where_no_document_tells_of_a_kernel() -> None:
    found = decided()
    assert (found.verdict, found.code) == (Verdict.UNKNOWN, DOUBTED)
    assert PART in found.text
    assert VIEW not in found.text
    assert in_chinese([found.text]) != [found.text]


def test_what_a_kernel_refuses_is_refused_and_what_it_is_doubted_for_is_doubted() -> None:
    refuses = made.condition(Verdict.UNSUPPORTED, made.dtype("bfloat16"), code=NO_DTYPE)
    assert decided(refuses).verdict is Verdict.UNSUPPORTED
    assert decided(DOUBT).verdict is Verdict.UNKNOWN


def test_a_table_on_a_kernel_stands() -> None:
    found = decided(LISTS, registered=(WHOLE, PART, VIEW))
    assert (found.verdict, found.code) == (Verdict.UNKNOWN, DOUBTED)
    assert found.text == "self is bfloat16 on chip"


def _turned(dtype: str) -> list[Node]:
    given = {"self": made.tensor(dtype)}
    return [
        made.node("aten::flip", given=given),
        made.node("aten::fliplr", 0, composite=Composite.IMPLICIT, given=given),
    ]


@pytest.fixture(scope="module")
def ascend() -> SupportMatrix:
    database = Database.open()
    return database.matrix(database.resolve(TargetSpec.parse("ascend-910b@26.1.0")))


@pytest.mark.parametrize(
    ("dtype", "verdict"), [("bfloat16", Verdict.DECOMPOSED), ("complex32", Verdict.UNSUPPORTED)]
)
def test_a_composite_of_an_ascend_table_is_decided_by_its_kernel(
    dtype: str, verdict: Verdict, ascend: SupportMatrix
) -> None:
    assert Walk(_turned(dtype), ascend, "2.12.0").resolution(1).verdict is verdict
