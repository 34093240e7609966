"""Uses that advisories of kernels in half precision, sparse tensors and training are about."""

from msgspec.structs import replace

from opcheck.model.trace import Constant, Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import giving

HALVES, NORM = dense(2, 32, 8, 8, dtype="float16"), "aten::native_group_norm"
SDPA, MPS = "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math_for_mps"
ROWS, MASK = "aten::index_add_", dense(1, 1, 2, 2, dtype="bool")
ATTENDED = dense(1, 1, 9, 4)
BACKWARD = "aten::convolution_backward"


def sparse(dtype: str, layout: str = "sparse_coo") -> Constant:
    """A sparse tensor as traces note it."""
    return Constant("other", f"{layout} {dtype}[4,4]")


def trained(query: TensorMeta, kernels: str = "") -> Node:
    """Attention that autograd follows, with these kernels allowed."""
    modes = (("attention", kernels),) if kernels else ()
    call = node(SDPA, query=query, key=query, value=query)
    return replace(call, modes=(*modes, ("gradient", "wanted")))


WIDE = dense(1, 2, 16, 128, dtype="bfloat16")
SLOW, GFX1100 = "cuda-attention-training-heads", "rocm-gfx1100-products"
TURING = "cuda-attention-bfloat16-turing"
USES: dict[str, tuple[Node, set[str]]] = {
    "groups in half precision": (
        node(NORM, input=HALVES), {"cuda-group-norm-half", "xpu-group-norm-half"},
    ),
    "groups in float32": (node(NORM, input=dense(2, 32, 8, 8)), set()),
    "rows of bfloat16 added": (
        node(ROWS, index=dense(9, dtype="int64"), source=dense(9, 2, dtype="bfloat16")),
        {"xpu-index-add-bfloat16"},
    ),
    "rows of float16 added": (
        node(ROWS, index=dense(9, dtype="int64"), source=dense(9, 2, dtype="float16")), set(),
    ),
    "the largest of eight": (node("aten::topk", self=dense(1, 8), k=1), {"xpu-topk-max"}),
    "the largest of one": (node("aten::topk", self=dense(8, 1), k=1), set()),
    "a norm of rows in half": (
        node("aten::native_layer_norm", input=dense(2, 8, 16, dtype="float16")),
        {"tensorrt-layer-norm-half", "tensorrt-layer-norm-half-newer"},
    ),
    "attention by a mask": (
        node(MPS, query=ATTENDED, key=ATTENDED, value=ATTENDED, attn_mask=MASK),
        {"mps-attention-masked-rows"},
    ),
    "attention without one": (node(MPS, query=ATTENDED, key=ATTENDED, value=ATTENDED), set()),
    "a sparse half times a dense one": (
        node("aten::addmm", self=dense(4, 2), mat1=sparse("float16"), mat2=dense(4, 2)),
        {"cuda-sparse-products-half", "rocm-sparse-half", GFX1100},
    ),
    "a compressed half times a dense one": (
        node("aten::addmm", self=dense(4), mat1=sparse("float16", "sparse_csr"), mat2=dense(4)),
        {"rocm-sparse-half", GFX1100},
    ),
    "a sparse matrix times a dense one": (
        node("aten::addmm", self=dense(4, 2), mat1=sparse("float32"), mat2=dense(4, 2)), {GFX1100},
    ),
    "a batch of sparse halves": (
        node("aten::bmm", self=sparse("bfloat16"), mat2=dense(1, 4, 2)), {"cuda-sparse-bmm-half"},
    ),
    "a batch of sparse matrices": (
        node("aten::bmm", self=sparse("float32"), mat2=dense(1, 4, 2)), set(),
    ),
    "softmax of sparse halves": (
        node("aten::_sparse_softmax", self=sparse("float16"), dim=1), {"cuda-sparse-softmax-half"},
    ),
    "softmax of a sparse matrix": (
        node("aten::_sparse_softmax", self=sparse("float64"), dim=1), set(),
    ),
    "two sparse matrices of complex numbers": (
        node("aten::_sparse_sparse_matmul", self=sparse("complex64"), other=sparse("complex64")),
        {"rocm-sparse-products-complex"},
    ),
    "two sparse matrices": (
        node("aten::_sparse_sparse_matmul", self=sparse("float32"), other=sparse("float32")), set(),
    ),
    "wide heads trained by flash attention alone": (
        trained(WIDE, "flash"),
        {
            "cuda-flash-training-heads", SLOW, "cuda-flash-alone-turing",
            "xpu-flash-alone-gradients", "xpu-flash-alone-chip", "xpu-flash-alone-layout",
        },
    ),
    "wide heads trained": (trained(WIDE), {SLOW, TURING}),
    "heads of 64 trained": (trained(dense(1, 2, 16, 64, dtype="bfloat16")), {TURING}),
    "wide heads": (replace(trained(WIDE), modes=()), {TURING}),
    "a product of booleans": (
        node("aten::prod", self=dense(4, dtype="bool")), {"musa-prod-bool"},
    ),
    "a product of integers": (node("aten::prod", self=dense(4, dtype="int64")), set()),
    "gradients of an LSTM on Apple's GPUs": (
        node("aten::lstm_mps_backward", input=dense(2, 3, 2)), {"mps-lstm-gradients-macos"},
    ),
    "a large batch to a vocabulary": (
        giving(
            "aten::linear", dense(9, 1024, 50304), input=dense(9, 1024, 1), weight=dense(50304, 1)
        ),
        {"mps-linear-vocabulary"},
    ),
    "a batch to a vocabulary": (
        giving(
            "aten::linear", dense(8, 1024, 50304), input=dense(8, 1024, 1), weight=dense(50304, 1)
        ),
        set(),
    ),
    "patches of a video": (
        node(
            "aten::convolution", input=dense(4, 3, 2, 16, 16, dtype="float16"),
            weight=dense(32, 3, 2, 16, 16, dtype="float16"),
        ),
        {"npu-conv3d-310p"},
    ),
    "patches of an image": (
        node("aten::convolution", input=dense(4, 3, 16, 16), weight=dense(32, 3, 16, 16)), set(),
    ),
    "gradients of an expanded weight": (
        node(
            BACKWARD, grad_output=dense(2, 64, 35, dtype="float16"),
            input=dense(2, 64, 32, dtype="float16"),
            weight=TensorMeta("float16", (64, 1, 4), (0, 0, 0)), groups=64,
        ),
        {"cuda-conv-expanded-weight-half"},
    ),
    "gradients of a weight": (
        node(
            BACKWARD, grad_output=dense(2, 64, 35, dtype="float16"),
            input=dense(2, 64, 32, dtype="float16"), weight=dense(64, 1, 4, dtype="float16"),
            groups=64,
        ),
        set(),
    ),
    "samples of a product": (node("aten::sparse_sampled_addmm"), {"rocm-sampled-addmm"}),
    "distinct columns of floats": (
        node("aten::unique_dim", self=dense(1, 6), dim=-1), {"rocm-unique-dim-floats"},
    ),
    "distinct columns of integers": (
        node("aten::unique_dim", self=dense(1, 6, dtype="int64"), dim=-1), set(),
    ),
    "a product on gfx1100": (
        node("aten::mm", self=dense(5, 5), mat2=dense(5, 5)), {GFX1100},
    ),
}  # fmt: skip
