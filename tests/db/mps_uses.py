"""Calls that meet an advisory about Apple's GPUs, apart from layers, and some that meet none."""

from opcheck.model.trace import Constant, Node, OpName, TensorMeta, Value
from tests.db.calls import dense


def node(op: str, result: TensorMeta | None = None, **arguments: Value) -> Node:
    outputs = (result,) if result else ()
    return Node(OpName.parse(f"aten::{op}"), tuple(arguments.items()), outputs=outputs)


def cast(dtype: str) -> Constant:
    return Constant("dtype", dtype)


CPU = Constant("device", "cpu")
TURNED = TensorMeta("float32", (2, 3), (1, 2))
COLUMNS = TensorMeta("float32", (4, 2), (4, 1))
LONGS = dense(3, dtype="int64")
BYTES = dense(3, dtype="uint8")
MPS_USES = {
    "the larger of two": (node("maximum", self=dense(3)), {"mps-maximum-nan"}),
    "the larger of two integers": (node("maximum", self=LONGS), set()),
    "the largest": (node("amax", self=dense(3)), {"mps-max-nan"}),
    "sqrt_ of columns": (node("sqrt_", self=COLUMNS), {"mps-unary-layout"}),
    "sqrt_ of rows": (node("sqrt_", self=dense(4, 2)), set()),
    "bits of a transpose": (
        node("bitwise_and.Tensor", TURNED, self=TURNED), {"mps-bitwise-layout"},
    ),
    "bits in place": (node("bitwise_xor_.Tensor", self=COLUMNS), {"mps-bitwise-layout"}),
    "bits": (node("bitwise_and.Tensor", dense(2, 3), self=TURNED), set()),
    "the sign of a number": (
        node("copysign.Scalar", self=dense(3), other=-2.0), {"mps-copysign-scalar"},
    ),
    "fmax of two dtypes": (
        node("fmax", self=dense(3), other=dense(3, dtype="float16")), {"mps-fmax-dtypes"},
    ),
    "fmax": (node("fmax", self=dense(3), other=dense(3)), set()),
    "draws with replacement": (
        node("multinomial", self=dense(10), num_samples=5, replacement=True),
        {"mps-multinomial-range"},
    ),
    "draws of many categories": (
        node("multinomial", self=dense(2, 40000), num_samples=5, replacement=True),
        {"mps-multinomial-range", "mps-multinomial-large"},
    ),
    "a draw": (
        node("multinomial", self=dense(40000), num_samples=1, replacement=False),
        {"mps-multinomial-zero"},
    ),
    "exponential numbers": (node("exponential_", self=dense(3)), {"mps-exponential-zero"}),
    "random numbers of five dimensions": (
        node("normal_", self=dense(2, 1, 2, 2, 2)), {"mps-random-rank"},
    ),
    "random numbers of half precision": (
        node("uniform_", dense(3, dtype="float16"), self=dense(3, dtype="float16")),
        {"mps-uniform-half"},
    ),
    "a permutation": (node("randperm", n=9), {"mps-randperm"}),
    "a vector for a batch": (
        node("_linalg_solve_ex", A=dense(2, 3, 3), B=dense(3)), {"mps-solve-broadcast"},
    ),
    "a matrix for a batch": (
        node("_linalg_solve_ex", A=dense(3, 3, 3), B=dense(3, 1)), {"mps-solve-broadcast"},
    ),
    "a vector for each": (node("_linalg_solve_ex", A=dense(2, 3, 3), B=dense(2, 3)), set()),
    "a matrix for each": (node("_linalg_solve_ex", A=dense(2, 3, 3), B=dense(2, 3, 1)), set()),
    "one system": (node("_linalg_solve_ex", A=dense(3, 3), B=dense(3)), set()),
    "abs of integers": (node("abs", self=LONGS), {"mps-integer-abs"}),
    "abs": (node("abs", self=dense(3)), set()),
    "a sum in bytes": (node("sum", self=BYTES, dtype=cast("uint8")), {"mps-sum-narrow"}),
    "a sum of bytes": (node("sum", self=BYTES, dtype=None), set()),
    "the next number": (
        node("nextafter", self=dense(3, dtype="bfloat16")), {"mps-nextafter-bfloat16"},
    ),
    "an integer mean": (node("normal.Tensor_Tensor", mean=LONGS), {"mps-normal-integers"}),
    "complex numbers added": (
        node("index_add", self=dense(3, dtype="complex64"), dim=0), {"mps-index-add-complex"},
    ),
    "added to a transpose": (node("index_add_", self=TURNED, dim=0), {"mps-index-add-layout"}),
    "tril_ of a transpose": (node("tril_", self=TURNED), {"mps-write-layout"}),
    "tril_": (node("tril_", self=dense(2, 3)), set()),
    "hardsigmoid of a transpose": (
        node("hardsigmoid", TURNED, self=TURNED), {"mps-result-layout"},
    ),
    "hardsigmoid": (node("hardsigmoid", dense(2, 3), self=dense(2, 3)), set()),
    "clamp_ of columns": (
        node("clamp_", self=COLUMNS, min=0, max=9), {"mps-clamp-layout"},
    ),
    "a tiny bound": (node("clamp", self=dense(3), min=1e-8, max=None), {"mps-clamp-tiny"}),
    "a small bound": (node("clamp", self=dense(3), min=1e-5, max=None), set()),
    "a fractional bound of integers": (
        node("clamp", dense(3), self=LONGS, min=0.1), {"mps-clamp-integers"},
    ),
    "a sum of millions": (node("sum", self=dense(4096, 4096)), {"mps-sum-many"}),
    "a sum of thousands": (node("sum", self=dense(64, 64)), set()),
    "a copy to the host": (
        node("to.dtype_layout", self=dense(3), dtype=cast("float16"), device=CPU),
        {"mps-copy-to-host"},
    ),
    "a copy to the host as it is": (
        node("to.dtype_layout", self=dense(3), dtype=cast("float32"), device=CPU), set(),
    ),
    "a copy to the host, widened": (
        node("to.device", self=dense(3, dtype="float16"), dtype=cast("float32"), device=CPU),
        set(),
    ),
    "counts of many": (
        node("_unique2", self=dense(10**6, dtype="int32"), return_counts=True),
        {"mps-unique-counts"},
    ),
    "unique of a matrix": (node("_unique2", self=dense(2, 3)), {"mps-unique-rank"}),
    "a shift of bytes": (node("__rshift__.Scalar", self=BYTES, other=4), {"mps-shift-uint8"}),
    "a shift": (node("__rshift__.Scalar", self=LONGS, other=4), set()),
    "a fine histogram": (node("histc", self=dense(3), bins=8192), {"mps-histogram-bins"}),
    "a histogram": (node("histc", self=dense(3), bins=100), set()),
}  # fmt: skip
