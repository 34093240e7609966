"""Attention, norms and rotary embeddings that are spelled out where the vendor has a kernel."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from opcheck.commands.tune.base import Advisor, Ground, modules
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.calls import NOT_FUSED
from opcheck.costs.roofline import Leaf
from opcheck.lang.sentence import Sentence, chained
from opcheck.model.text import plural, size
from opcheck.model.trace import Node, Phase, TensorMeta

_PRODUCTS = frozenset({"bmm", "matmul", "baddbmm"})
_SOFTMAXES = frozenset({"softmax", "_softmax", "_safe_softmax"})
_CALL = "F.scaled_dot_product_attention(query, key, value)"
_ATTENTION = "aten::scaled_dot_product_attention"
_ATTENTION_KERNELS: Mapping[str, str] = {
    _ATTENTION: _CALL,
    "aten::_scaled_dot_product_flash_attention": _CALL,
    "aten::_scaled_dot_product_attention_flash_musa": _CALL,
    "npu::npu_fusion_attention": "torch_npu.npu_fusion_attention(query, key, value, heads, layout)",
}
"""Kernel of a vendor's -> how it is reached, the shortest way first."""


class FusedAttention(Advisor):
    """Scores of every position with every other, which a fused kernel keeps on the chip."""

    name = "fused-attention"
    about = "attention whose scores are written to memory, where the vendor has a fused kernel"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of attention that is spelled out, and of calls that the kernel does not take."""
        kernels = [op for op in _ATTENTION_KERNELS if op in ground.running.matrix.entries]
        if not kernels:
            return
        apart = _apart(ground)
        spelled = _spelled_out(ground)
        if spelled:
            yield from self._instead(ground, spelled, kernels[0])
        if apart:
            yield from self._whole(ground, apart)

    def _instead(self, ground: Ground, spelled: Sequence[Leaf], kernel: str) -> Iterator[Advice]:
        """The vendor's kernel instead of what is spelled out."""
        moved, gain = _scores(ground, spelled)
        if ground.is_little(gain):
            return
        calls = sum(leaf.count for leaf in spelled if leaf.base in _SOFTMAXES)
        softmax = (
            "{count} call of softmax between two products"
            if calls == 1
            else "{count} calls of softmax between two products"
        )
        keeps = Sentence(
            "what it takes and gives moves {text}, which {op} keeps on the chip",
            text=size(moved),
            op=kernel,
        )
        yield self.advice(
            "Use fused attention",
            modules(ground.use(leaf).module for leaf in spelled),
            chained([Sentence(softmax, count=f"{calls:,}"), keeps], "; "),
            gain,
            lines=(_ATTENTION_KERNELS[kernel],),
            evidence=ground.running.matrix.entries[kernel].evidence[:1],
        )

    def _whole(self, ground: Ground, apart: Sequence[Leaf]) -> Iterator[Advice]:
        """What keeps a call from the kernel, in the vendor's words."""
        moved, gain = _scores(ground, apart)
        if ground.is_little(gain):
            return
        finding = next(f for f in ground.report.findings if f.reason.code == NOT_FUSED)
        scores = Sentence("scores move {text}", text=size(moved))
        yield self.advice(
            "Have attention take its fused kernel",
            modules(ground.use(leaf).module for leaf in apart),
            chained([finding.reason.text, scores], "; "),
            gain,
            evidence=finding.evidence,
        )


def _apart(ground: Ground) -> list[Leaf]:
    """Parts of attention that the vendor's own kernel does not take."""
    running = ground.running
    return [
        leaf
        for leaf in ground.leaves
        if running.is_not_fused(ground.use(leaf).node) and leaf.node != ground.use(leaf).node
    ]


def _spelled_out(ground: Ground) -> list[Leaf]:
    """Leaves of modules that multiply, take a softmax of what that gave, and multiply again."""
    nodes = ground.running.trace.nodes
    by_module: dict[str, list[Leaf]] = {}
    for leaf in ground.leaves:
        if leaf.phase == "forward" and nodes[ground.use(leaf).node].op.base not in _FUSED_CALLS:
            by_module.setdefault(ground.use(leaf).module, []).append(leaf)
    return [leaf for each in by_module.values() if _attends(ground, each) for leaf in each]


_FUSED_CALLS = frozenset({"scaled_dot_product_attention"})


def _attends(ground: Ground, leaves: Sequence[Leaf]) -> bool:
    softmaxes = [leaf for leaf in leaves if leaf.base in _SOFTMAXES]
    products = [leaf for leaf in leaves if leaf.base in _PRODUCTS]
    for softmax in softmaxes:
        given = ground.node(softmax).output_tensors()
        scores = given[0].numel if given else 0
        makes = any(_numel(ground.node(leaf), "out") == scores for leaf in products)
        takes = any(_numel(ground.node(leaf), "in") == scores for leaf in products)
        if scores and makes and takes:
            return True
    return False


def _numel(node: Node, side: str) -> int:
    """Elements of what a product gives, or of its first factor."""
    tensors: Sequence[TensorMeta] = node.output_tensors()
    if side == "in":
        factors = dict(node.tensors())
        factor = factors.get("self", factors.get("batch1"))
        tensors = [] if factor is None else [factor]
    return tensors[0].numel if tensors else 0


def _scores(ground: Ground, leaves: Sequence[Leaf]) -> tuple[int, Gain]:
    """Bytes that tensors as large as the scores move, and what it brings to move none."""
    large = {
        given[0].numel
        for leaf in leaves
        if leaf.base in _SOFTMAXES and (given := ground.node(leaf).output_tensors())
    }
    moved = 0
    for leaf in leaves:
        if not leaf.cost.moved:
            continue
        node = ground.node(leaf)
        tensors = [*(tensor for _, tensor in node.tensors()), *node.output_tensors()]
        moved += leaf.count * sum(tensor.nbytes for tensor in tensors if tensor.numel in large)
    seconds = moved / ground.roof.bandwidth if ground.roof.bandwidth else 0.0
    return moved, ground.gain(seconds, "for what the scores move")


_NORM_KERNELS: Mapping[str, str] = {
    "aten::_fused_rms_norm": "F.rms_norm(x, x.shape[-1:], weight, eps)",
    "aten::rms_norm": "F.rms_norm(x, x.shape[-1:], weight, eps)",
    "npu::npu_rms_norm": "torch_npu.npu_rms_norm(x, weight, epsilon=eps)[0]",
}
"""Kernel of a vendor's -> how it is reached."""
_SQUARES = frozenset({"pow", "square", "mul"})
_ROOTS = frozenset({"rsqrt"})
_MEANS = frozenset({"mean"})


class FusedNorm(Advisor):
    """``x * rsqrt(mean(x ** 2) + eps) * weight``, each operator of which reads and writes x."""

    name = "fused-norm"
    about = "root-mean-square norms that are spelled out, where the vendor has a kernel for them"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of modules that compute such a norm and nothing else that is a product."""
        kernel = next((op for op in _NORM_KERNELS if op in ground.running.matrix.entries), "")
        norms = {module: leaves for module, leaves in _modules(ground) if _is_norm(leaves)}
        if not kernel or not norms:
            return
        found = [leaf for leaves in norms.values() for leaf in leaves]
        moved = sum(leaf.count * leaf.cost.moved for leaf in found)
        least = sum(_least(ground, leaves) for leaves in norms.values())
        bandwidth = ground.roof.bandwidth
        saved = max(moved - least, 0)
        count = sum(leaf.count for leaf in found if leaf.base in _ROOTS)
        gain = ground.gain(saved / bandwidth if bandwidth else 0.0, "for what is moved less")
        if ground.is_little(gain):
            return
        yield self.advice(
            "Use the vendor's root-mean-square norm",
            modules(norms),
            _reason(plural(count, "norm"), found, moved, kernel, least),
            gain,
            lines=(_NORM_KERNELS[kernel],),
            evidence=ground.running.matrix.entries[kernel].evidence[:1],
        )


def _reason(
    what: Sentence, leaves: Iterable[Leaf], moved: float, kernel: str, least: float
) -> Sentence:
    """What is spelled out in so many calls, and the bytes of both."""
    calls = plural(sum(leaf.count for leaf in leaves), "call")
    parts = [
        Sentence("{said} as {said_calls}", said=what, said_calls=calls),
        Sentence("{text} moved", text=size(moved)),
        Sentence("{op} moves {text}", op=kernel, text=size(least)),
    ]
    return chained(parts, "; ")


def _modules(ground: Ground) -> Iterator[tuple[str, Sequence[Leaf]]]:
    found: dict[str, list[Leaf]] = {}
    for leaf in ground.leaves:
        if leaf.phase is Phase.FORWARD and leaf.verdict.on_device:
            found.setdefault(ground.use(leaf).module, []).append(leaf)
    yield from found.items()


def _is_norm(leaves: Sequence[Leaf]) -> bool:
    bases = {leaf.base for leaf in leaves}
    has = bases & _ROOTS and bases & _MEANS and bases & _SQUARES
    return bool(has) and not any(leaf.cost.flops for leaf in leaves)


def _least(ground: Ground, leaves: Sequence[Leaf]) -> int:
    """Bytes of what such norms take and give, each once."""
    squares = [leaf for leaf in leaves if leaf.base in ("pow", "square")] or leaves[:1]
    least = 0
    for leaf in squares:
        tensors = ground.node(leaf).output_tensors()
        least += leaf.count * 2 * (tensors[0].nbytes if tensors else 0)
    return least


_ROTARY_KERNELS: Mapping[str, str] = {
    "npu::npu_rotary_mul": "torch_npu.npu_rotary_mul(x, cos, sin)",
    "npu::npu_apply_rotary_pos_emb": "torch_npu.npu_apply_rotary_pos_emb(query, key, cos, sin)",
}
"""Kernel of a vendor's -> how it is reached."""


class FusedRotary(Advisor):
    """``x * cos + rotate_half(x) * sin``: negated, joined, and three more."""

    name = "fused-rotary"
    about = "rotary embeddings that are spelled out, where the vendor has a kernel for them"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of halves that are negated and put in front of the other half."""
        kernel = next((op for op in _ROTARY_KERNELS if op in ground.running.matrix.entries), "")
        each_of = _modules(ground)
        found = {name: parts for name, each in each_of if (parts := _rotary(ground, each))}
        if not kernel or not found:
            return
        leaves = [leaf for each in found.values() for leaf in each]
        moved = sum(leaf.count * leaf.cost.moved for leaf in leaves)
        halves = [leaf for leaf in leaves if leaf.base == "neg"]
        least = sum(leaf.count * 2 * 2 * _size(ground.node(leaf)) for leaf in halves)
        bandwidth = ground.roof.bandwidth
        saved = max(moved - least, 0)
        gain = ground.gain(saved / bandwidth if bandwidth else 0.0, "for what is moved less")
        if ground.is_little(gain):
            return
        yield self.advice(
            "Use the vendor's rotary embedding",
            modules(found),
            _reason(
                plural(sum(leaf.count for leaf in halves), "rotation"), leaves, moved, kernel, least
            ),
            gain,
            lines=(_ROTARY_KERNELS[kernel],),
            evidence=ground.running.matrix.entries[kernel].evidence[:1],
        )


def _size(node: Node) -> int:
    tensors = node.output_tensors()
    return tensors[0].nbytes if tensors else 0


def _joins_halves(node: Node) -> bool:
    parts = [tensor.nbytes for _, tensor in node.tensors()]
    return len(parts) == 2 and parts[0] == parts[1]


def _rotary(ground: Ground, leaves: Sequence[Leaf]) -> list[Leaf]:
    """The leaves of a module that rotate: halves negated, joined, and used in that shape."""
    negated = {_size(ground.node(leaf)) for leaf in leaves if leaf.base == "neg"}
    joined = [leaf for leaf in leaves if leaf.base == "cat" and _joins_halves(ground.node(leaf))]
    turned = {
        _size(ground.node(leaf)) for leaf in joined if _size(ground.node(leaf)) // 2 in negated
    }
    if not turned:
        return []
    return [
        leaf
        for leaf in leaves
        if ((leaf in joined or leaf.base in ("mul", "add")) and _size(ground.node(leaf)) in turned)
        or (leaf.base == "neg" and 2 * _size(ground.node(leaf)) in turned)
    ]
