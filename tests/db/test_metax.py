"""MetaX: its own lists and what its builds leave out, and what is inferred of later builds."""

from collections.abc import Mapping

import pytest

from opcheck.db.store import Database
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, Value
from opcheck.model.verdict import Method, Verdict
from opcheck.resolve.conditions import matches
from tests.db.calls import dense

FORK = "MetaX-MACA/mcPytorch"
CELLS = (
    ("2.4.1", "aten::addmm", "addmm_out_cuda", FORK, 6958, Method.REGISTERED),
    ("2.4.1", "aten::gelu", "gelu_out_cuda", FORK, 5038, Method.REGISTERED),
    ("2.0.1", "aten::gelu", "gelu_out_cuda", FORK, 0, Method.REGISTERED),
    ("2.10.0", "aten::addmm", "addmm_out_cuda", "pytorch/pytorch", 0, Method.INFERRED),
)  # fmt: skip
HALF = dense(1, 8, 128, 64, dtype="float16")
ATTENTION = {"query": HALF, "key": HALF, "value": HALF}
LEFT_OUT = (
    ("aten::_scaled_dot_product_flash_attention", ATTENTION),
    ("aten::_int_mm", {"self": dense(32, 32, dtype="int8"), "mat2": dense(32, 32, dtype="int8")}),
    ("aten::_weight_int4pack_mm", {"self": dense(32, 32, dtype="bfloat16")}),
    ("aten::_convert_weight_to_int4pack", {"self": dense(32, 32, dtype="int32")}),
    ("aten::_scaled_mm", {"self": dense(32, 32, dtype="float8_e4m3fn")}),
    ("aten::_sparse_semi_structured_linear", {"input": HALF}),
    ("aten::miopen_batch_norm", {"input": HALF}),
)  # fmt: skip


def matrix(database: Database, text: str) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(text)))


def verdicts(target: SupportMatrix, op: str, arguments: Mapping[str, Value]) -> set[Verdict]:
    node = Node(OpName.parse(op), tuple(arguments.items()))
    return {c.verdict for c in target.conditions_for(op) if matches(c, node) is not None}


@pytest.mark.parametrize(("release", "op", "kernel", "repo", "line", "method"), CELLS)
def test_cells_cite_the_fork_where_it_is_published(
    release: str, op: str, kernel: str, repo: str, line: int, method: Method, database: Database
) -> None:
    entry = matrix(database, f"metax-c500@{release}").entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == (kernel,)
    assert (evidence.source, evidence.method) == (repo, method)
    assert line in (0, evidence.line)


@pytest.mark.parametrize(("op", "arguments"), LEFT_OUT, ids=[op for op, _ in LEFT_OUT])
def test_what_the_build_for_torch_2_4_leaves_out(
    op: str, arguments: Mapping[str, Value], database: Database
) -> None:
    assert verdicts(matrix(database, "metax-c500@2.4.1"), op, arguments) == {Verdict.UNSUPPORTED}


def test_what_later_builds_have_of_it_is_not_known(database: Database) -> None:
    target = matrix(database, "metax-c550@maca3.8.0.7")
    for op, arguments in LEFT_OUT[:4]:
        assert verdicts(target, op, arguments) == {Verdict.UNKNOWN}, op
    assert target.fallback.to_cpu is False


def test_a_release_is_named_by_its_maca(database: Database) -> None:
    found = {
        version: database.resolve(TargetSpec.parse(f"metax-c500@maca{version}")).sdk
        for version in ("2.32.0.3", "3.2.1.3", "3.3.0.2", "3.7.1.3", "3.8.0.7")
    }
    assert found == {
        "2.32.0.3": "2.4.1", "3.2.1.3": "2.6.0", "3.3.0.2": "2.8.0", "3.7.1.3": "2.8.0",
        "3.8.0.7": "2.10.0",
    }  # fmt: skip
