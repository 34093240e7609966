"""What a backend of ``torch.distributed`` sends and reduces, as rows of the answer about it."""

from msgspec.structs import replace

from opcheck.model.matrix import Collective, Reduction, Transfers
from opcheck.model.verdict import Evidence, Method, Verdict
from opcheck.resolve.backend_table import table_of
from tests.resolve.made import matrix

OP = "c10d::allreduce_"
SOURCE = (Evidence(Method.REGISTERED, "vendor/code", "backend.cpp", 7),)
SENDS = Transfers(frozenset(("int8", "float32")), frozenset(("bool",)), SOURCE)
REDUCES = (
    Reduction(False, frozenset(("AVG",)), frozenset(("int8",)), SOURCE),
    Reduction(True, frozenset(("SUM", "MAX")), frozenset(), SOURCE),
)


def said(known: Collective) -> list[tuple[Verdict, str]]:
    rows = table_of(OP, replace(matrix("aten::relu"), collectives={OP: known}))
    assert all(row.evidence == SOURCE for row in rows)
    return [(row.verdict, str(row.text)) for row in rows]


def test_what_depends_on_the_build_is_not_counted_as_sent() -> None:
    known = Collective(True, "ACME", "allreduce", SOURCE, SENDS, REDUCES)
    assert said(known) == [
        (Verdict.NATIVE, "ACME sends float32, int8; of bool nobody has said"),
        (Verdict.NATIVE, "ACME has the reductions MAX, SUM"),
        (Verdict.UNSUPPORTED, "ACME lacks the reductions AVG for int8"),
    ]


def test_a_backend_that_lacks_the_collective_has_no_rows() -> None:
    assert said(Collective(False, "ACME", "allreduce", SOURCE, SENDS, REDUCES)) == []
