"""Calls whose tensors have another dtype on a device than in the trace."""

from collections.abc import Mapping

from msgspec.structs import replace

from opcheck.model.trace import Constant, Node, TensorMeta, Value


def with_dtypes(node: Node, casts: Mapping[str, str]) -> Node:
    """The same call with tensors of other dtypes: dtype in the trace -> dtype on the device."""
    return replace(
        node,
        arguments=tuple((name, _cast(value, casts)) for name, value in node.arguments),
        outputs=tuple(_cast(value, casts) for value in node.outputs),
    )


def _cast(value: Value, casts: Mapping[str, str]) -> Value:
    if isinstance(value, TensorMeta):
        return replace(value, dtype=casts.get(value.dtype, value.dtype))
    if isinstance(value, Constant):
        return replace(value, value=casts.get(value.value, value.value))
    if isinstance(value, tuple):
        return tuple(_cast(item, casts) for item in value)
    return value
