"""Calls that meet an advisory about Apple's GPUs, apart from layers, and some that meet none."""

from msgspec.structs import replace

from opcheck.model.trace import Constant, Node, OpName, TensorMeta, Value
from tests.db.calls import dense


def node(op: str, result: TensorMeta | None = None, **arguments: Value) -> Node:
    outputs = (result,) if result else ()
    return Node(OpName.parse(f"aten::{op}"), tuple(arguments.items()), outputs=outputs)


def cast(dtype: str) -> Constant:
    return Constant("dtype", dtype)


CPU = Constant("device", "cpu")
GPU = Constant("device", "mps")
TURNED = TensorMeta("float32", (2, 3), (1, 2))
COLUMNS = TensorMeta("float32", (4, 2), (4, 1))
LONGS = dense(3, dtype="int64")
SECOND_FLAG = replace(dense(dtype="bool"), offset=1)
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
        node("multinomial", self=dense(40000), num_samples=1),
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
        node("nextafter", self=dense(3, dtype="bfloat16")),
        {"mps-nextafter-bfloat16", "mps-nextafter-negative"},
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
        node("clamp_", self=COLUMNS, min=0, max=9), {"mps-clamp-layout", "mps-clamp-nan"},
    ),
    "a tiny bound": (
        node("clamp", self=dense(3), min=1e-8, max=None), {"mps-clamp-tiny", "mps-clamp-nan"},
    ),
    "a small bound": (node("clamp", self=dense(3), min=1e-5, max=None), {"mps-clamp-nan"}),
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
        {"mps-unique-counts", "mps-bincount-slow", "mps-unique-counts-equal"},
    ),
    "unique of a matrix": (node("_unique2", self=dense(2, 3)), {"mps-unique-rank"}),
    "a shift of bytes": (node("__rshift__.Scalar", self=BYTES, other=4), {"mps-shift-uint8"}),
    "a shift": (node("__rshift__.Scalar", self=LONGS, other=4), set()),
    "a fine histogram": (
        node("histc", self=dense(3), bins=8192), {"mps-histogram-bins", "mps-histc-slow"},
    ),
    "a histogram": (node("histc", self=dense(3), bins=50), set()),
    "a causal mask": (
        node("triu", self=dense(4, 4), diagonal=1), {"mps-triangle-infinite"},
    ),
    "an upper triangle": (node("triu", self=dense(4, 4), diagonal=0), set()),
    "a lower triangle": (
        node("tril", self=dense(4, 4), diagonal=-1), {"mps-triangle-infinite"},
    ),
    "rounded division": (
        node("div.Tensor_mode", self=LONGS, rounding_mode="floor"), {"mps-integer-division"},
    ),
    "rounded division of floats": (node("floor_divide", self=dense(3)), set()),
    "places of millions": (node("argwhere", self=dense(8_000_001)), {"mps-mask-many"}),
    "selected of millions": (
        node("masked_select", mask=dense(8_000_001, dtype="bool")), {"mps-mask-many"},
    ),
    "selected of thousands": (
        node("masked_select", mask=dense(80, 100, dtype="bool")), {"mps-read-mask"},
    ),
    "selected of a row": (node("masked_select", mask=dense(80, dtype="bool")), set()),
    "how many are true": (
        node("sum", self=dense(4097, 4096, dtype="bool")), {"mps-sum-bytes", "mps-sum-many"},
    ),
    "a sort beside many": (
        node("sort.stable", self=dense(3, 4194305), dim=0), {"mps-sort-wide"},
    ),
    "a sort of few": (node("sort.stable", self=dense(3, 4194305), dim=1), set()),
    "a sort of integers": (node("sort", self=dense(257, dtype="int64")), {"mps-sort-long"}),
    "frequencies": (node("fft_fftfreq", n=8), {"mps-fftfreq"}),
    "a conjugate": (node("_conj", self=dense(3, dtype="complex64")), {"mps-conj-products"}),
    "sums of places": (
        node("scatter_add", self=LONGS, src=LONGS), {"mps-scatter-long"},
    ),
    "products of places": (
        node("scatter.reduce", self=LONGS, reduce="multiply"), {"mps-scatter-long"},
    ),
    "a flip of one row": (node("flip", self=dense(1, 3), dims=(0,)), {"mps-flip-one"}),
    "a flip": (node("flip", self=dense(1, 3), dims=(1,)), set()),
    "a long side": (node("hypot", self=dense(3)), {"mps-hypot"}),
    "a bit for all": (
        node("bitwise_and.Tensor", dense(3), self=LONGS, other=SECOND_FLAG),
        {"mps-bitwise-scalar"},
    ),
    "integers in steps": (node("linspace", LONGS, start=0, end=9.5), {"mps-linspace-integers"}),
    "steps": (node("linspace", dense(3), start=0, end=9.5), set()),
    "the largest of a transpose": (
        node("argmax", self=TURNED), {"mps-argmax-layout"},
    ),
    "the largest of each row": (node("argmax", self=TURNED, dim=1), set()),
    "a copy that does not wait": (
        node("to.device", self=dense(3), device=GPU, non_blocking=True), {"mps-copy-async"},
    ),
    "a large copy": (
        node("_to_copy", self=dense(2**29, dtype="int64"), device=GPU), {"mps-copy-large"},
    ),
    "a copy": (node("_to_copy", self=dense(2**20), device=GPU), set()),
    "triangles of two batches": (
        node("linalg_solve_triangular", self=dense(2, 2, 3, 3)), {"mps-solve-triangular-batch"},
    ),
    "a triangle": (node("linalg_solve_triangular", self=dense(2, 3, 3)), set()),
    "the square of a complex number": (
        node("pow.Tensor_Scalar", self=dense(3, dtype="complex64"), exponent=2),
        {"mps-complex-pow"},
    ),
    "a square": (node("pow.Tensor_Scalar", self=dense(3), exponent=2), set()),
    "bounds of integers": (node("clamp", LONGS, self=LONGS, min=0, max=1), set()),
    "the number after": (node("nextafter", self=dense(3)), {"mps-nextafter-negative"}),
    "singular values": (node("_linalg_svd", A=dense(8, 32, 32)), {"mps-svd-large"}),
    "few singular values": (node("_linalg_svd", A=dense(4, 32, 32)), set()),
    "a tall matrix": (node("linalg_qr", A=dense(65536, 8)), {"mps-qr-tall", "mps-qr-slow"}),
    "a wide matrix": (node("linalg_qr", A=dense(8, 65536)), set()),
    "twice an integer": (
        node("add.Tensor", dense(3), self=dense(3), other=LONGS, alpha=2), {"mps-add-alpha"},
    ),
    "less of half precision": (
        node("sub.Tensor", dense(3), self=dense(3), other=dense(3, dtype="float16"), alpha=0.5),
        {"mps-add-alpha"},
    ),
    "an integer": (node("add.Tensor", dense(3), self=dense(3), other=LONGS, alpha=1), set()),
    "twice a number": (
        node("add.Tensor", dense(3), self=dense(3), other=dense(3), alpha=2), set(),
    ),
    "a part of a product": (
        node("addcmul", dense(3), self=LONGS, tensor1=dense(3), tensor2=dense(3), value=0.5),
        {"mps-addcmul-integers"},
    ),
    "a product": (node("addcmul", LONGS, self=LONGS, tensor1=LONGS, tensor2=LONGS), set()),
    "conjugated in place": (
        node("conj_physical_", self=dense(3, dtype="complex64")), {"mps-conj-physical"},
    ),
    "a sum of booleans": (
        node("cumsum", LONGS, self=dense(3, dtype="bool"), dim=0), {"mps-cumsum-bool"},
    ),
    "a sum of integers": (node("cumsum", LONGS, self=LONGS, dim=0), set()),
    "a weight of another dtype": (
        node("lerp.Tensor", self=dense(3, dtype="float16"), weight=dense()), {"mps-lerp-weight"},
    ),
    "a weight": (node("lerp.Tensor", self=dense(3), weight=dense()), set()),
    "halfway": (
        node("lerp.Scalar", self=dense(3), weight=0.5), {"mps-lerp-infinite"},
    ),
    "a little": (node("lerp.Scalar", self=dense(3), weight=0.1), set()),
    "factors of two matrices": (node("linalg_lu_factor", A=dense(2, 64, 64)), {"mps-lu-batch"}),
    "factors of one": (node("linalg_lu_factor", A=dense(64, 64)), set()),
    "bounds of a huge tensor": (
        node("clamp.Tensor", self=dense(2**29, dtype="int32")), {"mps-clamp-bounds-large"},
    ),
    "a quotient of unsigned integers": (
        node("div.Tensor", self=dense(3), other=dense(3, dtype="uint16")),
        {"mps-unsigned-division"},
    ),
    "a quotient": (node("div.Tensor", self=dense(3), other=BYTES), set()),
    "many zeros": (node("zeros", dense(2**30 + 1)), {"mps-fill-large"}),
    "zeros": (node("zeros", dense(2**30)), set()),
    "all of nothing": (node("all", self=dense(0, dtype="bool")), {"mps-all-empty"}),
    "all": (node("all", self=dense(3, dtype="bool")), set()),
}  # fmt: skip
