"""What holds of verdicts whatever the tree of calls and the target."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.predicates import Dtype, NoneOf, OneOf
from opcheck.model.trace import Composite, Node
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.resolve import made

OPS = tuple(f"aten::op{i}" for i in range(5))
DTYPES = st.sampled_from([frozenset[str](), frozenset({"float32"}), frozenset({"int64"})])
TESTS = st.builds(
    Dtype,
    st.sampled_from(["*", "self", "return"]),
    st.builds(OneOf, DTYPES) | st.builds(NoneOf, DTYPES),
)
CONDITIONS = st.builds(
    Condition,
    st.sampled_from(["one", "two"]),
    st.sampled_from([v for v in Verdict if v is not Verdict.DECOMPOSED]),
    st.just("text"),
    st.sampled_from(Confidence),
    st.lists(TESTS, max_size=2).map(tuple),
)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Node], SupportMatrix]:
    """Five calls, each a composite of some after it or a leaf, and a target."""
    nodes = []
    for index, op in enumerate(OPS):
        later = range(index + 1, len(OPS))
        children = draw(st.lists(st.sampled_from(later), unique=True)) if later else []
        kind = draw(st.sampled_from(Composite)) if children else None
        lost = bool(children) and draw(st.booleans())
        on_cpu = draw(st.booleans())
        nodes.append(made.node(op, *children, composite=kind, cpu=on_cpu, opaque=lost))
    registered = draw(st.sets(st.sampled_from(OPS)))
    conditions = draw(st.dictionaries(st.sampled_from(OPS), st.lists(CONDITIONS, max_size=2)))
    fallback = draw(st.sampled_from([made.TO_HOST, made.NONE]))
    return nodes, made.matrix(*registered, conditions=conditions, fallback=fallback)


def resolutions(nodes: Sequence[Node], target: SupportMatrix) -> list[Resolution]:
    walk = Walk(nodes, target, "2.9.0")
    return [walk.resolution(index) for index in range(len(nodes))]


def badness(resolution: Resolution) -> int:
    """Decomposed is no worse than native: both stay on the device."""
    return 0 if resolution.verdict.on_device else resolution.verdict.rank


@given(worlds(), st.sampled_from(OPS), st.lists(CONDITIONS, min_size=1, max_size=2))
def test_one_more_condition_never_makes_a_verdict_better(
    world: tuple[list[Node], SupportMatrix], op: str, more: list[Condition]
) -> None:
    nodes, target = world
    conditions = {**target.conditions, op: (*target.conditions_for(op), *more)}
    stricter = replace(target, conditions=conditions)
    for before, after in zip(resolutions(nodes, target), resolutions(nodes, stricter), strict=True):
        assert badness(after) >= badness(before)


@given(worlds())
def test_a_composite_is_never_better_than_its_worst_part(
    world: tuple[list[Node], SupportMatrix],
) -> None:
    nodes, target = world
    found = resolutions(nodes, target)
    for node, resolution in zip(nodes, found, strict=True):
        if str(node.op) not in target.entries and node.children:
            worst = max(badness(found[child]) for child, _ in node.children)
            assert badness(resolution) >= worst


@given(worlds())
def test_only_what_leaves_the_device_moves_bytes(
    world: tuple[list[Node], SupportMatrix],
) -> None:
    nodes, target = world
    for resolution in resolutions(nodes, target):
        assert resolution.fallback_bytes == 0 or not resolution.verdict.on_device
