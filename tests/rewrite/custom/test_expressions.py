"""Every stated expression, in PyTorch's own functions, is what the overload gives on the CPU."""

import ast
import math
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch import Tensor

from opcheck.rewrite.custom.definitions import DEFINITIONS, UntranslatableError, spelled
from opcheck.rewrite.custom.expressions import (
    CONSTANTS,
    FUNCTIONS,
    TABLE,
    Statement,
    functions,
    statements,
)
from opcheck.rewrite.custom.signature import Signature, signature
from opcheck.rewrite.custom.translate import names_of
from opcheck.trace.torch_internals.dispatcher import overload_named

EDGES = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 7.9, 8.1, 30.0, -30.0, 1e-30, 1e30, -1e30,
    math.inf, -math.inf, math.nan,
)  # fmt: skip


def signature_of(op: str) -> Signature:
    found = signature(op)
    assert isinstance(found, Signature), found
    return found


def arguments(s: Signature, dtype: torch.dtype) -> dict[str, Any]:
    drawn = torch.Generator().manual_seed(0)
    given: dict[str, Any] = {}
    for argument in s.arguments:
        if argument.tensor:
            some = torch.randn(200, generator=drawn, dtype=torch.float64) * 4
            edges = torch.tensor(EDGES, dtype=torch.float64)
            shuffled = edges[torch.randperm(len(EDGES), generator=drawn)]
            given[argument.name] = torch.cat([some, edges, shuffled]).to(dtype)
        elif argument.passed:
            given[argument.name] = 0.75
    return given


def as_torch() -> dict[str, Any]:
    """The functions of an expression, as PyTorch has them."""
    named = {"rint": torch.round, "where": _where, "log": _log, "abs": _abs}
    return {
        **{name: named.get(name) or getattr(torch, name) for name in FUNCTIONS},
        "inf": math.inf, "nan": math.nan, "pi": math.pi,
    }  # fmt: skip


def _where(condition: Any, first: Any, second: Any) -> Tensor:
    dtype = next((x.dtype for x in (first, second) if isinstance(x, Tensor)), torch.float64)
    one, other = (torch.as_tensor(x, dtype=dtype) for x in (first, second))
    return torch.where(torch.as_tensor(condition), one, other)


def _log(x: Any) -> Any:
    return torch.log(x) if isinstance(x, Tensor) else math.log(x)


def _abs(x: Any) -> Any:
    return torch.abs(x) if isinstance(x, Tensor) else abs(x)


@pytest.mark.parametrize("op", sorted(TABLE))
def test_an_expression_is_what_the_cpu_computes(op: str) -> None:
    given = arguments(signature_of(op), torch.float64)
    wanted = overload_named(op)(**given)
    found = computed(statements(op), given).expand(wanted.shape).to(wanted.dtype)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-12, equal_nan=True)


def computed(lines: Iterable[Statement], given: dict[str, Any]) -> Tensor:
    space = {**as_torch(), **given}
    found: Any = None
    for name, value in lines:
        text = ast.fix_missing_locations(ast.Expression(value))
        found = eval(compile(text, "expression", "eval"), space)
        space[name] = found
    return torch.as_tensor(found)


SIMPLE = frozenset(["abs", "exp", "log", "sqrt", "floor", "sin", "cos"])


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_a_definition_is_right_to_single_precision(name: str) -> None:
    (op,) = (
        op for op in TABLE if op.split("::")[1].split(".")[0] == {"rint": "round"}.get(name, name)
    )
    lines = spelled(statements(op), SIMPLE)
    used = {n.func.id for _, v in lines for n in ast.walk(v) if isinstance(n, ast.Call)}  # type: ignore[attr-defined]  # called by name alone
    assert used <= {*SIMPLE, "where"}
    given = arguments(signature_of(op), torch.float64)
    wanted = overload_named(op)(**given)
    found = computed(lines, given).to(wanted.dtype)
    torch.testing.assert_close(found, wanted, rtol=3e-7, atol=3e-8, equal_nan=True)


def test_what_no_definition_says_is_named() -> None:
    with pytest.raises(UntranslatableError, match="lgamma"):
        spelled(statements("aten::lgamma"), SIMPLE)


@pytest.mark.parametrize("op", sorted(TABLE))
def test_an_expression_uses_nothing_but_its_words(op: str) -> None:
    s = signature_of(op)
    assert s.pointwise
    assert s.op == op
    assert functions(op) <= FUNCTIONS
    bound = {name for name, _ in statements(op)}
    known = {a.name for a in s.arguments} | bound | CONSTANTS
    assert names_of(statements(op)) - FUNCTIONS <= known
    assert statements(op)[-1][0] == ""
