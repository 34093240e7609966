"""Calls that mix host tensors with device tensors."""

from opcheck.model.trace import Composite, Node

_TAKES_BOTH = frozenset(
    {
        *("index", "index_put", "index_put_", "_index_put_impl_"),
        *("_unsafe_index", "_unsafe_index_put"),
        *("copy", "copy_", "_copy_from", "_copy_from_and_resize", "_foreach_copy_"),
        *("to", "_to_copy", "type_as", "set_", "resize_as_", "is_set_to", "is_same_size"),
        *("lstm", "gru", "rnn_tanh", "rnn_relu", "_pack_padded_sequence", "_pad_packed_sequence"),
        *("tensor_split", "expand_as", "view_as", "reshape_as"),
        *("ctc_loss", "_use_cudnn_ctc_loss", "_cudnn_ctc_loss"),
        *("_use_miopen_ctc_loss", "miopen_ctc_loss"),
        # the seed and the offset of what was dropped, and lengths
        *("_flash_attention_backward", "_efficient_attention_backward"),
        "_scaled_dot_product_flash_attention_backward",
        "_scaled_dot_product_efficient_attention_backward",
        "_scaled_dot_product_fused_attention_overrideable_backward",
        "_nested_from_padded",
    }
)
"""Operators that take a host tensor of any size beside device tensors: ``device_check: NoCheck`` in
PyTorch's native_functions.yaml, without those whose TensorIterator looks at the devices itself."""


def mixes_host(node: Node, *, inside: bool) -> bool:
    """Whether a host tensor that is no scalar meets device tensors where that is an error.

    Kernels look at the devices of their tensors. A composite that the target takes apart
    (``inside``) does not: it may move the host tensor itself, as ``ctc_loss`` does with lengths.
    Operators of other libraries look, or do not, as each of them was written.
    """
    inside = inside and node.composite is not Composite.NON_FUNCTIONAL  # is served through a kernel
    if inside or node.op.namespace != "aten" or node.op.base in _TAKES_BOTH:
        return False
    tensors = [t for _, t in node.tensors()]
    return any(t.host and t.shape for t in tensors) and any(not t.host for t in tensors)
