"""Calls that mix host tensors with device tensors."""

from opcheck.model.trace import Node

_TAKES_BOTH = frozenset(
    {
        *("index", "index_put", "index_put_", "_index_put_impl_"),
        *("_unsafe_index", "_unsafe_index_put"),
        *("copy", "copy_", "_copy_from", "to", "_to_copy", "type_as", "set_"),
        *("lstm", "gru", "rnn_tanh", "rnn_relu", "_pack_padded_sequence", "_pad_packed_sequence"),
        "tensor_split",
    }
)
"""Operators that take a host tensor of any size beside device tensors."""


def mixes_host(node: Node) -> bool:
    """Whether a host tensor that is no scalar meets device tensors where that is an error."""
    tensors = [t for _, t in node.tensors()]
    large = any(t.host and t.shape for t in tensors)
    return large and any(not t.host for t in tensors) and node.op.base not in _TAKES_BOTH
