"""Fourier transforms in half precision, which PyTorch takes on some types of device only.

``promote_type_fft`` (aten/src/ATen/native/SpectralOps.cpp) lets float16 pass on CUDA, on XPU since
torch 2.11 and on meta, and raises "Unsupported dtype Half" on all other types of device. A traced
device is of none of these types. So its transforms of half precision are taken apart here, as that
file does on CUDA; whether a target refuses them is in the database.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from opcheck.trace.torch_internals.dispatcher import at_key

_COMPOSITE: Any = torch._C.DispatchKey.CompositeImplicitAutograd  # its stubs lack it
_PREFIX = "aten::fft_"
_LINES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TRANSFORMS = frozenset(f"{_PREFIX}{name}{dims}" for name in _LINES for dims in ("", "2", "n"))
"""Composites that may take a real tensor: overloads without an ``out``."""
NOT_KNOWN = ("musa",)
"""Types of device whose plugin changes this in a way that is not known here."""
_FORWARD = {None: 0, "backward": 0, "ortho": 1, "forward": 2}
_BACKWARD = {None: 2, "backward": 2, "ortho": 1, "forward": 0}
"""What divides the result, as kernels are told: nothing, the root of the size, or the size."""


def in_half(
    func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Callable[[], Tensor] | None:
    """What runs a transform of a real tensor of float16; None for all other calls."""
    if func.name() not in TRANSFORMS or not args or not isinstance(args[0], Tensor):
        return None
    x = args[0]
    if x.dtype != torch.float16 or x.device.type in NOT_KNOWN:
        return None
    rule = _RULES.get(func.name().removeprefix(_PREFIX))
    if rule is None:
        return lambda: at_key(func, _COMPOSITE, x.to(torch.complex32), *args[1:], **kwargs)
    given = dict(zip((a.name for a in func._schema.arguments[1:]), args[1:], strict=False))
    return partial(rule, x, **{**given, **kwargs})


def _line(
    x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None,
    *, forward: bool = True, onesided: bool = True,
) -> Tensor:  # fmt: skip
    """A transform along one dimension."""
    dim = dim % x.dim()
    out = torch._fft_r2c(_sized(x, [dim], [n]), [dim], _norm(norm, forward=forward), onesided)
    return out if forward else out.conj()


def _volume(
    x: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
    norm: str | None = None,
) -> Tensor:  # fmt: skip
    """``rfftn``, the last dimension of which is half as long."""
    dims, sizes = _chosen(x, s, dim)
    return torch._fft_r2c(_sized(x, dims, sizes), dims, _norm(norm, forward=True), True)


def _inverse_volume(
    x: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
    norm: str | None = None,
) -> Tensor:  # fmt: skip
    """``ihfftn``: the last dimension, and then the others of what it gave."""
    dims, sizes = _chosen(x, s, dim)
    by = _norm(norm, forward=False)
    out = torch._fft_r2c(_sized(x, dims, sizes), dims[-1:], by, True)
    if len(dims) == 1:
        return out.conj()
    return torch._fft_c2c(torch.conj_physical(out), dims[:-1], by, False)


_PLANE = (-2, -1)
_RULES: dict[str, Callable[..., Tensor]] = {
    "fft": partial(_line, onesided=False),
    "ifft": partial(_line, forward=False, onesided=False),
    "rfft": _line,
    "ihfft": partial(_line, forward=False),
    "rfft2": partial(_volume, dim=_PLANE),
    "rfftn": _volume,
    "ihfft2": partial(_inverse_volume, dim=_PLANE),
    "ihfftn": _inverse_volume,
}
"""Those that keep a real tensor real; the others make it complex first."""


def _norm(norm: str | None, *, forward: bool) -> int:
    by = _FORWARD if forward else _BACKWARD
    if norm not in by:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')  # PyTorch's own words
    return by[norm]


def _chosen(
    x: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None
) -> tuple[list[int], list[int | None]]:
    """The dimensions that are transformed, and their sizes."""
    if dim is None:
        dim = range(x.dim()) if s is None else range(x.dim() - len(s), x.dim())
    dims = [d % x.dim() for d in dim]
    return dims, [None] * len(dims) if s is None else [None if n == -1 else n for n in s]


def _sized(x: Tensor, dims: Sequence[int], sizes: Sequence[int | None]) -> Tensor:
    """Cut off what is too long, and fill up with zeros what is too short."""
    pad = [0] * (2 * x.dim())
    for dim, size in zip(dims, sizes, strict=True):
        if size is not None and size < x.shape[dim]:
            x = x.narrow(dim, 0, size)
        elif size is not None and size > x.shape[dim]:
            pad[2 * (x.dim() - 1 - dim) + 1] = size - x.shape[dim]
    return torch.constant_pad_nd(x, pad) if any(pad) else x
