"""What operators on complex tensors are on their parts, in real arithmetic.

A complex tensor is ``Parts``; every function takes what the overload of its name takes, and gives
what that gives. Functions that give views give views of the parts. All are in one module: the text
of one, with what it calls, is taken from the module that it is in.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Parts(NamedTuple):
    """A complex tensor as two real ones."""

    real: Tensor
    imag: Tensor


Number = Parts | Tensor | complex

REAL = {
    torch.complex32: torch.float16,
    torch.complex64: torch.float32,
    torch.complex128: torch.float64,
}


def _parts(x: Number) -> tuple[Any, Any]:
    """Both parts; the imaginary part of what is real is zero."""
    if isinstance(x, Parts):
        return x
    if isinstance(x, Tensor):
        return x, torch.zeros_like(x)
    return complex(x).real, complex(x).imag


# --- the same for both parts ---------------------------------------------------------------------


def both(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call an operator once with all real parts, and once with all imaginary ones."""
    real, imag = (func(*_only(args, i), **_only(kwargs, i)) for i in (0, 1))
    if isinstance(real, list | tuple):
        return [Parts(*pair) for pair in zip(real, imag, strict=True)]
    return Parts(real, imag)


def _only(value: Any, index: int) -> Any:
    if isinstance(value, Parts):
        return value[index]
    if isinstance(value, list | tuple):
        return [_only(item, index) for item in value]
    if isinstance(value, dict):
        return {name: _only(item, index) for name, item in value.items()}
    return value


# --- between real and complex --------------------------------------------------------------------


def view_as_complex(self: Tensor) -> Parts:
    """Take the two columns apart; both are views."""
    return Parts(self.select(-1, 0), self.select(-1, 1))


def view_as_real(self: Parts) -> Tensor:
    """Put both parts beside each other, in a new tensor."""
    return torch.stack([self.real, self.imag], -1)


def complex_of(real: Tensor, imag: Tensor) -> Parts:
    """Keep both as they are."""
    shape = torch.broadcast_shapes(real.shape, imag.shape)
    return Parts(real.expand(shape), imag.expand(shape))


def polar(abs: Tensor, angle: Tensor) -> Parts:
    """Multiply the length with cosine and sine."""
    return Parts(abs * angle.cos(), abs * angle.sin())


def real(self: Parts) -> Tensor:
    """Give the one."""
    return self.real


def imag(self: Parts) -> Tensor:
    """Give the other."""
    return self.imag


def conj(self: Parts) -> Parts:
    """Turn the sign of the imaginary part."""
    return Parts(self.real, -self.imag)


def conj_physical(self: Parts) -> Parts:
    """Turn the sign of the imaginary part, in new tensors."""
    return Parts(self.real.clone(), -self.imag)


def same(self: Parts) -> Parts:
    """Leave it: signs are never kept for later here."""
    return self


def magnitude(self: Parts) -> Tensor:
    """Take the root of both squares' sum, scaled by the larger; the gradient of 0 is 0."""
    a, b = self.real.abs(), self.imag.abs()
    largest = torch.maximum(a, b).detach()
    plain = (largest == 0) | (largest == torch.inf)
    scale = torch.where(plain, torch.ones_like(largest), largest)
    a, b = a / scale, b / scale
    squares = a * a + b * b
    nothing = squares == 0
    root = torch.where(nothing, torch.ones_like(squares), squares).sqrt() * scale
    return torch.where(nothing, squares, root)


def angle(self: Parts) -> Tensor:
    """Take the angle between both."""
    return torch.atan2(self.imag, self.real)


# --- arithmetic ----------------------------------------------------------------------------------


def mul(self: Number, other: Number) -> Parts:
    """``(a + b i)(c + d i) = (a c - b d) + (a d + b c) i``."""
    if isinstance(self, Parts) and not isinstance(other, Parts | complex):
        return Parts(self.real * other, self.imag * other)
    c, d = _parts(other)
    if not isinstance(self, Parts):
        return Parts(self * c, self * d)
    return Parts(self.real * c - self.imag * d, self.real * d + self.imag * c)


def add(self: Number, other: Number, *, alpha: float = 1) -> Parts:
    """Add part by part."""
    (a, b), (c, d) = _parts(self), _parts(other)
    return Parts(torch.add(a, c, alpha=alpha), torch.add(b, d, alpha=alpha))


def sub(self: Number, other: Number, *, alpha: float = 1) -> Parts:
    """Subtract part by part."""
    (a, b), (c, d) = _parts(self), _parts(other)
    return Parts(torch.sub(a, c, alpha=alpha), torch.sub(b, d, alpha=alpha))


def rsub(self: Parts, other: Number, alpha: float = 1) -> Parts:
    """Subtract part by part, the other way round."""
    c, d = _parts(other)
    return Parts(torch.rsub(self.real, c, alpha=alpha), torch.rsub(self.imag, d, alpha=alpha))


def div(self: Number, other: Number) -> Parts:
    """Multiply with the conjugate, over the squared length; scaled, so that none overflows."""
    a, b = _parts(self)
    if not isinstance(other, Parts | complex):
        return Parts(a / other, b / other)
    if isinstance(other, complex):
        return mul(self, 1 / other)
    c, d = _parts(other)
    scale = torch.maximum(c.abs(), d.abs()).detach()
    c, d = c / scale, d / scale
    length = (c * c + d * d) * scale
    return Parts((a * c + b * d) / length, (b * c - a * d) / length)


def reciprocal(self: Parts) -> Parts:
    """Divide 1 by it."""
    return div(torch.ones_like(self.real), self)


def sgn(self: Parts) -> Parts:
    """Divide by the length; 0 stays."""
    length = magnitude(self)
    length = torch.where(length == 0, torch.ones_like(length), length)
    return Parts(self.real / length, self.imag / length)


def exp(self: Parts) -> Parts:
    """Turn the exponential of the real part by the imaginary one."""
    return polar(self.real.exp(), self.imag)


def log(self: Parts) -> Parts:
    """The logarithm of the length, and the angle."""
    return Parts(magnitude(self).log(), angle(self))


def power(self: Parts, exponent: Number) -> Parts:
    """Multiply it with itself; no other power than the second."""
    if exponent != 2:
        raise ValueError(f"the power is {exponent}")
    return mul(self, self)


def matmul(self: Parts | Tensor, mat2: Parts | Tensor) -> Parts:
    """Multiply matrices part by part: four real products, or two where one side is real."""
    if not isinstance(self, Parts):
        assert isinstance(mat2, Parts)
        return Parts(torch.matmul(self, mat2.real), torch.matmul(self, mat2.imag))
    if not isinstance(mat2, Parts):
        return Parts(torch.matmul(self.real, mat2), torch.matmul(self.imag, mat2))
    (a, b), (c, d) = self, mat2
    return Parts(torch.matmul(a, c) - torch.matmul(b, d), torch.matmul(a, d) + torch.matmul(b, c))


def equal_to(self: Number, other: Number) -> Tensor:
    """Both parts are equal."""
    (a, b), (c, d) = _parts(self), _parts(other)
    return torch.eq(a, c) & torch.eq(b, d)


def unequal_to(self: Number, other: Number) -> Tensor:
    """One part is not equal."""
    return ~equal_to(self, other)


# --- joining and choosing ------------------------------------------------------------------------


def cat(tensors: Sequence[Number], dim: int = 0) -> Parts:
    """Join the parts; those of what is real are zero."""
    real, imag = zip(*(_parts(x) for x in tensors), strict=True)
    return Parts(torch.cat(list(real), dim), torch.cat(list(imag), dim))


def stack(tensors: Sequence[Number], dim: int = 0) -> Parts:
    """Lay the parts in a new dimension."""
    real, imag = zip(*(_parts(x) for x in tensors), strict=True)
    return Parts(torch.stack(list(real), dim), torch.stack(list(imag), dim))


def where(condition: Tensor, self: Number, other: Number) -> Parts:
    """Choose part by part."""
    (a, b), (c, d) = _parts(self), _parts(other)
    return Parts(torch.where(condition, a, c), torch.where(condition, b, d))


def constant_pad_nd(self: Parts, pad: Sequence[int], value: complex = 0) -> Parts:
    """Pad both parts."""
    real, imag = _parts(complex(value))
    return Parts(
        torch.constant_pad_nd(self.real, pad, real), torch.constant_pad_nd(self.imag, pad, imag)
    )


# --- writing -------------------------------------------------------------------------------------


def copy_(self: Parts, src: Number, non_blocking: bool = False) -> Parts:
    """Write both parts."""
    real, imag = _parts(src)
    self.real.copy_(real)
    self.imag.copy_(imag)
    return self


def fill_(self: Parts, value: complex) -> Parts:
    """Fill both parts."""
    number = complex(value)
    self.real.fill_(number.real)
    self.imag.fill_(number.imag)
    return self


def zero_(self: Parts) -> Parts:
    """Fill both parts with zeros."""
    self.real.zero_()
    self.imag.zero_()
    return self


# --- new tensors, and other dtypes ---------------------------------------------------------------


def made(func: Callable[..., Any], *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Make both parts with one call each: zeros, or whatever is there."""
    if dtype is not None and dtype not in REAL:
        return func(*_only(args, 0), dtype=dtype, **kwargs)
    wanted = REAL.get(dtype)
    return Parts(*(func(*_only(args, i), dtype=wanted, **kwargs) for i in (0, 1)))


def ones(func: Callable[..., Any], *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Make ones, whose imaginary part is zero."""
    found = made(func, *args, dtype=dtype, **kwargs)
    return Parts(found.real, torch.zeros_like(found.imag)) if isinstance(found, Parts) else found


def full(size: Sequence[int], fill_value: complex, *, dtype: Any = None, **kwargs: Any) -> Parts:
    """Fill both parts."""
    real, imag = _parts(complex(fill_value))
    wanted = REAL[dtype or torch.complex64]
    return Parts(
        torch.full(size, real, dtype=wanted, **kwargs),
        torch.full(size, imag, dtype=wanted, **kwargs),
    )


def moved(func: Callable[..., Any], self: Number, *args: Any, **kwargs: Any) -> Any:
    """Move or cast both parts; what becomes real keeps the one."""
    asked = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.dtype)]
    args = tuple(REAL.get(x, x) if isinstance(x, torch.dtype) else x for x in args)
    kwargs = {n: REAL.get(x, x) if isinstance(x, torch.dtype) else x for n, x in kwargs.items()}
    if not isinstance(self, Parts):
        real = func(self, *args, **kwargs)
        return Parts(real, torch.zeros_like(real))
    if asked and asked[0] not in REAL:
        return func(self.real, *args, **kwargs)
    return Parts(func(self.real, *args, **kwargs), func(self.imag, *args, **kwargs))


def written(func: Callable[..., Any], outs: Sequence[str], *args: Any, **kwargs: Any) -> Any:
    """Write what a function gives into the first argument, or into those for results."""
    places = [kwargs.pop(name) for name in outs] or [args[0]]
    found = func(*args, **kwargs)
    found = [found] if isinstance(found, Parts | Tensor) else list(found)
    for place, result in zip(places, found, strict=True):
        if isinstance(place, Parts):
            copy_(place, result)
        else:
            place.copy_(result)
    return places[0] if len(places) == 1 else tuple(places)
