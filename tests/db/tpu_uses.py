"""Uses that advisories on TPUs are about, as the code of torch_xla tells it, and others beside."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import giving

PLACES, MANY = dense(4, 16, dtype="int64"), dense(1_300_000, dtype="int64")
ROWS = TensorMeta("int64", (4, 16), (1, 0))
NODES, IMAGE = dense(8, 16), dense(3, dtype="complex64")
REDUCED = "aten::scatter_reduce.two"
USES: dict[str, tuple[Node, set[str]]] = {
    "the least of what is scattered": (
        node(REDUCED, self=NODES, dim=0, index=PLACES, src=NODES, reduce="amin"),
        {"tpu-scatter-reduce-start"},
    ),
    "a sum of it": (
        node(REDUCED, self=NODES, dim=0, index=PLACES, src=NODES, reduce="sum"), set(),
    ),
    "the least without what was there": (
        node(REDUCED, self=NODES, dim=0, index=PLACES, reduce="amin", include_self=False), set(),
    ),
    "rows that are scattered": (
        node("aten::scatter_add", self=NODES, dim=0, index=ROWS, src=dense(4, 16)),
        {"tpu-scatter-slow"},
    ),
    "elements that are scattered": (
        node("aten::scatter_add", self=NODES, dim=0, index=PLACES, src=dense(4, 16)), set(),
    ),
    "many places": (
        node("aten::scatter.src", self=dense(5_600_000), dim=0, index=MANY, src=MANY),
        {"tpu-scatter-slow"},
    ),
    "few of them": (
        node("aten::scatter.src", self=dense(1000), dim=0, index=MANY, src=MANY), set(),
    ),
    "scores divided by a root": (
        node("aten::div.Tensor", self=dense(4, dtype="bfloat16"), other=128**0.5),
        {"tpu-div-number-half"},
    ),
    "scores divided by eight": (
        node("aten::div.Tensor", self=dense(4, dtype="bfloat16"), other=8.0), set(),
    ),
    "scores of float32": (node("aten::div.Tensor", self=dense(4), other=128**0.5), set()),
    "singular values": (node("aten::_linalg_svd", A=dense(8, 8)), {"tpu-svd-slow"}),
    "the loss of one sample": (
        node("aten::nll_loss_forward", self=dense(5), target=dense(dtype="int64")),
        {"tpu-nll-loss-unbatched"},
    ),
    "the loss of a batch": (
        node("aten::nll_loss_forward", self=dense(2, 5), target=dense(2, dtype="int64")), set(),
    ),
    "a variance of complex numbers": (
        node("aten::var.correction", self=IMAGE), {"tpu-variance-complex"},
    ),
    "a variance of numbers": (node("aten::var.correction", self=dense(3)), set()),
    "a sum over no dimension": (
        node("aten::sum.dim_IntList", self=dense(2, 3), dim=()), {"tpu-reduce-all"},
    ),
    "a sum over any dimension": (
        node("aten::sum.dim_IntList", self=dense(2, 3), dim=None), set(),
    ),
    "a long sequence": (
        node("aten::lstm.input", input=dense(100, 8, 16), batch_first=False), {"tpu-rnn-unrolled"},
    ),
    "a short one": (node("aten::lstm.input", input=dense(100, 8, 16), batch_first=True), set()),
    "a fraction minus integers": (
        giving("aten::rsub.Scalar", dense(3), self=dense(3, dtype="int64"), other=0.5),
        {"tpu-rsub-integers"},
    ),
    "one minus integers": (
        giving(
            "aten::rsub.Scalar", dense(3, dtype="int64"), self=dense(3, dtype="int64"), other=1
        ),
        set(),
    ),
    "a divisor beside padding": (
        node(
            "aten::avg_pool2d", self=dense(1, 1, 8, 8), kernel_size=(3, 3), padding=(1, 1),
            count_include_pad=False, divisor_override=5,
        ),
        {"tpu-avg-pool-divisor"},
    ),
    "a divisor without padding": (
        node(
            "aten::avg_pool2d", self=dense(1, 1, 8, 8), kernel_size=(3, 3), padding=(0, 0),
            count_include_pad=False, divisor_override=5,
        ),
        set(),
    ),
    "features put among embeddings": (
        node("aten::masked_scatter", self=dense(1, 2048, 4096)), {"tpu-masked-scatter-sort"},
    ),
    "a few of them": (node("aten::masked_scatter", self=dense(1, 16, 64)), set()),
}  # fmt: skip
