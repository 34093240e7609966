"""Lines that select by a mask, and the same over everything: both computed, both differentiated."""

import ast
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from opcheck.model.trace import TensorMeta
from opcheck.rewrite.structural.lines import spot
from opcheck.rewrite.structural.masked_lines import Masked, masked
from opcheck.rewrite.structural.writing import (
    Metas,
    arguments,
    function_of,
    not_finite,
    own_names,
    plain_names,
    written,
)
from tests.rewrite.reasons import reads

FLOAT_LINES = (
    ("x[mask].sum()", 1e-6),
    ("x[mask].sum(0)", 1e-6),
    ("x[mask].mean()", 1e-6),
    ("x[mask].mean(dim=0)", 1e-6),
    ("torch.mean(x[mask])", 1e-6),
    ("x[mask].max()", 0),
    ("torch.min(x[mask])", 0),
    ("x[mask].amax(0)", 0),
    ("torch.masked_select(x, mask).sum()", 1e-6),
    ("x.masked_select(mask).min()", 0),
    ("(x[mask] * 3).tanh().sum()", 1e-6),
    ("(-x[mask] + 1).exp().mean()", 1e-6),
    ("torch.relu(x[mask]).sum(0)", 1e-6),
    ("((x[mask] - y[mask]) ** 2).mean()", 1e-6),
    ("F.mse_loss(x[mask], y[mask])", 1e-6),
    ("F.smooth_l1_loss(x[mask], y[mask], beta=0.5, reduction='sum')", 1e-6),
    ("(x[mask] > 0).any()", 0),
    ("torch.all(x[mask] <= y[mask])", 0),
    ("x[mask] = x[mask] * 2", 0),
    ("x[mask] *= 2", 0),
    ("x[mask] = torch.sin(y[mask])", 0),
)
SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=3)


def found(line: str) -> Masked:
    result = masked(line, 1)
    assert isinstance(result, Masked), result
    return result


def meta(tensor: torch.Tensor) -> TensorMeta:
    dtype = str(tensor.dtype).removeprefix("torch.")
    return TensorMeta(dtype, tuple(tensor.shape), tuple(tensor.stride()))


@pytest.mark.parametrize(("line", "tolerance"), FLOAT_LINES)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_line_over_everything_gives_the_same(
    line: str, tolerance: float, data: st.DataObject
) -> None:
    shape = data.draw(SHAPES)
    dims = data.draw(st.integers(1, len(shape)))
    random = torch.Generator().manual_seed(data.draw(st.integers(0, 99)))
    dtype = data.draw(st.sampled_from((torch.float64, torch.float32)))
    tensors = {n: torch.randn(shape, generator=random, dtype=torch.float64).to(dtype) for n in "xy"}
    mask = torch.randint(0, 2, shape[:dims], generator=random).bool()
    parts = found(line)
    (use,) = parts.uses
    names = plain_names(parts, use)
    own = own_names(parts, use)
    metas = Metas(tuple(meta(tensors[base]) for base in own.bases), meta(mask))
    text = written(parts, use, names, metas)
    assert not isinstance(text, str), text
    assert not not_finite(parts, use, metas)
    given_ = dict(zip(names.bases, (tensors[base] for base in own.bases), strict=True))
    given_ |= {"mask": mask, "y": tensors.get(own.target, mask)}
    args = [given_[name] for name in arguments(names)]
    before = function_of(text.before, names, writes=bool(names.target))
    try:
        wanted = differentiated(before, args)
    except (RuntimeError, IndexError):
        return  # a maximum of nothing
    found_ = differentiated(function_of(text.after, names), args)
    for one, other in zip(found_, wanted, strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(
            one, other, rtol=tolerance * 10, atol=tolerance * 10, equal_nan=True
        )


def differentiated(
    line: Callable[..., torch.Tensor], args: list[torch.Tensor]
) -> list[torch.Tensor]:
    """What a line gives, and the gradients of what it is given."""
    leaves = [arg.clone().requires_grad_(arg.is_floating_point()) for arg in args]
    result = line(*leaves)
    known = [leaf for leaf in leaves if leaf.requires_grad]
    if not result.requires_grad:
        return [result]
    seed = torch.arange(result.numel()).reshape(result.shape).to(result.dtype)
    found = torch.autograd.grad(result, known, seed + 1, allow_unused=True)
    pairs = zip(found, known, strict=True)
    return [result.detach(), *(torch.zeros_like(k) if g is None else g for g, k in pairs)]


def test_what_the_mask_leaves_out_may_be_anything() -> None:
    x = torch.tensor([1.0, torch.nan, torch.inf, 4.0], requires_grad=True)
    mask = torch.tensor([True, False, False, True])
    for line in ("x[mask].mean()", "(x[mask] * 3).tanh().sum()", "F.mse_loss(x[mask], x[mask])"):
        parts = found(line)
        (use,) = parts.uses
        text = written(parts, use, plain_names(parts, use), Metas((meta(x),), meta(mask)))
        assert not isinstance(text, str), text
        value = function_of(text.after, plain_names(parts, use))(x, mask)
        (gradient,) = torch.autograd.grad(value, x)
        assert value.isfinite()
        assert gradient.isfinite().all()


def test_whole_numbers_and_truths_keep_their_dtype() -> None:
    mask = torch.tensor([True, False, True])
    for line, x in (
        ("x[mask].max()", torch.tensor([-5, 9, -7])),
        ("x[mask].sum()", torch.tensor([True, True, False])),
        ("x[mask].all()", torch.tensor([True, False, True])),
        ("x[mask].mean()", torch.tensor([3.0, 9.0, 5.0], dtype=torch.float16)),
    ):
        parts = found(line)
        (use,) = parts.uses
        names = plain_names(parts, use)
        text = written(parts, use, names, Metas((meta(x),), meta(mask)))
        assert not isinstance(text, str), text
        wanted = function_of(text.before, names)(x, mask)
        result = function_of(text.after, names)(x, mask)
        assert (result, result.dtype) == (wanted, wanted.dtype)


FUNCTION = """\
def forward(self, x, mask):
    kept = x[mask].abs()
    total = kept.sum() / kept.max()
    return total
"""


def test_a_name_is_followed_to_where_it_is_used_up() -> None:
    result = masked(FUNCTION, 2)
    assert isinstance(result, Masked), result
    shown = {(use.line, use.shown) for use in result.uses}
    assert shown == {(3, "kept.sum()"), (3, "kept.max()")}


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("y = f(x[mask])", 1, "x[mask] needs as many elements as the mask has"),
        ("y = x[mask] @ w", 1, "x[mask] needs as many elements as the mask has"),
        ("s = self.act(x[mask]).sum()", 1, "x[mask] needs as many elements as the mask has"),
        ("s = (x[mask] * w).sum()", 1, "w is not known to go element by element"),
        ("s = x[mask].sum() + y[index].sum()", 1, "its line has more than one index"),
        ("s = x[1:].sum()", 1,
         "what its line selects is not written as an index or as masked_select"),
        ("s = x[mask].sum()", 7, "its line was not found"),
        ("s = (", 1, "its line was not found"),
        ("def f(x, m):\n    k = x[m]\n    x = x + 1\n    return k.sum()", 2,
         "x changes after line 2"),
        ("def f(x, m):\n    k = x[m]\n    x.add_(1)\n    return k.sum()", 2,
         "x changes after line 2"),
        ("def f(x, m):\n    k = x[m]\n    k = k + 1\n    return k.sum()", 2,
         "k is bound more than once"),
        ("def f(x, m):\n    k = x[m]\n    return len(k)", 2,
         "k is used in another way in line 3: x[m] needs as many elements as the mask has"),
    ],
)  # fmt: skip
def test_what_cannot_be_followed_is_left(text: str, line: int, why: str) -> None:
    left = masked(text, line)
    assert isinstance(left, str)
    reads(left, why)


def test_what_is_not_finite_at_zero_is_left() -> None:
    vector, mask = TensorMeta("float32", (3,), (1,)), TensorMeta("bool", (3,), (1,))
    for line, part in (
        ("torch.log(x[mask]).sum()", "torch.log(x[mask])"),
        ("(1 / x[mask]).sum()", "1 / x[mask]"),
    ):
        parts = found(line)
        why = not_finite(parts, parts.uses[0], Metas((vector,), mask))
        assert why == f"{part} is not finite at zero, or its gradient is not"


def test_the_innermost_statement_and_its_function_are_found() -> None:
    result = spot(FUNCTION, 3)
    assert result is not None
    assert ast.unparse(result.statement) == "total = kept.sum() / kept.max()"
    assert isinstance(result.around, ast.FunctionDef)
