"""Options by which attention is written as products: a library's own, or PyTorch's."""

from collections.abc import Collection, Iterator

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.model.trace import Node

ATTENTION = "aten::scaled_dot_product_attention"
RULE = "attention-by-an-option"
SUMMARY = "Set the option of the library, or of PyTorch, that writes attention as products"
PAGE = """\
Libraries that call scaled_dot_product_attention have code without it as well, which is softmax
between two products: transformers with attn_implementation="eager", timm with
timm.layers.set_fused_attn(False) before the model is made. On devices for which PyTorch chooses
among kernels of its own (CUDA, ROCm, XPU, MPS), torch.nn.attention.sdpa_kernel(SDPBackend.MATH)
around the call has it do the same. It changes no code of the model's."""
_LIBRARIES = {
    "transformers": Sentence(
        'Load the model with attn_implementation="eager": transformers then multiplies and takes '
        "the softmax itself"
    ),
    "timm": Sentence(
        "Call timm.layers.set_fused_attn(False) before the model is made: timm then multiplies and "
        "takes the softmax itself"
    ),
}
_PYTORCH = Sentence(
    "Call it inside torch.nn.attention.sdpa_kernel(SDPBackend.MATH): PyTorch then multiplies and "
    "takes the softmax itself"
)


def options(node: Node, files: Collection[str], matrix: SupportMatrix) -> Iterator[Suggestion]:
    """Advice for a call of attention that a target does not run as it is.

    Args:
        node: the call.
        files: that make it, each relative to its package.
        matrix: of the target.
    """
    if str(node.op) != ATTENTION:
        return
    for library, summary in _LIBRARIES.items():
        if any(file.startswith(f"{library}/") for file in files):
            yield _advice(summary)
    if ATTENTION in matrix.choices and ATTENTION not in matrix.entries:
        yield _advice(_PYTORCH)


def _advice(summary: Sentence) -> Suggestion:
    return Suggestion(
        rule=RULE,
        tier=Tier.SWAP,
        label=Label.TOLERANCE,
        replaces=ATTENTION,
        summary=summary,
        unmeasured=Sentence("the library's own code takes its place"),
        by_hand=True,
    )
