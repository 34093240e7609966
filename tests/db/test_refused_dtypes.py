"""What kernels of torch's wheels refuse: releases that were read, and those between them."""

import pytest

from opcheck.db.importers.shared import refused_dtypes
from opcheck.db.importers.shared.refused_dtypes import denied
from opcheck.db.store import Database
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Constant, Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.conditions import matches

FLOAT8 = TensorMeta("float8_e4m3fn", (4, 4), (4, 1))
HALF = TensorMeta("float16", (4, 4), (4, 1))


def refused(database: Database, release: str, op: str, **arguments: Value) -> bool:
    spec = TargetSpec.parse(f"nvidia-h100@{release}")
    matrix = database.matrix(database.resolve(spec))
    use = Node(OpName.parse(op), tuple(arguments.items()))
    return any(
        matches(condition, use) is not None
        for condition in matrix.conditions_for(op)
        if condition.verdict is Verdict.UNSUPPORTED
    )


@pytest.mark.parametrize("release", ["2.1.2", "2.8.0", "2.13.0", "2.15.0"])
def test_float8_has_no_arithmetic_on_cuda(release: str, database: Database) -> None:
    for op in ("aten::add.Tensor", "aten::add_.Tensor", "aten::mul.out", "aten::mm", "aten::topk"):
        assert refused(database, release, op, self=FLOAT8, other=FLOAT8), op
        assert not refused(database, release, op, self=HALF, other=HALF), op
    for op in ("aten::eq.Tensor", "aten::view", "aten::_to_copy", "aten::fill_.Scalar"):
        assert not refused(database, release, op, self=FLOAT8), op


def test_a_sum_that_casts_runs(database: Database) -> None:
    assert refused(database, "2.13.0", "aten::sum", self=FLOAT8)
    cast = Constant("dtype", "float32")
    assert not refused(database, "2.13.0", "aten::sum", self=FLOAT8, dtype=cast)


def test_every_argument_of_a_promoting_operator_has_the_dtype(database: Database) -> None:
    assert refused(database, "2.13.0", "aten::bitwise_and.Tensor", self=HALF, other=HALF)
    ints = TensorMeta("int64", (4, 4), (4, 1))
    assert not refused(database, "2.13.0", "aten::atan2", self=ints, other=HALF)


READ = ("2.0.1", "2.6.0", "2.13.0")


@pytest.mark.parametrize(
    ("release", "refusing", "asked"),
    [
        ("2.6.0", {"2.6.0"}, "2.6.0"),
        ("2.6.0", {"2.0.1", "2.13.0"}, None),
        ("2.8.0", {"2.6.0", "2.13.0"}, "2.13.0"),
        ("2.8.0", {"2.6.0"}, None),
        ("2.8.0", {"2.13.0"}, None),
        ("2.14.1", {"2.13.0"}, None),
    ],
)
def test_a_release_between_two_that_refuse_does_too(
    release: str, refusing: set[str], asked: str | None
) -> None:
    assert refused_dtypes._asked(release, refusing, READ) == asked


def test_what_is_said_of_a_dtype_alone_is_not_said_again() -> None:
    dtype = {"subject": "dtype", "argument": "self", "one_of": ["bool"]}
    rank = {"subject": "rank", "argument": "self", "maximum": 2}
    said = {"ops": ["aten::mm"], "verdict": "unsupported", "tests": [dtype]}
    assert denied([said]) == {("aten::mm", "bool")}
    assert denied([{**said, "tests": [dtype, rank]}]) == set()
    assert denied([{**said, "chips": ["t4"]}]) == set()
    assert denied([{**said, "verdict": "native"}]) == set()
