"""Finding what a signature returns by its kernel on meta tensors, or on zeros on the CPU."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from opcheck.trace.calls.signature import Call
from opcheck.trace.device.sparse import SparseTensor
from opcheck.trace.device.tensors import DeviceTensor, Spec
from opcheck.trace.outputs.device_only import kernel_for
from opcheck.trace.outputs.plan import Plan, canonical, plan_of, standing_for
from opcheck.trace.outputs.unknown import OtherLayout, UnknownResult, require_strides
from opcheck.trace.running.model_state import extent
from opcheck.trace.torch_internals.dispatcher import facts
from opcheck.trace.torch_internals.shape_rules import open_sized, without_rule

_ALWAYS = """
    _batch_norm_impl_index _batch_norm_with_update _embedding_bag _embedding_bag_forward_only
    _fft_c2c _fft_c2r _fft_r2c _linalg_svd _native_batch_norm_legit
    _native_batch_norm_legit.no_stats batch_norm embedding_bag.padding_idx fft_hfft fft_hfft2
    fft_hfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft2 fft_rfftn linalg_eig linalg_svd
    native_batch_norm scaled_dot_product_attention svd
"""
_IF_PERMUTED = """
    _convolution _convolution.deprecated _convolution_mode _log_softmax_backward_data
    binary_cross_entropy channel_shuffle conv1d conv1d.padding conv2d conv2d.padding
    conv_transpose1d conv_transpose2d.input convolution convolution_backward
    convolution_backward_overrideable convolution_overrideable copysign.Tensor div.Scalar
    div.Tensor_mode floor_divide hardswish_backward hardtanh_backward heaviside ldexp.Tensor
    log_sigmoid log_sigmoid_forward logaddexp logical_and logical_or logical_xor logit_backward
    max_pool1d max_unpool2d mul.Scalar native_dropout_backward native_layer_norm_backward
    normal.Tensor_Tensor one_hot pad pixel_shuffle pow.Scalar reflection_pad2d reflection_pad3d
    replication_pad2d replication_pad2d_backward replication_pad3d slow_conv_transpose2d
    special_xlog1py xlogy.Tensor
"""
CPU_ALWAYS = frozenset(f"aten::{name}" for name in _ALWAYS.split())
"""Overloads whose meta function gives other strides, or sizes, than the CPU kernel."""
CPU_IF_PERMUTED = frozenset(f"aten::{name}" for name in _IF_PERMUTED.split())
"""The same, but only for tensors that are not laid out row by row.

Both were measured over PyTorch's operator samples, plain and permuted, with their gradients, on
torch 2.13.0; ``tests/trace/test_strides.py`` repeats it.
"""


def on_meta(tensor: Tensor) -> Tensor:
    """Its shape alone; numbers of the host stay."""
    if isinstance(tensor, DeviceTensor):
        offset = int(tensor.storage_offset())
        return _beyond(tensor.spec, offset) if offset else tensor.spec.on_meta()
    if tensor.dim() == 0 or tensor.device.type == "meta":
        return tensor
    return Spec.like(tensor).on_meta()


def _beyond(spec: Spec, offset: int) -> Tensor:
    """A tensor on meta that begins ``offset`` elements after its storage does."""
    reached = extent(spec.shape, spec.stride)
    whole = torch.empty(offset + reached, dtype=spec.dtype, device="meta")
    return spec.marked(whole.as_strided(spec.shape, spec.stride, offset))


def bare(value: Any) -> Any:
    """A device tensor by its shape alone, anything else as it is."""
    return value.spec.on_meta() if isinstance(value, DeviceTensor) else value


def zeros(tensor: Tensor) -> Tensor:
    """Its value on the host, or zeros where that is not known."""
    if isinstance(tensor, DeviceTensor):
        return tensor.spec.zeros() if tensor.value is None else tensor.value.clone()
    return tensor


def value_of(tensor: Tensor) -> Tensor:
    """Its value on the host."""
    if not isinstance(tensor, DeviceTensor):
        return tensor
    assert tensor.value is not None, "only called where every value is known"
    return tensor.value


_How = tuple[Call, Callable[[Tensor], Tensor], str, dict[int, Tensor]]
"""The call, what makes a replacement, the device, and the replacements so far."""


def replaced(
    call: Call, make: Callable[[Tensor], Tensor], device: str
) -> tuple[tuple[Any, ...], dict[str, Any], list[Tensor]]:
    """The call's arguments with its tensors replaced, one replacement per tensor."""
    made: dict[int, Tensor] = {}
    how = call, make, device, made
    args = tuple(_converted(value, how) for value in call.args)
    kwargs = {name: _converted(value, how) for name, value in call.kwargs.items()}
    if device == "meta":
        kwargs.pop("pin_memory", None)
        if call.device is not None and call.device.type == "cpu":
            kwargs = {k: torch.device("meta") if k == "device" else v for k, v in kwargs.items()}
            args = tuple(torch.device("meta") if isinstance(a, torch.device) else a for a in args)
    return args, kwargs, [made[id(tensor)] for tensor in call.tensors]


def _converted(value: Any, how: _How) -> Any:
    """An argument with its tensors replaced; a closure that calls itself would keep them alive."""
    call, make, device, made = how
    kind = type(value)
    if kind is list or kind is tuple:  # torch's tree_map takes several times as long
        return kind(_converted(item, how) for item in value)
    if isinstance(value, SparseTensor) and device == "cpu":
        made[id(value)] = value.host
        return value.host
    if isinstance(value, Tensor):
        require_strides(value, call.func.name())
        if id(value) not in made:
            made[id(value)] = make(value)
        return made[id(value)]
    if isinstance(value, torch.device):
        return torch.device("cpu" if value.type == "cpu" else device)
    if isinstance(value, torch.Generator):
        return None
    return {name: _converted(v, how) for name, v in value.items()} if kind is dict else value


PROBE_LIMIT = 1 << 24
"""Largest sum of elements for which a kernel is run on zeros just to see what it returns."""
PRODUCT_LIMIT = 1 << 30
"""Largest number of multiplications that such a run may cost."""


def probed(call: Call) -> Plan:
    """What a call of this signature returns, whatever its values are.

    Raises:
        Unseen: nothing here can tell.
        Exception: whatever torch raises for arguments that the operator refuses.
    """
    func = kernel_for(call.func, call.args)
    elements = sum(t.numel() for t in call.tensors)
    if any(type(t) is SparseTensor for t in call.tensors) and elements <= PROBE_LIMIT:
        return _probe(func, call, zeros)  # which has no counterpart on meta
    if _meta_differs(call) and elements <= PROBE_LIMIT and _products(call) <= PRODUCT_LIMIT:
        return _probe(func, call, zeros)
    try:
        return _open_sized(call) or _probe(func, call, on_meta)
    except Exception as error:
        unseen = isinstance(error, NotImplementedError) or without_rule(call.func)
        if elements > PROBE_LIMIT or not call.tensors or facts(call.func).composite:
            if unseen:
                raise UnknownResult(_first_line(error)) from error
            raise
        return _on_cpu(func, call, error)


def _on_cpu(func: Any, call: Call, error: Exception) -> Plan:
    """Ask the CPU kernel where meta has none, or is stricter than any kernel."""
    try:
        return _probe(func, call, zeros)
    except NotImplementedError as missing:
        raise UnknownResult(_first_line(missing)) from missing
    except OtherLayout:
        raise
    except Exception:
        raise error from None


def _open_sized(call: Call) -> Plan | None:
    """What an extension's own shape rule gives, sizes that depend on data at their most."""
    if call.func.namespace == "aten":
        return None
    rule = open_sized(call.func, call.tensors)
    return None if rule is None else _probe(rule, call, on_meta)


def _probe(func: Any, call: Call, make: Callable[[Tensor], Tensor]) -> Plan:
    args, kwargs, made = replaced(call, make, "meta" if make is on_meta else "cpu")
    probe = standing_for(call, args, kwargs, made)
    return plan_of(canonical(func(*args, **kwargs), probe, call.tensors), probe)


def _meta_differs(call: Call) -> bool:
    """Whether the CPU kernel must be asked, since its meta function answers otherwise."""
    name = call.func.name()
    if name in CPU_ALWAYS:
        return True
    return name in CPU_IF_PERMUTED and not all(t.is_contiguous() for t in call.tensors)


def _products(call: Call) -> int:
    """Multiplications of a convolution, at stride 1; 0 for what is no convolution."""
    name = call.func.name()
    if "conv" not in name:
        return 0
    x, weight = call.tensors[0], call.tensors[2 if "backward" in name else 1]
    return x.numel() // max(weight.shape[1], 1) * weight.numel()


def _first_line(error: BaseException) -> str:
    """What is missing, without the dispatcher's guesses at why and its list of backends."""
    return str(error).strip().split("\n", 1)[0].partition(" This could be because")[0]
