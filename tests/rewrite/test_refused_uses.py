"""What a shim asks of a call against what the condition itself asks of its record."""

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from opcheck.model.predicates import (
    ArgumentValue,
    Bound,
    Dtype,
    Fewer,
    Layout,
    More,
    NoneOf,
    NotDivisible,
    Numel,
    OneOf,
    Outside,
    Predicate,
    Rank,
    Remainder,
    Size,
    Unlike,
)
from opcheck.model.trace import TensorMeta, Value
from opcheck.model.verdict import Verdict
from opcheck.rewrite.refused_uses import EVERY, HELPERS, refused_uses
from opcheck.trace.calls.signature import named_arguments
from tests.resolve.made import condition, matrix, node

OP = "aten::addmm"
UNSUPPORTED = Verdict.UNSUPPORTED
TENSORS = (
    torch.ones(3), torch.ones(2, 4), torch.ones(()), torch.ones(2, 3, 5).half(),
    torch.ones(1, 4, dtype=torch.int64), torch.ones(3, 2, dtype=torch.complex64),
)  # fmt: skip
CALLS: list[dict[str, Any]] = [
    {"self": one, "mat1": other, **more}
    for one in TENSORS
    for other in TENSORS
    for more in ({}, {"beta": 2}, {"beta": True}, {"beta": [1, 2]}, {"beta": torch.float16})
]


def listed(*items: str) -> tuple[Bound, Bound]:
    return OneOf(frozenset(items)), NoneOf(frozenset(items))


TESTS: list[Predicate] = [
    *(Dtype(name, bound) for name in ("self", "*") for bound in listed("float16", "int64")),
    *(Rank("self", bound) for bound in (*listed("1", "2"), Outside(1, 2), Outside(None, 1))),
    *(Numel("mat1", bound) for bound in (Outside(2), NotDivisible(4), Remainder(3, 2))),
    *(Size("self", bound, dim=-1) for bound in (*listed("4"), Outside(4, 4), NotDivisible(2))),
    Dtype("self", Unlike("mat1")),
    Rank("self", Unlike("mat1")),
    Size("self", Unlike("mat1"), dim=1),
    *(Size("self", bound, dim=-1) for bound in (Fewer("mat1"), More("mat1"))),
    *(Rank("mat1", bound) for bound in (Fewer("self"), More("self"))),
    *(ArgumentValue("beta", bound, default="1") for bound in listed("1", "True")),
    *(ArgumentValue("beta", bound) for bound in (*listed("[1, 2]", "float16"), Outside(None, 1))),
]


def asked(refused: str, given: Mapping[str, Any]) -> bool:
    space: dict[str, Any] = {"torch": torch, "given": given}
    exec(HELPERS, space)
    return bool(eval(f"({refused})", space))


def recorded(given: Mapping[str, Any]) -> dict[str, Value]:
    found = dict(named_arguments(tuple(given), tuple(given.values()), {}))
    return {
        name: replace(value, host=False) if isinstance(value, TensorMeta) else value
        for name, value in found.items()
    }


@pytest.mark.parametrize("predicate", TESTS)
def test_a_shim_asks_what_the_condition_asks(predicate: Predicate) -> None:
    refused = refused_uses(
        matrix(OP, conditions={OP: [condition(UNSUPPORTED, predicate)]}), OP
    )  # fmt: skip
    found = []
    for given in CALLS:
        there = {n: v.to("meta") if isinstance(v, Tensor) else v for n, v in given.items()}
        met = predicate.match(node(OP, given=recorded(there))) is not None
        assert asked(refused, there) is met, there
        found.append(met)
    assert set(found) == {True, False}


def test_any_of_the_conditions_is_enough_and_all_tests_of_one_are_needed() -> None:
    both = condition(
        UNSUPPORTED, Dtype("self", OneOf(frozenset({"float16"}))), Rank("mat1", Outside(2))
    )
    other = condition(Verdict.FALLBACK, Dtype("self", OneOf(frozenset({"int64"}))))
    caution = condition(Verdict.NATIVE, Dtype("self", OneOf(frozenset({"float32"}))))
    refused = refused_uses(matrix(OP, conditions={OP: [both, other, caution]}), OP)
    half, flat = torch.ones(1).half(), torch.ones(1)
    assert not asked(refused, {"self": half, "mat1": torch.ones(2, 2)})
    assert asked(refused, {"self": half, "mat1": flat})
    assert asked(refused, {"self": flat.long(), "mat1": flat})
    assert not asked(refused, {"self": flat, "mat1": flat})


def test_what_a_call_gives_is_found_without_computing_it() -> None:
    truth = Dtype("return", OneOf(frozenset({"bool"})))
    found = refused_uses(
        matrix(
            "aten::mul.Tensor", conditions={"aten::mul.Tensor": [condition(UNSUPPORTED, truth)]}
        ),
        "aten::mul.Tensor",
    )
    flags = torch.ones(2, dtype=torch.bool)
    assert asked(found, {"self": flags, "other": flags})
    assert not asked(found, {"self": flags, "other": torch.ones(2)})
    assert not asked(found, {"self": flags, "other": 1.0})


def test_where_the_chip_itself_is_the_condition_every_use_is_refused() -> None:
    known = [condition(UNSUPPORTED, Rank("self", Outside(2))), condition(UNSUPPORTED)]
    assert refused_uses(matrix(OP, conditions={OP: known}), OP) == EVERY


def test_what_cannot_be_asked_and_what_holds_of_all_overloads_is_left_out() -> None:
    layout = condition(UNSUPPORTED, Layout("self", OneOf(frozenset({"strided"}))))
    everywhere = condition(UNSUPPORTED, Dtype("*", OneOf(frozenset({"float64"}))))
    assert refused_uses(matrix(OP, conditions={OP: [layout], "*": [everywhere]}), OP) == ""
