"""Calls of tensor operators that meet an advisory about Apple's GPUs, and some that meet none."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense
from tests.db.mps_uses import node

ONE, NOTHING = dense(3), dense(0)
LONGS, MANY = dense(3, dtype="int64"), dense(2**20, dtype="int64")
PAIRS = dense(3, dtype="complex64")
SCALAR = dense(dtype="int64")
SIX = TensorMeta("complex64", (2, 2, 2, 2, 2, 2), (1, 32, 16, 8, 4, 2))
FIVE = TensorMeta("complex64", (2, 2, 2, 2, 2), (1, 16, 8, 4, 2))

MPS_OPERATOR_USES: dict[str, tuple[Node, set[str]]] = {
    "gradients of solve": (
        node("linalg_lu_solve", LU=dense(3, 3), pivots=LONGS, B=dense(3, 1), adjoint=True),
        {"mps-solve-gradients"},
    ),
    "solve by factors": (
        node("linalg_lu_solve", LU=dense(3, 3), pivots=LONGS, B=dense(3, 1), adjoint=False), set(),
    ),
    "one triangle for a batch": (
        node("linalg_solve_triangular", self=dense(3, 3), B=dense(2, 3, 1)),
        {"mps-solve-triangular-broadcast"},
    ),
    "a batch of one triangle for two": (
        node("linalg_solve_triangular", self=dense(1, 3, 3), B=dense(2, 3, 1)),
        {"mps-solve-triangular-broadcast"},
    ),
    "a triangle for each": (
        node("linalg_solve_triangular", self=dense(2, 3, 3), B=dense(2, 3, 1)), set(),
    ),
    "one triangle": (
        node("linalg_solve_triangular", self=dense(3, 3), B=dense(3, 1)), set(),
    ),
    "one triangle for a batch, in the older way": (
        node("triangular_solve", self=dense(2, 3, 1), A=dense(3, 3)),
        {"mps-solve-triangular-broadcast"},
    ),
    "complex numbers of six dimensions made contiguous": (
        node("clone", self=SIX), {"mps-copy-complex-rank"},
    ),
    "complex numbers of six dimensions copied": (
        node("copy_", self=dense(2, 2, 2, 2, 2, 2, dtype="complex64"), src=SIX),
        {"mps-copy-complex-rank"},
    ),
    "complex numbers of five dimensions made contiguous": (node("clone", self=FIVE), set()),
    "complex numbers of six dimensions that are contiguous": (
        node("clone", self=dense(2, 2, 2, 2, 2, 2, dtype="complex64")), set(),
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
    "medians along the first of five dimensions": (
        node("median.dim", self=dense(2, 1, 3, 1, 2), dim=0), {"mps-median-axis"},
    ),
    "medians along the second of six, counted from the end": (
        node("nanmedian.dim", self=dense(2, 2, 1, 3, 1, 2), dim=-5), {"mps-median-axis"},
    ),
    "medians along the second of five dimensions": (
        node("median.dim", self=dense(2, 1, 3, 1, 2), dim=1), set(),
    ),
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
    "a histogram of 256 bins": (node("histc", self=ONE, bins=256), {"mps-histc-slow"}),
    "a histogram of ten bins": (node("histc", self=ONE, bins=10), set()),
    "a million counted": (node("bincount", self=MANY, minlength=16), {"mps-bincount-slow"}),
    "three counted": (node("bincount", self=LONGS, minlength=16), set()),
    "values and how often": (
        node("_unique2", self=dense(2**17), return_counts=True),
        {"mps-bincount-slow", "mps-unique-counts-equal"},
    ),
    "values": (node("_unique2", self=dense(2**17), return_counts=False), set()),
    "many triangular systems": (
        node("linalg_solve_triangular", self=dense(64, 64, 64), B=dense(64, 64, 8)),
        {"mps-solve-triangular-slow"},
    ),
    "a triangular system": (
        node("linalg_solve_triangular", self=dense(640, 640), B=dense(640, 8)), set(),
    ),
    "rows copied to places": (
        node("index_copy_", self=dense(2048, 2048), dim=0, index=LONGS, source=dense(2048, 2048)),
        {"mps-index-copy-slow"},
    ),
    "few rows copied to places": (
        node("index_copy_", self=dense(2048, 2048), dim=0, index=LONGS, source=dense(3, 2048)),
        set(),
    ),
    "factors of a tall matrix": (node("linalg_qr", A=dense(4000, 36)), {"mps-qr-slow"}),
    "factors of a small matrix": (node("linalg_qr", A=dense(36, 36)), set()),
}  # fmt: skip
