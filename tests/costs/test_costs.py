"""The calls that a target runs of a trace, the least time for them, and the memory they need."""

import pytest
from msgspec.structs import replace

from opcheck.costs.calls import TargetCalls, memory_need
from opcheck.costs.roofline import Bound, Leaf, Limit, MemoryNeed, Roof, product_of, roof_of, summed
from opcheck.errors import UsageError
from opcheck.model.costs import Chip, Costs, Figure, Grade, NodeCost, Product
from opcheck.model.trace import Composite, Node, Phase, Trace, Use
from opcheck.model.verdict import Verdict
from tests.resolve.made import matrix, node, tensor, trace

IMPLICIT = Composite.IMPLICIT


def costed(
    *nodes: Node, costs: tuple[NodeCost, ...], uses: tuple[Use, ...] = (), **memory: object
) -> Trace:
    made = trace(*nodes, uses=uses or None)
    live = memory.pop("live", (0,) * len(made.sequence))
    held = {"weights": 0, "trained": 0, "buffers": 0, "inputs": 0} | memory
    return replace(made, costs=Costs(costs, live, **held))  # type: ignore[arg-type]  # by name


LINEAR = (
    node("aten::mm"),
    node("aten::t"),
    node("aten::linear", 0, 1, composite=IMPLICIT),
)
COSTS = (NodeCost(100, 0, 40, 20), NodeCost(0, 0, 0, 0), NodeCost(100, 0, 40, 20))


def names(running: TargetCalls) -> tuple[tuple[str, int], ...]:
    return tuple((leaf.op, leaf.count) for leaf in running.leaves())


def test_a_composite_counts_as_itself_or_as_its_parts_never_as_both() -> None:
    found = costed(*LINEAR, costs=COSTS, uses=(Use(2, "net.*", "", 0, 3),))
    taken_apart = TargetCalls(found, matrix("aten::mm", "aten::t"))
    assert names(taken_apart) == (("aten::mm", 3), ("aten::t", 3))
    whole = TargetCalls(found, matrix("aten::linear", "aten::mm", "aten::t"))
    assert names(whole) == (("aten::linear", 3),)


def test_a_part_that_several_parts_call_is_counted_for_each() -> None:
    nodes = (
        node("aten::mm"),
        replace(node("aten::inner", composite=IMPLICIT), children=((0, 2),)),
        replace(node("aten::outer", composite=IMPLICIT), children=((1, 3), (0, 1))),
    )
    costs = (COSTS[0],) * 3
    found = costed(*nodes, costs=costs)
    assert names(TargetCalls(found, matrix("aten::mm"))) == (("aten::mm", 7),)


def test_what_no_kernel_takes_is_a_leaf_with_its_verdict() -> None:
    found = costed(node("aten::nonzero"), costs=COSTS[:1])
    (leaf,) = TargetCalls(found, matrix()).leaves()
    assert leaf == Leaf(
        0, 0, "aten::nonzero", 1, "float32", Verdict.FALLBACK, COSTS[0], Phase.FORWARD, "net"
    )


def leaf(
    op: str = "aten::mm",
    flops: int | None = 1000,
    moved: int = 100,
    dtype: str = "float16",
    verdict: Verdict = Verdict.NATIVE,
) -> Leaf:
    return Leaf(0, 0, op, 2, dtype, verdict, NodeCost(flops, 0, moved, 0))


ROOF = Roof(10.0, {"float16": 50.0, "float32": 5.0, "tf32": 20.0}, tf32_products=False)


@pytest.mark.parametrize(
    ("made", "roof", "bound"),
    [
        (leaf(), ROOF, Bound(40.0, Limit.COMPUTE)),
        (leaf(moved=300), ROOF, Bound(60.0, Limit.BANDWIDTH)),
        (leaf(flops=0), ROOF, Bound(20.0, Limit.BANDWIDTH)),
        (leaf(flops=None), ROOF, Bound(20.0, Limit.BANDWIDTH, whole=False)),
        (leaf(dtype="int8"), ROOF, Bound(20.0, Limit.BANDWIDTH, whole=False)),
        (leaf(), Roof(peaks={"float16": 50.0}), Bound(40.0, Limit.COMPUTE, whole=False)),
        (leaf(), Roof(), Bound(None, Limit.UNKNOWN, whole=False)),
        (leaf(flops=0, moved=0), Roof(), Bound(0.0, Limit.UNKNOWN)),
        (leaf(verdict=Verdict.FALLBACK), ROOF, Bound(None, Limit.HOST, whole=False)),
        (leaf(dtype="float32"), ROOF, Bound(400.0, Limit.COMPUTE)),
        (leaf("aten::convolution", dtype="float32"), ROOF, Bound(100.0, Limit.COMPUTE)),
        (
            leaf(dtype="float32"),
            replace(ROOF, tf32_products=True),
            Bound(100.0, Limit.COMPUTE),
        ),
        (
            leaf(dtype="float8_e4m3fn"),
            Roof(10.0, {"float8": 2000.0}),
            Bound(20.0, Limit.BANDWIDTH),
        ),
    ],
)
def test_calls_take_as_long_as_the_slower_of_two_needs(
    made: Leaf, roof: Roof, bound: Bound
) -> None:
    assert roof.bound(made) == bound


def test_bounds_add_up_and_are_no_more_whole_than_their_parts() -> None:
    parts = [Bound(1.0, Limit.COMPUTE), Bound(3.0, Limit.BANDWIDTH), Bound(1.5, Limit.COMPUTE)]
    assert summed(parts) == Bound(5.5, Limit.BANDWIDTH)
    assert summed([*parts, Bound(None, Limit.HOST, whole=False)]) == Bound(
        5.5, Limit.BANDWIDTH, whole=False
    )
    assert summed([Bound(None, Limit.UNKNOWN, whole=False)] * 2) == Bound(
        None, Limit.UNKNOWN, whole=False
    )


def figure(value: float) -> Figure:
    return Figure(value, Grade.VENDOR)


SMALL = Product("X 40GB", figure(40), figure(1555), {"float16": figure(312)})
LARGE = Product("X 80GB", figure(80), figure(2039), {"float16": figure(312)})


def test_the_fastest_product_is_meant_unless_one_is_named_or_stands_for_all() -> None:
    chip = Chip("vendor", "x", "Vendor X", (SMALL, LARGE))
    assert product_of(chip) is LARGE
    assert product_of(chip, "x-40gb") is SMALL
    assert product_of(replace(chip, default="X 40GB")) is SMALL
    assert product_of(replace(chip, products=())) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [("Y", "'Y' is no product of Vendor X"), ("X", "'X' is more than one product of Vendor X")],
)
def test_a_product_that_is_not_known_is_refused(name: str, message: str) -> None:
    chip = Chip("vendor", "x", "Vendor X", (SMALL, LARGE))
    with pytest.raises(UsageError) as caught:
        product_of(chip, name)
    assert (caught.value.message, caught.value.hint) == (message, "known: X 40GB, X 80GB")


def test_no_rate_is_made_up() -> None:
    assert roof_of(None, "npu") == Roof()
    assert roof_of(replace(SMALL, bandwidth=None), "cuda") == Roof(
        None, {"float16": 312}, tf32_products=False
    )


def test_memory_is_what_is_needed_at_the_worst_moment() -> None:
    uses = tuple(Use(0, "", "", 0, 1, phase) for phase in Phase)
    found = costed(
        node("aten::mm"), costs=COSTS[:1], uses=uses, live=(50, 70, 100), weights=10, trained=10,
        buffers=1, inputs=4, gradients=((1, 10), (2, 7)), states=40,
    )  # fmt: skip
    # backward of a later step: what lived in it, and the states, but not the last gradient
    assert memory_need(TargetCalls(found, matrix("aten::mm"))) == MemoryNeed(
        weights=10, buffers=1, inputs=4, activations=60, gradients=10, states=40,
        phase=Phase.BACKWARD,
    )  # fmt: skip
    assert memory_need(TargetCalls(found, matrix("aten::mm"))).total == 10 + 1 + 4 + 70 + 40


def test_memory_inside_of_a_composite_is_needed_where_it_is_taken_apart() -> None:
    costs = (COSTS[0], COSTS[1], replace(COSTS[2], inside=1000))
    found = costed(*LINEAR, costs=costs, live=(50,))
    apart = memory_need(TargetCalls(found, matrix("aten::mm", "aten::t")))
    whole = memory_need(TargetCalls(found, matrix("aten::linear")))
    assert (apart.activations, whole.activations) == (1050, 50)


def test_a_leaf_computes_in_the_dtype_of_its_first_floating_tensor() -> None:
    given = {"indices": tensor("int64", 3), "weight": tensor("bfloat16", 5, 4)}
    nodes = (node("aten::embedding", given=given), node("aten::arange", given={"end": 5}))
    uses = (Use(0, "", "", 0, 1), Use(1, "", "", 0, 1))
    found = costed(*nodes, costs=COSTS[:2], uses=uses)
    leaves = TargetCalls(found, matrix("aten::embedding", "aten::arange")).leaves()
    assert [each.dtype for each in leaves] == ["bfloat16", "float32"]
