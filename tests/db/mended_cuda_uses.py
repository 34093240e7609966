"""Uses that advisories for code shared by CUDA and ROCm are about, and others beside."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node

BACKWARD, RENORM, EIG = (
    "aten::native_layer_norm_backward", "aten::embedding_renorm_", "aten::linalg_eig"
)  # fmt: skip
POWER, ENLARGED = "aten::pow.Tensor_Tensor", "aten::upsample_bicubic2d_backward"
NUMBER = TensorMeta("int64", (), (), host=True)
LEARNED = (False, True, True)
HALVES, MEAN = dense(4, 32, 6, dtype="float16"), dense(4, 32, 1)
ONE = dense(1, dtype="int64")
EMPTY = TensorMeta("float32", (20, 0), (1, 1))
SLICED = TensorMeta("float32", (20, 0), (8, 1))


def _gradients(mask: tuple[bool, ...], dtype: str, rows: int) -> Node:
    rows_of_six = dense(rows, 6, dtype=dtype)
    return node(BACKWARD, input=rows_of_six, mean=dense(rows, 1), output_mask=mask)


USES: dict[str, tuple[Node, set[str]]] = {
    "gradients of 128 rows in half": (
        node(BACKWARD, input=HALVES, mean=MEAN, output_mask=LEARNED),
        {"rocm-layer-norm-gradients-half"},
    ),
    "gradients of 64 rows in half": (_gradients(LEARNED, "float16", 64), set()),
    "of the input alone": (_gradients((True, False, False), "bfloat16", 100), set()),
    "rows of no width": (
        node(RENORM, self=EMPTY, indices=ONE), {"cuda-embedding-renorm-empty"},
    ),
    "no columns of a wider table": (node(RENORM, self=SLICED, indices=ONE), set()),
    "rows of one number": (node(RENORM, self=dense(20, 1), indices=ONE), set()),
    "no rows of no width": (
        node(RENORM, self=EMPTY, indices=dense(0, dtype="int64")), set(),
    ),
    "polygamma of order 200": (
        node("aten::polygamma", n=200, self=dense(4)), {"cuda-polygamma-high"},
    ),
    "polygamma of order 50 in float64": (
        node("aten::polygamma", n=50, self=dense(4, dtype="float64")), set(),
    ),
    "polygamma of order 3": (node("aten::polygamma", n=3, self=dense(4)), set()),
    "many small matrices": (node(EIG, self=dense(512, 3, 3)), {"cuda-eig-batch-slow"}),
    "a small matrix": (node(EIG, self=dense(3, 3)), set()),
    "many larger matrices": (node(EIG, self=dense(512, 40, 40)), set()),
    "integers to the power of a tensor of the host": (
        node(POWER, self=dense(4, dtype="int8"), exponent=NUMBER), {"cuda-pow-negative-tensor"},
    ),
    "numbers to the power of a tensor of the host": (
        node(POWER, self=dense(4), exponent=NUMBER), set(),
    ),
    "integers to the power of integers": (
        node(POWER, self=dense(4, dtype="int8"), exponent=dense(4, dtype="int8")), set(),
    ),
    "places of a picture in half": (
        node("aten::grid_sampler_2d", input=dense(1, 3, 192, 192, dtype="float16"),
             grid=dense(1, 9, 9, 2, dtype="float16")),
        {"cuda-grid-sample-half"},
    ),
    "places of a picture": (
        node("aten::grid_sampler_2d", input=dense(1, 3, 192, 192), grid=dense(1, 9, 9, 2)), set(),
    ),
    "gradients of a much enlarged picture in half": (
        node(ENLARGED, grad_output=dense(2, 2, 128, 128, dtype="float16"),
             input_size=(2, 2, 1, 1)),
        {"cuda-upsample-gradients-half"},
    ),
    "gradients of a picture of twice the size in half": (
        node(ENLARGED, grad_output=dense(2, 3, 128, 128, dtype="float16"),
             input_size=(2, 3, 64, 64)),
        set(),
    ),
    "gradients of a much enlarged picture": (
        node(ENLARGED, grad_output=dense(2, 2, 128, 128), input_size=(2, 2, 1, 1)), set(),
    ),
    "very many numbers sorted": (
        node("aten::sort", self=dense(2**18 + 1, 8192, dtype="float16")), {"rocm-sort-large"},
    ),
    "numbers sorted": (node("aten::sort", self=dense(4, 8192, dtype="float16")), set()),
}  # fmt: skip
