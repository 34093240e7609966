"""Calls that a check of PyTorch's CUDA code refuses, each beside one that it lets through."""

from opcheck.model.trace import Constant, TensorMeta, Value
from tests.db.calls import dense
from tests.db.uses_on_accelerators import permuted

Pair = tuple[str, str, dict[str, Value], dict[str, Value]]
"""Chip, overload, the arguments of a call that is refused, and of one that is not."""
A100, H100, T4 = "nvidia-a100", "nvidia-h100", "nvidia-t4"
MI300X, RX7900XT = "amd-mi300x", "amd-rx7900xt"
LARGE = 2**31


def half(*shape: int) -> TensorMeta:
    """A tensor of float16 in order."""
    return dense(*shape, dtype="float16")


def brain(*shape: int) -> TensorMeta:
    """A tensor of bfloat16 in order."""
    return dense(*shape, dtype="bfloat16")


def short(*shape: int) -> TensorMeta:
    """A tensor of int32 in order."""
    return dense(*shape, dtype="int32")


def bytes_(*shape: int) -> TensorMeta:
    """A tensor of uint8 in order."""
    return dense(*shape, dtype="uint8")


def columns(dtype: str, *shape: int) -> TensorMeta:
    """Matrices whose columns lie in order: the transpose of such as lie by rows."""
    rows = dense(*shape[:-2], shape[-1], shape[-2], dtype=dtype)
    return TensorMeta(dtype, shape, (*rows.stride[:-2], rows.stride[-1], rows.stride[-2]))


def every_second(*shape: int, dtype: str = "float16") -> TensorMeta:
    """A tensor of which neighbours along the last dimension lie two apart."""
    whole = dense(*shape, dtype=dtype)
    return TensorMeta(dtype, shape, tuple(2 * step for step in whole.stride))


ROWS = dense(16, 32, dtype="float8_e4m3fn")
COLUMNS = columns("float8_e4m3fn", 32, 16)
ONE, BIAS = dense(1), brain(16)
SCALED: dict[str, Value] = {"self": ROWS, "mat2": COLUMNS, "scale_a": ONE, "scale_b": ONE}
WIDE, EXACT = dense(*[1] * 26), dense(*[1] * 16)
INDEX = dense(1, dtype="int64")

PRODUCTS: tuple[Pair, ...] = (
    (A100, "aten::dot", {"self": dense(LARGE)}, {"self": dense(LARGE - 1)}),
    (H100, "aten::_scaled_mm", {**SCALED, "mat2": dense(32, 16, dtype="float8_e4m3fn")}, SCALED),
    (H100, "aten::_scaled_mm", {**SCALED, "self": columns("float8_e4m3fn", 16, 32)}, SCALED),
    (H100, "aten::_scaled_mm", {**SCALED, "bias": BIAS, "out_dtype": "float32"},
     {**SCALED, "out_dtype": "float32"}),
    (H100, "aten::_scaled_mm",
     {**SCALED, "mat2": columns("float8_e5m2", 32, 16), "scale_a": dense(16, 1),
      "out_dtype": "bfloat16"},
     {**SCALED, "mat2": columns("float8_e5m2", 32, 16), "out_dtype": "bfloat16"}),
    (H100, "aten::_scaled_mm", {**SCALED, "bias": dense(16)}, {**SCALED, "bias": BIAS}),
    (H100, "aten::_scaled_mm", {**SCALED, "bias": half(16), "out_dtype": "bfloat16"},
     {**SCALED, "bias": half(16), "out_dtype": "float16"}),
    (A100, "aten::mm.dtype", {"self": half(4, 4), "mat2": half(4, 4), "out_dtype": "bfloat16"},
     {"self": half(4, 4), "mat2": half(4, 4), "out_dtype": "float32"}),
    (A100, "aten::mm.dtype", {"self": half(4, 4), "mat2": brain(4, 4), "out_dtype": "float32"},
     {"self": brain(4, 4), "mat2": brain(4, 4), "out_dtype": "float32"}),
    (A100, "aten::baddbmm.dtype", {"batch1": dense(2, 4, 4, dtype="float64"),
     "out_dtype": "float32"}, {"batch1": half(2, 4, 4), "out_dtype": "float32"}),
)  # fmt: skip
BATCH = columns("float8_e4m3fn", 4, 32, 16)
GROUPED: dict[str, Value] = {
    "self": ROWS, "mat2": BATCH, "scale_a": ONE, "scale_b": ONE, "offs": short(4),
}  # fmt: skip
EXPERTS: dict[str, Value] = {"self": brain(64, 32), "mat2": brain(4, 32, 16), "offs": short(4)}
GROUPS: tuple[Pair, ...] = (
    (H100, "aten::_scaled_grouped_mm",
     {**GROUPED, "mat2": dense(4, 32, 16, dtype="float8_e4m3fn")}, GROUPED),
    (H100, "aten::_scaled_grouped_mm", {**GROUPED, "self": columns("float8_e4m3fn", 16, 32)},
     GROUPED),
    (H100, "aten::_scaled_grouped_mm", {**GROUPED, "scale_b": half(1)}, GROUPED),
    (H100, "aten::_scaled_grouped_mm", {**GROUPED, "out_dtype": "float16"},
     {**GROUPED, "out_dtype": "bfloat16"}),
    (H100, "aten::_scaled_grouped_mm", {**GROUPED, "offs": None}, GROUPED),
    (H100, "aten::_scaled_grouped_mm", {**GROUPED, "scale_result": ONE}, GROUPED),
    (H100, "aten::_scaled_grouped_mm", {**GROUPED, "self": dense(16, 32, dtype="float8_e5m2")},
     GROUPED),
    (H100, "aten::_scaled_grouped_mm", {**GROUPED, "offs": short(1024)},
     {**GROUPED, "offs": short(1023)}),
    (H100, "aten::_grouped_mm", {**EXPERTS, "mat2": brain(1024, 32, 16)}, EXPERTS),
)  # fmt: skip
DIMENSIONS: tuple[Pair, ...] = (
    (A100, "aten::index_add", {"self": WIDE, "source": WIDE}, {"self": EXACT, "source": EXACT}),
    (A100, "aten::index_select", {"self": WIDE, "index": INDEX}, {"self": EXACT, "index": INDEX}),
    (MI300X, "aten::kthvalue", {"self": WIDE, "k": 1}, {"self": EXACT, "k": 1}),
    (MI300X, "aten::median.dim", {"self": WIDE, "dim": 0}, {"self": EXACT, "dim": 0}),
    (A100, "aten::sort", {"self": WIDE, "dim": -1}, {"self": EXACT, "dim": -1}),
    (MI300X, "aten::sort", {"self": dense(*[1] * 17), "dim": -1}, {"self": EXACT, "dim": -1}),
    (A100, "aten::topk", {"self": WIDE, "k": 1, "dim": -1},
     {"self": dense(*[1] * 25, 2000), "k": 1, "dim": -1}),
    (MI300X, "aten::topk", {"self": dense(*[1] * 17), "k": 1, "dim": -1},
     {"self": EXACT, "k": 1, "dim": -1}),
    (A100, "aten::nonzero", {"self": WIDE}, {"self": dense(*[1] * 25)}),
    (MI300X, "aten::nonzero", {"self": dense(*[1] * 17)}, {"self": EXACT}),
    (A100, "aten::masked_select", {"mask": WIDE}, {"mask": EXACT}),
    (A100, "aten::nonzero_static", {"self": WIDE}, {"self": EXACT}),
    (MI300X, "aten::nonzero_static", {"self": dense(*[1] * 17)}, {"self": EXACT}),
)  # fmt: skip
SIZES: tuple[Pair, ...] = (
    (A100, "aten::conv_depthwise3d", {"self": dense(1), "weight": dense(LARGE)},
     {"self": dense(1), "weight": dense(8)}),
    (A100, "aten::_unique2", {"self": dense(LARGE)}, {"self": dense(LARGE - 1)}),
    (MI300X, "aten::upsample_nearest1d", {"return": dense(LARGE)}, {"return": dense(8)}),
    (A100, "aten::upsample_nearest1d_backward", {"grad_output": dense(LARGE)},
     {"grad_output": dense(8)}),
    (A100, "aten::upsample_nearest2d_backward", {"grad_output": permuted(2**11, 8, 2**9, 2**9)},
     {"grad_output": dense(2**11, 8, 2**9, 2**9)}),
    (A100, "aten::upsample_bilinear2d", {"self": permuted(2**11, 8, 2**9, 2**9)},
     {"self": permuted(2, 8, 2**9, 2**9)}),
    (A100, "aten::replication_pad3d_backward", {"self": dense(LARGE)}, {"self": dense(8)}),
    (A100, "aten::upsample_nearest2d",
     {"self": dense(1, 1, 8, 8), "return": dense(1, 1, 65536, 512)},
     {"self": dense(1, 1, 8, 8), "return": dense(1, 1, 65536, 511)}),
)  # fmt: skip
HEADS: dict[str, Value] = {"self": dense(2, 4, 8, 8), "mask": dense(2, 8), "mask_type": 1}
SAMPLES: dict[str, Value] = {"grad": brain(4, 8), "mode": 2}
VALUES: tuple[Pair, ...] = (
    (A100, "aten::_masked_softmax", {**HEADS, "self": dense(2, 3, 8, 8)}, HEADS),
    (A100, "aten::_masked_softmax", {**HEADS, "self": dense(2, 3, 8, 8)},
     {**HEADS, "self": dense(2, 3, 8, 1025)}),
    (A100, "aten::linalg_ldl_solve", {"LD": dense(4, 4, dtype="complex64"), "hermitian": True},
     {"LD": dense(4, 4, dtype="complex64"), "hermitian": False}),
    (A100, "aten::_embedding_bag_dense_backward", SAMPLES, {**SAMPLES, "mode": 0}),
    (A100, "aten::_embedding_bag_per_sample_weights_backward", SAMPLES,
     {**SAMPLES, "grad": half(4, 8)}),
    (MI300X, "aten::silu_backward", {"self": dense(8, dtype="complex64")}, {"self": brain(8)}),
    (A100, "aten::randperm", {"return": brain(8)}, {"return": half(8)}),
    (A100, "aten::range.step", {"return": brain(8)}, {"return": half(8)}),
    (A100, "aten::addcmul", {"self": dense(8), "tensor1": TensorMeta("float32", (), (), host=True)},
     {"self": dense(8), "tensor2": TensorMeta("float32", (), (), host=True)}),
)  # fmt: skip
MIXED: dict[str, Value] = {"input": half(4, 64), "weight": bytes_(64, 64), "scale": half(64)}
LINEAR: dict[str, Value] = {"input": half(32, 64), "weight": half(32, 32)}
SPARSE: dict[str, Value] = {"mat1": half(32, 32), "mat2": half(64, 32)}
TILE: dict[str, Value] = {"input": half(128, 128), "algorithm": ""}
MASKED: dict[str, Value] = {"input": half(32, 32), "thread_masks": bytes_(4, 4, 8)}
TO_SPARSE, TILED = "aten::_to_sparse_semi_structured", "aten::_sparse_semi_structured_tile"
APPLIED = "aten::_sparse_semi_structured_apply"
TWO_OF_FOUR: tuple[Pair, ...] = (
    (A100, "aten::_mixed_dtypes_linear", {**MIXED, "input": dense(4, 64)}, MIXED),
    (H100, "aten::_mixed_dtypes_linear", MIXED, {}),
    (MI300X, "aten::_mixed_dtypes_linear", MIXED, {}),
    (A100, "aten::_mixed_dtypes_linear", {**MIXED, "scale": half(64, 1)}, MIXED),
    (A100, "aten::_mixed_dtypes_linear", {**MIXED, "input": every_second(4, 64)}, MIXED),
    (A100, "aten::_mixed_dtypes_linear", {**MIXED, "weight": bytes_(32, 64)}, MIXED),
    (A100, "aten::_mixed_dtypes_linear", {**MIXED, "activation": "relu"},
     {**MIXED, "activation": "relu", "bias": half(64)}),
    (A100, "aten::_sparse_semi_structured_linear", {**LINEAR, "weight": brain(32, 32)}, LINEAR),
    (A100, "aten::_sparse_semi_structured_linear", {**LINEAR, "bias": half(32, 1)},
     {**LINEAR, "bias": half(32)}),
    (A100, "aten::_sparse_semi_structured_linear", {**LINEAR, "out_dtype": "float32"}, LINEAR),
    (A100, "aten::_sparse_semi_structured_linear", {**LINEAR, "activation": "gelu"},
     {**LINEAR, "activation": "silu"}),
    (A100, "aten::_sparse_semi_structured_linear", {**LINEAR, "weight": every_second(32, 32)},
     {**LINEAR, "weight": columns("float16", 32, 32)}),
    (A100, "aten::_sparse_semi_structured_mm", {**SPARSE, "mat2": every_second(64, 32)}, SPARSE),
    (A100, "aten::_sparse_semi_structured_mm", {**SPARSE, "mat1": brain(32, 32)}, SPARSE),
    (A100, "aten::_sparse_semi_structured_mm", {**SPARSE, "mat1": half(2, 32, 32)}, SPARSE),
    (A100, TO_SPARSE, {"dense": half(1, 32, 32)}, {"dense": half(32, 32)}),
    (A100, TO_SPARSE, {"dense": dense(32, 32, dtype="float64")}, {"dense": dense(32, 32)}),
    (A100, TO_SPARSE, {"dense": half(16, 32)}, {"dense": dense(16, 32, dtype="int8")}),
    (A100, TO_SPARSE, {"dense": half(32, 8)}, {"dense": dense(32, 8)}),
    (A100, TILED, {**TILE, "input": half(1, 128, 128)}, TILE),
    (A100, TILED, {**TILE, "input": columns("float16", 128, 128)}, TILE),
    (A100, TILED, {**TILE, "input": half(128, 48)}, TILE),
    (A100, TILED, {**TILE, "input": half(32, 128)},
     {**TILE, "input": half(32, 128), "use_cutlass": False}),
    (A100, TILED, {**TILE, "input": dense(128, 128)}, TILE),
    (A100, TILED, {**TILE, "algorithm": "largest"}, TILE),
    (A100, APPLIED, {**MASKED, "thread_masks": bytes_(4, 8)}, MASKED),
    (A100, APPLIED, {**MASKED, "input": every_second(32, 32)}, MASKED),
    (A100, APPLIED, {**MASKED, "input": half(32, 40)}, MASKED),
    (A100, APPLIED, {**MASKED, "input": TensorMeta("float16", (32, 32), (36, 1))}, MASKED),
    (A100, APPLIED, {**MASKED, "input": dense(32, 32)}, MASKED),
    (A100, f"{APPLIED}_dense", {**MASKED, "input": dense(32, 32)}, MASKED),
    (A100, f"{APPLIED}_dense", {**MASKED, "input": every_second(32, 32)},
     {**MASKED, "input": columns("float16", 32, 32)}),
    (A100, f"{APPLIED}_dense", {**MASKED, "thread_masks": bytes_(4, 8)}, MASKED),
    (A100, "aten::_cslt_compress", {"input": dense(32, 32, dtype="float64")},
     {"input": half(32, 32)}),
    (MI300X, "aten::_cslt_compress", {"input": dense(32, 32)}, {"input": half(32, 32)}),
    (A100, "aten::_cslt_sparse_mm", {"dense_B": dense(32, 32, dtype="float64")},
     {"dense_B": half(32, 32)}),
    (A100, "aten::_cslt_sparse_mm", {"dense_B": half(32, 32), "out_dtype": "float32"},
     {"dense_B": half(32, 32)}),
    (A100, "aten::_cslt_sparse_mm",
     {"dense_B": dense(32, 32, dtype="int8"), "out_dtype": "float32"},
     {"dense_B": dense(32, 32, dtype="int8"), "out_dtype": "int32"}),
)  # fmt: skip
PACKED, PACK = "aten::_weight_int4pack_mm", "aten::_convert_weight_to_int4pack"
INT4: dict[str, Value] = {
    "self": brain(4, 128), "mat2": short(8, 1, 32, 4), "qGroupSize": 32,
    "qScaleAndZeros": brain(4, 64, 2),
}  # fmt: skip
WEIGHT: dict[str, Value] = {"self": bytes_(64, 64), "innerKTiles": 8}
QUANTIZED: tuple[Pair, ...] = (
    (A100, PACKED, {**INT4, "self": brain(1, 4, 128)}, INT4),
    (A100, PACKED, {**INT4, "self": columns("bfloat16", 4, 128)}, INT4),
    (A100, PACKED, {**INT4, "mat2": dense(8, 1, 32, 4, dtype="int64")}, INT4),
    (A100, PACKED, {**INT4, "mat2": short(8, 1, 16, 4)}, INT4),
    (A100, PACKED, {**INT4, "qGroupSize": 16}, INT4),
    (RX7900XT, PACK, WEIGHT, {}),
    (A100, PACK, {**WEIGHT, "self": bytes_(64)}, WEIGHT),
    (A100, PACK, {**WEIGHT, "self": short(64, 64)}, WEIGHT),
    (A100, PACK, {**WEIGHT, "self": columns("uint8", 64, 64)}, WEIGHT),
    (A100, PACK, {**WEIGHT, "innerKTiles": 16}, WEIGHT),
)  # fmt: skip
STATE, TURNED = dense(2, 4, 16), permuted(2, 4, 16, 1)
LAYER: dict[str, Value] = {
    "input": dense(4, 5, 8), "hx": (STATE, STATE), "dropout": 0.0, "train": True,
}  # fmt: skip
RECURRENT: tuple[Pair, ...] = (
    (A100, "aten::lstm.input", {**LAYER, "hx": (TURNED, STATE)}, LAYER),
    (A100, "aten::gru.input", {**LAYER, "hx": TURNED},
     {**LAYER, "hx": TURNED, "input": brain(4, 5, 8)}),
    (A100, "aten::lstm.data", {"data": dense(9, 8), "hx": (TURNED, STATE)},
     {"data": dense(9, 8), "hx": (STATE, STATE)}),
    (A100, "aten::_cudnn_rnn", {"hx": TURNED}, {"hx": STATE}),
    (A100, "aten::_cudnn_rnn_backward", {"hx": STATE, "train": False},
     {"hx": STATE, "train": True}),
    (MI300X, "aten::lstm.input", {**LAYER, "hx": (TURNED, STATE)}, LAYER),
    (MI300X, "aten::miopen_rnn", {"hx": TURNED}, {"hx": STATE}),
    (MI300X, "aten::miopen_rnn_backward", {"hx": STATE, "train": False},
     {"hx": STATE, "train": True}),
)  # fmt: skip
EFFICIENT, FLASH = "aten::_efficient_attention_forward", "aten::_flash_attention_forward"
QKV: dict[str, Value] = {
    "query": half(2, 64, 8, 64),
    "key": half(2, 64, 8, 64),
    "value": half(2, 64, 8, 64),
}
ROW = half(1, 64, 8, 64)
PACKS: dict[str, Value] = {
    "query": ROW, "key": ROW, "value": ROW, "cu_seqlens_q": short(3), "cu_seqlens_k": short(3),
    "max_seqlen_q": 32,
}  # fmt: skip
BIASED: dict[str, Value] = {**QKV, "bias": half(2, 8, 64, 64)}
SEQUENCES: dict[str, Value] = {**QKV, "cum_seq_q": short(3), "cum_seq_k": short(3)}
ATTENTION: tuple[Pair, ...] = (
    (A100, EFFICIENT, {**QKV, "query": half(2, 64, 64)}, QKV),
    (MI300X, EFFICIENT, {**QKV, "key": half(2, 64, 2, 64)}, QKV),
    (A100, EFFICIENT, {**PACKS, "cu_seqlens_q": dense(3, dtype="int64")}, PACKS),
    (A100, EFFICIENT, {**PACKS, "cu_seqlens_k": None}, PACKS),
    (A100, EFFICIENT, {**QKV, "cu_seqlens_q": short(3), "cu_seqlens_k": short(3),
     "max_seqlen_q": 32}, PACKS),
    (A100, EFFICIENT, {**BIASED, "bias": dense(2, 8, 64, 64)}, BIASED),
    (A100, EFFICIENT, {**BIASED, "bias": half(64, 64)}, BIASED),
    (A100, EFFICIENT, {**BIASED, "bias": half(1, 8, 64, 64)}, BIASED),
    (A100, EFFICIENT, {**BIASED, "bias": every_second(2, 8, 64, 64)}, BIASED),
    (A100, FLASH, {**QKV, "query": every_second(2, 64, 8, 64)}, QKV),
    (A100, FLASH, {**QKV, "key": brain(2, 64, 8, 64)}, QKV),
    (A100, FLASH, {**SEQUENCES, "cum_seq_q": dense(3, dtype="int64")}, SEQUENCES),
    (A100, FLASH, {**QKV, "query": half(2, 64, 8, 60)}, QKV),
    (A100, FLASH, {**QKV, "alibi_slopes": half(8)}, {**QKV, "alibi_slopes": dense(8)}),
    (A100, FLASH, {**QKV, "alibi_slopes": every_second(8, dtype="float32")},
     {**QKV, "alibi_slopes": dense(8)}),
    (A100, FLASH, {**QKV, "return_debug_mask": True},
     {**QKV, "return_debug_mask": True, "dropout_p": 0.1}),
    (A100, FLASH, {**QKV, "dropout_p": 1.0}, {**QKV, "dropout_p": 0.5}),
    (A100, FLASH, {**QKV, "query": half(0, 64, 8, 64)}, QKV),
    (A100, "aten::_scaled_dot_product_cudnn_attention", {**QKV, "attn_bias": half(64)},
     {**QKV, "attn_bias": half(64, 64)}),
)  # fmt: skip
SINGLES = Constant("other", "sparse_csr float32[4,4]")
LAYOUTS: tuple[Pair, ...] = tuple(
    (chip, "aten::_sparse_sparse_matmul",
     {"self": Constant("other", "sparse_csr bfloat16[4,4]"), "other": SINGLES},
     {"self": SINGLES, "other": SINGLES})
    for chip in (T4, "nvidia-v100", "nvidia-p100", "nvidia-xavier@2.2.2", MI300X)
)  # fmt: skip
PAIRS = (
    *LAYOUTS, *PRODUCTS, *GROUPS, *DIMENSIONS, *SIZES, *VALUES, *TWO_OF_FOUR, *QUANTIZED,
    *RECURRENT, *ATTENTION,
)  # fmt: skip
ALWAYS = ("aten::sspaddmm", "aten::_spsolve")
"""Operators that raise, whatever they are given."""
