"""Calls of tensor operators that meet an advisory about Apple's GPUs, and some that meet none."""

from opcheck.model.trace import Node
from tests.db.calls import dense
from tests.db.mps_uses import node

ONE, NOTHING = dense(3), dense(0)
LONGS = dense(3, dtype="int64")
PAIRS = dense(3, dtype="complex64")
SCALAR = dense(dtype="int64")

MPS_OPERATOR_USES: dict[str, tuple[Node, set[str]]] = {
    "gradients of solve": (
        node("linalg_lu_solve", LU=dense(3, 3), pivots=LONGS, B=dense(3, 1), adjoint=True),
        {"mps-solve-gradients"},
    ),
    "solve by factors": (
        node("linalg_lu_solve", LU=dense(3, 3), pivots=LONGS, B=dense(3, 1), adjoint=False), set(),
    ),
    "coins in integers": (
        node("bernoulli_.float", self=LONGS, p=0.5), {"mps-bernoulli-integers"},
    ),
    "coins": (node("bernoulli_.float", self=ONE, p=0.5), set()),
    "both of two complex numbers": (
        node("logical_and", self=PAIRS, other=PAIRS), {"mps-logical-complex"},
    ),
    "either of a number and a complex one": (
        node("logical_or", self=ONE, other=PAIRS), {"mps-logical-complex"},
    ),
    "both": (node("logical_and", self=ONE, other=ONE), set()),
    "the median of nothing": (node("median", self=NOTHING), {"mps-median-empty"}),
    "the median": (node("median", self=ONE), set()),
    "the mean of nothing": (node("mean.dim", self=NOTHING, dim=(0,)), {"mps-mean-empty"}),
    "the mean": (node("mean.dim", self=ONE, dim=(0,)), set()),
    "the variance of complex numbers": (
        node("var.correction", self=PAIRS, dim=(0,)), {"mps-var-complex"},
    ),
    "the variance": (node("var.correction", self=ONE, dim=(0,)), set()),
    "one shifted by many": (
        node("bitwise_left_shift.Scalar_Tensor", self=1, other=LONGS), {"mps-shift-scalar"},
    ),
    "a tensor of no dimensions shifted by many": (
        node("bitwise_left_shift.Tensor", self=SCALAR, other=LONGS), {"mps-shift-scalar"},
    ),
    "many shifted by one": (node("bitwise_left_shift.Tensor", self=LONGS, other=SCALAR), set()),
}  # fmt: skip
