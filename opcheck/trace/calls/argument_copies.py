"""Copies of what a call is given, for composites that are run to see what they call."""

from typing import Any

from opcheck.trace.device.tensors import DeviceTensor, copy_memory_tag, device_tensor
from opcheck.trace.running.model_state import dense_copy


def copies(arguments: Any) -> Any:
    """Copies of the call's device tensors, so that taking it apart mutates nothing."""
    made: dict[int, DeviceTensor] = {}

    def copied(value: Any) -> Any:
        kind = type(value)
        if kind is DeviceTensor:
            if id(value) not in made:
                made[id(value)] = _copy(value)
            return made[id(value)]
        if kind is list or kind is tuple:  # torch's tree_map takes several times as long
            return kind(map(copied, value))
        if kind is dict:
            return {name: copied(each) for name, each in value.items()}
        return value

    return copied(arguments)


def _copy(tensor: DeviceTensor) -> DeviceTensor:
    """One tensor with memory of its own, in which it begins where it did."""
    kept = None if tensor.value is None else tensor.value.clone()
    offset = int(tensor.storage_offset())
    if kept is not None and (offset or kept.stride() != tensor.spec.stride):
        assert tensor.value is not None, "it was cloned just now"
        kept = dense_copy(tensor.value, offset)
    made = device_tensor(tensor.spec, kept, tensor.place, offset)
    copy_memory_tag(made, tensor)
    return made
