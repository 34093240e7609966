"""Ascend: what op-plugin's kernels and those of CANN refuse, as conditions match calls."""

import pytest

from opcheck.db.store import Database
from opcheck.model.matrix import WRONG
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.conditions import matches

FUSED, ATTENTION = "aten::_fused_adamw_", "aten::scaled_dot_product_attention"


def tensor(dtype: str, *shape: int) -> TensorMeta:
    """A contiguous tensor."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return TensorMeta(dtype, shape, tuple(strides[: len(shape)]))


def refused(database: Database, target: str, op: str, **arguments: Value) -> list[str]:
    """Codes of what a target refuses of a call, in the matrix's order."""
    matrix = database.matrix(database.resolve(TargetSpec.parse(target)))
    node = Node(OpName.parse(op), tuple(arguments.items()))
    return [
        condition.code
        for condition in matrix.conditions_for(op)
        if condition.verdict is Verdict.UNSUPPORTED and matches(condition, node) is not None
    ]


@pytest.mark.parametrize("release", ["6.0.0", "7.3.0", "26.1.0"])
@pytest.mark.parametrize(
    ("chip", "dtype", "expected"),
    [
        ("910b", "float32", []),
        ("910b", "bfloat16", []),
        ("910b", "float64", ["dtype-not-supported"]),
        ("910c", "float64", ["dtype-not-supported"]),
        ("310p", "float32", ["not-supported-on-chip"]),
        ("910a", "float16", ["not-supported-on-chip"]),
    ],
)
def test_fused_adamw_is_for_chips_and_dtypes_that_its_kernel_has(
    database: Database, release: str, chip: str, dtype: str, expected: list[str]
) -> None:
    found = refused(database, f"ascend-{chip}@{release}", FUSED, self=(tensor(dtype, 3),))
    assert found == expected


@pytest.mark.parametrize("release", ["6.0.0", "7.3.0", "26.1.0"])
@pytest.mark.parametrize(
    ("dtype", "heads", "of_values", "mask", "expected"),
    [
        ("float16", 64, 128, None, ["size-not-supported"]),
        ("float16", 64, 128, tensor("bool", 8, 8), ["size-not-supported"]),
        # computed apart, by operators that take it
        ("float16", 64, 128, tensor("float16", 8, 8), []),
        ("float16", 640, 768, None, []),
        # as in multi-head latent attention
        ("bfloat16", 192, 128, None, []),
        ("float32", 64, 64, None, []),
    ],
)
def test_fused_attention_refuses_values_wider_than_queries(
    database: Database,
    release: str,
    dtype: str,
    heads: int,
    of_values: int,
    mask: TensorMeta | None,
    expected: list[str],
) -> None:
    query, value = tensor(dtype, 1, 4, 8, heads), tensor(dtype, 1, 4, 8, of_values)
    found = refused(
        database,
        f"ascend-910b@{release}",
        ATTENTION,
        query=query,
        key=query,
        value=value,
        attn_mask=mask,
    )
    assert found == expected


@pytest.mark.parametrize("target", ["ascend-910b@7.3.0", "ascend-910b@26.1.0"])
def test_wrong_results_are_harmful(database: Database, target: str) -> None:
    """That a plan looks for another way, and that training tells it of a composite."""
    matrix = database.matrix(database.resolve(TargetSpec.parse(target)))
    found = {
        condition.code: condition.harmful
        for op in ("aten::searchsorted.Tensor", "aten::argmin")
        for condition in matrix.conditions_for(op)
        if condition.code in WRONG
    }
    ignored = {"keepdim-ignored": True}
    newest = target.endswith("26.1.0")
    assert found == (ignored if newest else {**ignored, "side-ignored": True})


@pytest.mark.parametrize("release", ["5.0.0", "7.1.0", "7.3.0"])
@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        ("float16", "float8_e4m3fn", ["dtype-not-supported"]),
        ("float8_e5m2", "float32", ["dtype-not-supported"]),
        ("float8_e4m3fn", "float8_e4m3fn", []),
        ("float16", "float32", []),
    ],
)
def test_a_cast_to_or_from_float8_has_no_dtype_of_acl(
    database: Database, release: str, given: str, wanted: str, expected: list[str]
) -> None:
    target = f"ascend-910b@{release}"
    found = refused(database, target, "aten::to.dtype", self=tensor(given, 2, 3), dtype=wanted)
    assert found == expected
