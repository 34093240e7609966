"""Operators on real and imaginary parts against the operators on complex tensors."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import COMPLEX, FLOATS, Draw, RandomDraw
from opcheck.rewrite.measure import compared
from opcheck.rewrite.parts.calls import in_parts
from opcheck.rewrite.parts.table import forms
from opcheck.rewrite.rules.complex_numbers.stft import IstftByTables
from opcheck.rewrite.text import standalone
from opcheck.trace.torch_internals.dispatcher import overload_named

REALS = FLOATS[:2]
EXAMPLES = int(os.environ.get("OPCHECK_RULE_EXAMPLES", "25"))
CLOSE = 1e-4
"""Of the largest result, in complex64."""


class Drawn(Draw):
    """Choices that hypothesis makes, and makes smaller where something fails."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def integer(self, low: int, high: int) -> int:
        return self._data.draw(st.integers(low, high))


def z(draw: Draw, low: int = 0, high: int = 3, **kwargs: Any) -> torch.Tensor:
    return draw.tensor(draw.shape(low, high, **kwargs), COMPLEX)


def one(*more: Any, low: int = 0, **named: Any) -> Callable[[Draw], Arguments]:
    return lambda draw: ((z(draw, low), *more), named)


def along(*more: Any, **named: Any) -> Callable[[Draw], Arguments]:
    def drawn(draw: Draw) -> Arguments:
        x = z(draw, 1, smallest=1)
        return (x, draw.dim(x), *more), named

    return drawn


def two(draw: Draw) -> Arguments:
    """Of one shape or broadcast; one of them may be real, or a number."""
    dtype, x = draw.choose(COMPLEX), draw.shape(0, 3)
    wide, narrow = draw.tensor(x, (dtype,)), x[draw.integer(0, len(x)) :]
    real = REALS[COMPLEX.index(dtype)]
    other = draw.choose(("complex", "real", "number", "complex number", "real first"))
    if other == "number":
        return (wide, 2.5), {}
    if other == "complex number":
        return (wide, 2 - 1j), {}
    if other == "real first":
        return (draw.tensor(x, (real,), edges=False), draw.tensor(narrow, (dtype,))), {}
    chosen = dtype if other == "complex" else real
    return (wide, draw.tensor(narrow, (chosen,), edges=False)), {}


def reals(draw: Draw) -> Arguments:
    shape, dtype = draw.shape(0, 3), draw.choose(REALS)
    return tuple(draw.tensor(shape, (dtype,), edges=False) for _ in range(2)), {}


def lengths(draw: Draw) -> Arguments:
    (length, angle), _ = reals(draw)
    return (length.abs(), angle), {}


def pairs(draw: Draw) -> Arguments:
    (real, imag), _ = reals(draw)
    return (torch.stack([real, imag], -1),), {}


def several(draw: Draw) -> Arguments:
    dtype, shape = draw.choose(COMPLEX), draw.shape(1, 3, smallest=1)
    given = [draw.tensor(shape, (dtype,)), draw.tensor(shape, (dtype,))]
    return (given, draw.dim(given[0])), {}


def matrices(draw: Draw, *lead: int) -> Arguments:
    n, k, m = (draw.integer(0, 4) for _ in range(3))
    dtype = draw.choose(COMPLEX)
    return (draw.tensor([*lead, n, k], (dtype,)), draw.tensor([*lead, k, m], (dtype,))), {}


def batches(draw: Draw) -> Arguments:
    return matrices(draw, draw.integer(0, 3))


def chosen(draw: Draw) -> Arguments:
    (x, y), _ = two(draw)
    x = x if x.is_complex() else y
    y = y if isinstance(y, torch.Tensor) and y.is_complex() else x
    shape = torch.broadcast_shapes(x.shape, y.shape)
    return (draw.tensor(shape, (torch.bool,)), x, y), {}


def picked(draw: Draw) -> Arguments:
    x = z(draw, 1, smallest=1)
    dim = draw.dim(x)
    return (x, dim, draw.indices([draw.integer(0, 4)], x.size(dim))), {}


def gathered(draw: Draw) -> Arguments:
    x = z(draw, 1, smallest=1)
    dim = draw.dim(x)
    return (x, dim, draw.indices(list(x.shape), x.size(dim))), {}


def indexed(draw: Draw) -> Arguments:
    x = z(draw, 1, smallest=1)
    return (x, [draw.indices([draw.integer(0, 4)], x.size(0))]), {}


def written(draw: Draw) -> Arguments:
    dtype, shape = draw.choose(COMPLEX), draw.shape(0, 3)
    real = REALS[COMPLEX.index(dtype)]
    into = draw.tensor(shape, (dtype,)).contiguous().clone()
    return (into, draw.tensor(shape, (draw.choose((dtype, real)),), edges=False)), {}


def transformed(draw: Draw, dtypes: Sequence[torch.dtype] = COMPLEX) -> tuple[Any, list[int]]:
    x = draw.tensor(draw.shape(1, 3, smallest=1, largest=6), dtypes, edges=False)
    first = draw.integer(0, x.dim() - 1)
    return x, [*range(first + 1, x.dim()), first] if draw.flag() else [first]


def c2c(draw: Draw) -> Arguments:
    return (*transformed(draw), draw.integer(0, 2), draw.flag()), {}


def r2c(draw: Draw) -> Arguments:
    return (*transformed(draw, REALS), draw.integer(0, 2), draw.flag()), {}


def c2r(draw: Draw) -> Arguments:
    x, dim = transformed(draw)
    half = x.size(dim[-1])
    return (x, dim, draw.integer(0, 2), max(1, 2 * (half - 1) + draw.integer(0, 1))), {}


def strided(draw: Draw) -> Arguments:
    return ([2, 3], [3, 1]), {"dtype": draw.choose(COMPLEX), "device": "cpu"}


def sized(*more: Any) -> Callable[[Draw], Arguments]:
    return lambda draw: (
        (draw.shape(0, 3), *more),
        {"dtype": draw.choose(COMPLEX), "device": "cpu"},
    )


def cast(draw: Draw) -> Arguments:
    dtype = draw.choose((*COMPLEX, *REALS))
    known = COMPLEX if dtype in REALS else (*COMPLEX, *REALS)
    return (draw.tensor(dtypes=known, edges=False), dtype), {}


def copied(draw: Draw) -> Arguments:
    (x, dtype), _ = cast(draw)
    return (x,), {"dtype": dtype}


def square(draw: Draw) -> Arguments:
    return (z(draw), 2), {}


CASES: dict[str, Callable[[Draw], Arguments]] = {
    "alias": one(), "clone": one(), "contiguous": one(), "detach": one(), "neg": one(),
    "_neg_view": one(), "resolve_conj": one(), "resolve_neg": one(),
    "_conj": one(), "conj": one(), "conj_physical": one(), "_conj_physical": one(),
    "real": one(), "imag": one(), "view_as_real": one(), "abs": one(), "angle": one(),
    "exp": one(), "log": one(), "reciprocal": one(), "sgn": one(), "sum": one(), "mean": one(),
    "zero_": one(), "zeros_like": one(), "ones_like": one(), "empty_like": one(),
    "squeeze": one(), "flip": along(), "cumsum": along(), "select.int": along(0),
    "squeeze.dim": along(), "unsqueeze": along(), "unbind.int": along(),
    "slice.Tensor": along(0, 2),
    "unfold": along(1, 1), "roll": lambda d: one([1], [-1], low=1)(d),
    "sum.dim_IntList": lambda d: one([-1], low=1)(d), "mean.dim": lambda d: one([-1], low=1)(d),
    "squeeze.dims": lambda d: one([-1], low=1)(d), "split.Tensor": lambda d: one(2, -1, low=1)(d),
    "constant_pad_nd": lambda d: one([1, 2], 1.5, low=1)(d), "eq.Scalar": one(1.5),
    "ne.Scalar": one(1.5), "fill_.Scalar": one(2 - 1j), "rsub.Scalar": one(2.5),
    "pow.Tensor_Scalar": square, "new_zeros": one([2, 3]), "new_ones": one([2, 3]),
    "new_empty": one([2, 3]), "new_empty_strided": one([2, 3], [3, 1]), "zeros": sized(),
    "ones": sized(), "empty.memory_format": sized(), "full": sized(1.5), "empty_strided": strided,
    "_to_copy": copied, "to.dtype": cast, "add.Tensor": two, "sub.Tensor": two, "mul.Tensor": two,
    "complex": reals, "polar": lengths, "view_as_complex": pairs, "cat": several,
    "stack": several, "mm": matrices, "matmul": matrices, "bmm": batches, "where.self": chosen,
    "index_select": picked, "gather": gathered, "index.Tensor": indexed, "copy_": written,
    "istft": lambda d: IstftByTables().example("aten::istft", d), "_fft_c2c": c2c,
    "_fft_r2c": r2c, "_fft_c2r": c2r,
}  # fmt: skip


def flipped(draw: Draw) -> Arguments:
    x = z(draw, 1, smallest=1)
    return (x, [draw.dim(x)]), {}


def matrix(*more: Any) -> Callable[[Draw], Arguments]:
    return lambda draw: ((z(draw, 2, 3, smallest=1), *more), {})


def nonzero(draw: Draw) -> Arguments:
    """Numbers away from 0, and of them a real one now and then."""
    (x, y), _ = two(draw)
    y = torch.where(y.abs() < 0.1, torch.ones_like(y), y) if isinstance(y, torch.Tensor) else y
    return (x, y), {}


def compare(draw: Draw) -> Arguments:
    (x, y), _ = two(draw)
    y = y if isinstance(y, torch.Tensor) else x
    return (x, torch.where(draw.tensor(list(y.shape), (torch.bool,)), y, y + 1)), {}


def moved(draw: Draw) -> Arguments:
    return (z(draw), torch.device("cpu"), torch.complex128), {}


def laid(draw: Draw) -> Arguments:
    return (z(draw),), {"dtype": torch.complex128}


CASES |= {
    "flip": flipped, "diagonal": matrix(), "permute": lambda d: ((z(d, 2, 2), [1, 0]), {}),
    "transpose.int": matrix(0, 1), "tril": matrix(), "triu": matrix(), "movedim.int": matrix(0, 1),
    "t": lambda d: ((z(d, 2, 2),), {}), "expand": lambda d: ((z(d, 0, 0), [2, 3]), {}),
    "repeat": lambda d: ((z(d, 1, 1), [2, 3]), {}), "view": lambda d: ((whole(d), [-1]), {}),
    "_unsafe_view": lambda d: ((whole(d), [-1]), {}), "reshape": lambda d: ((whole(d), [-1]), {}),
    "split_with_sizes": lambda d: ((whole(d), [2, 1], 1), {}), "div.Tensor": nonzero,
    "eq.Tensor": compare, "ne.Tensor": compare, "rsub.Tensor": lambda d: ((whole(d), whole(d)), {}),
    "to.device": moved, "to.dtype_layout": laid,
}  # fmt: skip


def whole(draw: Draw) -> torch.Tensor:
    return draw.tensor([2, 3], COMPLEX[:1]).contiguous()


def test_every_form_has_a_case() -> None:
    assert {f"aten::{op}" for op in CASES} == set(forms())


@pytest.mark.parametrize("op", sorted(CASES))
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_a_form_computes_what_the_operator_does(op: str, data: st.DataObject) -> None:
    holds(op, Drawn(data))


def holds(op: str, draw: Draw) -> None:
    name = f"aten::{op}"
    args, kwargs = CASES[op](draw)
    candidate, call = in_parts(name), Call(overload_named(name), args, kwargs)
    assert candidate is not None
    forward, backward = compared(call, candidate.function, candidate.canonical)
    allowed = 0.0 if candidate.label is Label.EXACT else CLOSE
    assert forward.relative <= allowed
    assert backward is None or min(backward.relative, backward.absolute) <= CLOSE  # it may cancel


@pytest.mark.parametrize("op", sorted(CASES))
def test_in_place_forms_follow(op: str) -> None:
    base, _, overload = op.partition(".")
    name = f"aten::{base}_{'.' if overload else ''}{overload}"
    if op.endswith("_") or overload_named(name) is None or op in ("abs", "angle", "detach"):
        return
    args, kwargs = CASES[op](RandomDraw(3))
    x = args[0]
    if not isinstance(x, torch.Tensor) or not x.is_complex() or not isinstance(kwargs, dict):
        return
    candidate = in_parts(name)
    assert candidate is not None
    wanted, found = x.clone(), x.clone()
    overload_named(name)(wanted, *args[1:], **kwargs)
    given = candidate.function(found, *args[1:], **kwargs)
    torch.testing.assert_close(given, wanted)
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("op", sorted(forms()))
def test_the_text_of_a_form_stands_for_itself(op: str) -> None:
    form = forms()[op]
    space: dict[str, Any] = {}
    exec(form.code, space)
    assert callable(space[form.entry])
    assert "opcheck" not in form.code


def test_standalone_text_brings_the_pair_along() -> None:
    from opcheck.rewrite.parts import forms as functions

    assert "class Parts(NamedTuple)" in standalone(functions.mul)
