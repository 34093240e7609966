"""Calls that a mode of the program decides: kernels of attention alone, deterministic mode."""

from msgspec.structs import replace

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node

SDPA = "aten::scaled_dot_product_attention"
HALVES = dense(1, 2, 16, 64, dtype="float16")
LARGE = dense(1, 2, 16, 320, dtype="float16")
TURING, REFUSED = "cuda-flash-alone-turing", "cuda-attention-kernels-refused"
XPU, CHIP, ORDER = "xpu-flash-alone-refused", "xpu-flash-alone-chip", "xpu-flash-alone-layout"
VIEWS = TensorMeta("float16", (1, 2, 16, 64), (2048, 64, 128, 1))
"""Of two heads, of a tensor that has rows before heads."""


def allowed(kernels: str, query: TensorMeta, **others: object) -> Node:
    """A call with these kernels allowed; key and value are like the query."""
    given = {"query": query, "key": query, "value": query, **others}
    call = node(SDPA, **given)  # type: ignore[arg-type]  # values of arguments
    return replace(call, modes=(("attention", kernels),)) if kernels else call


def recurrent(*modes: tuple[str, str], train: bool, dtype: str = "float32") -> Node:
    """A call of a layer of GRUs."""
    call = node("aten::gru.input", input=dense(3, 2, 4, dtype=dtype), train=train)
    return replace(call, modes=modes)


WANTED = ("gradient", "wanted")
MASK = dense(16, 16, dtype="bool")
SHORT = dense(1, 2, 8, 64, dtype="float16")
FLEX = node("higher_order::flex_attention", arg0=HALVES, arg1=HALVES, arg2=HALVES)
USES: dict[str, tuple[Node, set[str]]] = {
    "flex_attention": (FLEX, {"flex-attention-device"}),
    "flex_attention with gradients": (
        replace(FLEX, modes=(WANTED,)),
        {"flex-attention-device", "mps-flex-attention-gradients"},
    ),
    "a GRU in evaluation mode with gradients": (
        recurrent(WANTED, train=False), {"rnn-gradients-eval"},
    ),
    "a GRU in evaluation mode without": (recurrent(train=False), set()),
    "a GRU in training mode": (recurrent(WANTED, train=True), set()),
    "a GRU that cuDNN does not run": (recurrent(WANTED, train=False, dtype="float8_e5m2"), set()),
    "flash alone with halves": (allowed("flash", HALVES), {TURING, CHIP, ORDER}),
    "flash alone with transposed views": (allowed("flash", VIEWS), {TURING, CHIP}),
    "flash alone with views of one row": (
        allowed("flash", dense(1, 2, 1, 64, dtype="float16")), {TURING, CHIP},
    ),
    "flash alone with a key in another order": (
        allowed("flash", VIEWS, key=HALVES), {TURING, CHIP, ORDER},
    ),
    "flash alone with float32": (
        allowed("flash", dense(1, 2, 16, 64)), {TURING, REFUSED, XPU, CHIP, ORDER},
    ),
    "flash and the plain steps with float32": (allowed("flash+math", dense(1, 2, 16, 64)), set()),
    "flash and the efficient one with float32": (
        allowed("efficient+flash", dense(1, 2, 16, 64)), set(),
    ),
    "no plain steps with float64": (
        allowed("cudnn+efficient+flash", dense(1, 2, 16, 64, dtype="float64")), {REFUSED},
    ),
    "flash alone with a mask": (
        allowed("flash", HALVES, attn_mask=MASK),
        {TURING, REFUSED, XPU, CHIP, ORDER, "xpu-attention-masked-rows"},
    ),
    "flash alone of three dimensions": (
        allowed("flash", dense(2, 16, 64, dtype="float16")), {TURING, REFUSED, XPU, CHIP, ORDER},
    ),
    "flash alone, causal with fewer queries": (
        allowed("flash", SHORT, key=HALVES, value=HALVES, is_causal=True),
        {TURING, REFUSED, CHIP, ORDER},
    ),
    "flash alone, causal": (allowed("flash", HALVES, is_causal=True), {TURING, CHIP, ORDER}),
    "flash alone with large heads": (
        allowed("flash", LARGE),
        {TURING, "cuda-flash-alone-refused", "xpu-flash-alone-heads", CHIP, ORDER},
    ),
    "flash alone with values of another size": (
        allowed("flash", HALVES, value=dense(1, 2, 16, 32, dtype="float16")),
        {TURING, "cuda-flash-alone-refused", CHIP, ORDER},
    ),
    "flash alone in training": (
        replace(
            allowed("flash", HALVES), modes=(("attention", "flash"), ("gradient", "wanted")),
        ),
        {TURING, "xpu-flash-alone-gradients", CHIP, ORDER},
    ),
    "every kernel allowed with float32": (allowed("", dense(1, 2, 16, 64)), set()),
}  # fmt: skip
TABLE, AT = dense(5, 3), dense(2, dtype="int64")
DETERMINISTIC, NUMBER = (("deterministic", "error"),), dense()


def put(values: TensorMeta, *, on: bool = True, **others: object) -> Node:
    """Values put into rows of a table, in deterministic mode or not."""
    given = {"self": TABLE, "indices": (AT,), "values": values, **others}
    call = node("aten::_index_put_impl_", **given)  # type: ignore[arg-type]  # values of arguments
    return replace(call, modes=DETERMINISTIC) if on else call


def cast(dtype: str) -> Node:
    """A layer for which autocast casts to a dtype; float16, its default, is no mode."""
    rows = dense(2, 8, dtype=dtype)
    layer = node("aten::linear", input=rows, weight=dense(4, 8, dtype=dtype))
    return replace(layer, modes=(("autocast", dtype),)) if dtype == "bfloat16" else layer


CASTS: dict[str, tuple[Node, set[str]]] = {
    "a layer in autocast to bfloat16": (cast("bfloat16"), {"cuda-autocast-bfloat16-turing"}),
    "a layer of bfloat16": (replace(cast("bfloat16"), modes=()), set()),
    "a layer in autocast": (cast("float16"), set()),
}  # fmt: skip
PUTS: dict[str, tuple[Node, set[str]]] = {
    "rows that are put in deterministic mode": (
        put(dense(2, 3)), {"xpu-index-put-deterministic"},
    ),
    "rows that are added": (put(dense(2, 3), accumulate=True), set()),
    "rows that are put": (put(dense(2, 3), on=False), set()),
    "a number that is put in deterministic mode": (
        put(NUMBER), {"xpu-index-put-deterministic", "cuda-index-put-deterministic"},
    ),
    "a number that is put": (put(NUMBER, on=False), set()),
}  # fmt: skip
