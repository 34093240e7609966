"""What kernels compute that only devices have, by operators that run everywhere.

What kernels that only devices have compute, said in terms of operators that run everywhere. The
formulas are those of PyTorch 2.13's own device kernels; they hold on values as on meta.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from opcheck.trace.torch_internals.dispatcher import facts


def stats(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Mean and inverse deviation of each channel."""
    dims = [d for d in range(x.dim()) if d != 1]
    variance, mean = torch.var_mean(x.float(), dims, correction=0)
    return mean, (variance + eps).rsqrt()


def elemt(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, invstd: Tensor, eps: float
) -> Tensor:
    """Normalise with statistics of all processes."""
    shape = [1, -1] + [1] * (x.dim() - 2)
    scaled = (x - mean.reshape(shape)) * invstd.reshape(shape)
    scaled = scaled if weight is None else scaled * weight.reshape(shape)
    return (scaled if bias is None else scaled + bias.reshape(shape)).to(x.dtype)


def gather_stats(
    x: Tensor, mean: Tensor, invstd: Tensor, running_mean: Tensor | None,
    running_var: Tensor | None, momentum: float, eps: float, counts: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Mean and inverse deviation over all processes, whose own are the rows of ``mean``."""
    share = (counts / counts.sum()).unsqueeze(1)
    total = (mean * share).sum(0)
    variance = ((invstd.pow(-2) - eps + mean.square()) * share).sum(0) - total.square()
    for running, now in ((running_mean, total), (running_var, variance)):
        if running is not None:
            running.lerp_(now.to(running.dtype), momentum)
    return total, (variance + eps).rsqrt()


def backward_reduce(
    grad: Tensor, x: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None,
    input_wanted: bool, weight_wanted: bool, bias_wanted: bool,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """Sums over each channel, and the gradients of weight and bias that follow from them."""
    dims = [d for d in range(x.dim()) if d != 1]
    shape = [1, -1] + [1] * (x.dim() - 2)
    sum_dy = grad.float().sum(dims)
    sum_dy_xmu = (grad.float() * (x - mean.reshape(shape))).sum(dims)
    to_weight = (sum_dy_xmu * invstd).to(grad.dtype) if weight_wanted else None
    to_bias = sum_dy.to(grad.dtype) if bias_wanted else None
    return sum_dy, sum_dy_xmu, to_weight, to_bias


def backward_elemt(
    grad: Tensor, x: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None, sum_dy: Tensor,
    sum_dy_xmu: Tensor, count: Tensor,
) -> Tensor:  # fmt: skip
    """The gradient of the input, from sums over all processes."""
    shape = [1, -1] + [1] * (x.dim() - 2)
    scale = invstd if weight is None else invstd * weight
    total = count.sum()
    bent = (x - mean.reshape(shape)) * (invstd.square() * sum_dy_xmu / total).reshape(shape)
    return ((grad - (sum_dy / total).reshape(shape) - bent) * scale.reshape(shape)).to(x.dtype)


_aten = torch.ops.aten
Gates = tuple[Tensor, ...]


def _convolution(*args: Any, **kwargs: Any) -> Any:
    return _aten.convolution.default(*args, **kwargs)


def _convolution_backward(
    grad: Tensor, x: Tensor, weight: Tensor, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], transposed: bool, output_padding: Sequence[int], groups: int,
    output_mask: Sequence[bool],
) -> Any:  # fmt: skip
    return _aten.convolution_backward.default(
        grad, x, weight, [grad.shape[1]], stride, padding, dilation, transposed, output_padding,
        groups, output_mask,
    )  # fmt: skip


def _depthwise(
    x: Tensor, weight: Tensor, kernel_size: Sequence[int], bias: Tensor | None,
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
) -> Tensor:  # fmt: skip
    return torch.conv2d(x, weight, bias, stride, padding, dilation, x.shape[1])


def _copy_from(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    return target.copy_(source)


def _copy_from_and_resize(source: Tensor, target: Tensor) -> Tensor:
    return target.resize_(source.shape).copy_(source)


def _histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    return torch.histc(x.float(), bins, min, max).to(x.dtype)


def _masked_scale(x: Tensor, mask: Tensor, scale: float) -> Tensor:
    return x * mask.to(x.dtype) * scale


def _attention(
    query: Tensor, key: Tensor, value: Tensor, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    found: tuple[Any, ...]
    found = _aten._scaled_dot_product_flash_attention.default(query, key, value)
    return found


def _with_bias(gates: Tensor, bias: Tensor | None) -> Tensor:
    return gates if bias is None else gates + bias


def _lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> Gates:
    """Give (hy, cy, workspace), workspace the four activated gates [batch, 4 * hidden]."""
    gates = _with_bias(_with_bias(input_gates + hidden_gates, input_bias), hidden_bias)
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat((i, f, g, o), 1)


def _lstm_cell_backward(
    grad_hy: Tensor | None, grad_cy: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor,
    has_bias: bool,
) -> tuple[Tensor, Tensor, Tensor | None]:  # fmt: skip
    """Give the gradients of (gates, cx, bias)."""
    i, f, g, o = workspace.chunk(4, 1)
    bent = cy.tanh()
    from_output = torch.zeros_like(cx) if grad_hy is None else grad_hy
    cell = from_output * o * (1 - bent * bent)
    cell = cell if grad_cy is None else cell + grad_cy
    gates = torch.cat(
        (
            cell * g * i * (1 - i),
            cell * cx * f * (1 - f),
            cell * i * (1 - g * g),
            from_output * bent * o * (1 - o),
        ),
        1,
    )
    return gates, cell * f, gates.sum(0) if has_bias else None


def _gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> Gates:
    """Give (hy, workspace), workspace [batch, 5 * hidden]."""
    ri, zi, ni = _with_bias(input_gates, input_bias).chunk(3, 1)
    rh, zh, nh = _with_bias(hidden_gates, hidden_bias).chunk(3, 1)
    r, z = (ri + rh).sigmoid(), (zi + zh).sigmoid()
    n = (ni + r * nh).tanh()
    return n + z * (hx - n), torch.cat((r, z, n, hx, nh), 1)


def _gru_cell_backward(
    grad_hy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor | None, ...]:
    """Give the gradients of (input gates, hidden gates, hx, input bias, hidden bias)."""
    r, z, n, hx, nh = workspace.chunk(5, 1)
    new = grad_hy * (1 - z) * (1 - n * n)
    reset = new * nh * r * (1 - r)
    update = grad_hy * (hx - n) * z * (1 - z)
    inputs = torch.cat((reset, update, new), 1)
    hidden = torch.cat((reset, update, new * r), 1)
    biases = (inputs.sum(0), hidden.sum(0)) if has_bias else (None, None)
    return inputs, hidden, grad_hy * z, *biases


def _matmul_backward(
    grad: Tensor | None, left: Tensor, right: Tensor, mask: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None]:
    """Give the gradients of both factors, as ``mask`` asks."""
    if grad is None:
        return None, None
    a = left.unsqueeze(0) if left.dim() == 1 else left
    b = right.unsqueeze(1) if right.dim() == 1 else right
    grad = grad.unsqueeze(-1) if right.dim() == 1 else grad
    grad = grad.unsqueeze(-2) if left.dim() == 1 else grad
    if left.dim() == right.dim() == 1:
        grad = grad.reshape(1, 1)
    to_left = (grad @ b.mH).sum_to_size(a.shape).reshape(left.shape) if mask[0] else None
    to_right = (a.mH @ grad).sum_to_size(b.shape).reshape(right.shape) if mask[1] else None
    return to_left, to_right


def _max_pool_backward(grad: Tensor, x: Tensor, *window: Any) -> Tensor:
    """The gradient of ``max_pool2d``, which finds anew where each maximum was."""
    _, places = _aten.max_pool2d_with_indices.default(x, *window)
    found: Tensor = _aten.max_pool2d_with_indices_backward.default(
        grad, x, *_completed(window), places
    )
    return found


def _completed(window: Sequence[Any]) -> Sequence[Any]:
    """Kernel size, stride, padding, dilation and rounding, each as it is where nothing is given."""
    return (*window, *((), 0, 1, False)[len(window) - 1 :])


def _in_dtype(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A product whose last argument is the dtype of its result."""

    def run(*args: Any, **kwargs: Any) -> Tensor:
        *tensors, dtype = args
        return operator(*(t.to(dtype) for t in tensors), **kwargs)

    return run


_PLAIN, _TILE = 2, 8
"""Dimensions of a weight of four bits whose rows are apart, and rows of one that are together."""


def _int4_product(x: Tensor, packed: Tensor, group: int, scales: Tensor) -> Tensor:
    """A product with weights of four bits, of the right sizes and without numbers.

    Tiles as tensor cores read them are not undone here; XPU packs rows. Torch's own shape
    function needs a FakeTensor.
    """
    rows = packed.shape[0] * (1 if packed.dim() == _PLAIN else _TILE)
    return x.new_full((x.shape[0], rows), float("nan"))


def _int4_packed(weight: Tensor, inner: int) -> Tensor:
    """Weights of four bits in that layout, two of them a byte; its sizes alone."""
    rows, columns = weight.shape[0], weight.shape[1] * (2 if weight.dtype == torch.uint8 else 1)
    shape = (rows // _TILE, columns // (inner * 16), 32, inner // 2)
    return weight.new_zeros(shape, dtype=torch.int32)


def _in_single(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A Fourier transform, of half precision by way of the one that a CPU has."""

    def run(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if x.dtype not in _SINGLE:
            return operator(x, *args, **kwargs)
        made = operator(x.to(_SINGLE[x.dtype]), *args, **kwargs)
        return made.to(torch.complex32 if made.is_complex() else torch.float16)

    return run


_SINGLE = {torch.float16: torch.float32, torch.complex32: torch.complex64}


def _nothing(*_: Any) -> None:
    return None


_KERNELS: dict[str, Callable[..., Any]] = {
    "aten::_conv_depthwise2d": _depthwise,
    "aten::_convert_weight_to_int4pack": _int4_packed,
    "aten::_copy_from": _copy_from,
    "aten::_copy_from_and_resize": _copy_from_and_resize,
    "aten::_fft_c2c": _in_single(_aten._fft_c2c.default),
    "aten::_fft_c2r": _in_single(_aten._fft_c2r.default),
    "aten::_fft_r2c": _in_single(_aten._fft_r2c.default),
    "aten::_masked_scale": _masked_scale,
    "aten::_scaled_dot_product_fused_attention_overrideable": _attention,
    "aten::_thnn_fused_gru_cell": _gru_cell,
    "aten::_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "aten::_thnn_fused_lstm_cell": _lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "aten::_weight_int4pack_mm": _int4_product,
    "aten::addmm.dtype": _in_dtype(torch.addmm),
    "aten::batch_norm_backward_elemt": backward_elemt,
    "aten::batch_norm_backward_reduce": backward_reduce,
    "aten::batch_norm_elemt": elemt,
    "aten::batch_norm_gather_stats_with_counts": gather_stats,
    "aten::batch_norm_stats": stats,
    "aten::bmm.dtype": _in_dtype(torch.bmm),
    "aten::convolution_backward_overrideable": _convolution_backward,
    "aten::convolution_overrideable": _convolution,
    "aten::histc": _histc,
    "aten::matmul_backward": _matmul_backward,
    "aten::max_pool2d_backward": _max_pool_backward,
    "aten::mm.dtype": _in_dtype(torch.mm),
    "aten::record_stream": _nothing,
}


def kernel_for(func: Any, args: Sequence[Any]) -> Callable[..., Any]:
    """Give what computes a call here.

    C++ hands tensors that it made of numbers over as numbers; only some overloads take them so.
    """
    computed = computed_as(func)
    if computed is not None:
        return computed
    wanted = zip(facts(func).tensors, args, strict=False)
    if any(tensor and isinstance(value, int | float | complex) for tensor, value in wanted):
        return _with_numbers(func)
    return func  # type: ignore[no-any-return]  # untyped ops


def _with_numbers(func: Any) -> Callable[..., Any]:
    """The operator, which has an overload for numbers where this one does not take them."""

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return func(*args, **kwargs)
        except RuntimeError:
            return func.overloadpacket(*args, **kwargs)

    return run


@cache
def computed_as(func: Any) -> Callable[..., Any] | None:
    """Give what computes a kernel that the CPU lacks; None for all others."""
    return _KERNELS.get(func.name())
