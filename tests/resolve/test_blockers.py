"""Each thing that keeps calls of a model off a target, by itself."""

from opcheck.commands.fleet.blockers import blockers
from opcheck.commands.fleet.values import Blocker, Cause
from opcheck.model.matrix import SupportMatrix
from opcheck.model.predicates import Outside, Size
from opcheck.model.trace import Composite, Node, Trace, Use
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.walk import Walk
from tests.resolve import made

HALF = made.condition(Verdict.UNSUPPORTED, made.dtype("float16"), code="dtype")
LONG = made.condition(
    Verdict.UNSUPPORTED, Size("self", Outside(maximum=64)), code="size",
    text="a size is {actual}",
)  # fmt: skip


def found(trace: Trace, on: SupportMatrix) -> tuple[Blocker, ...]:
    return blockers(trace, Walk(trace.nodes, on, trace.torch_version))


def told(trace: Trace, on: SupportMatrix) -> list[tuple[str, Cause, str, int, tuple[str, ...]]]:
    return [(b.op, b.cause, b.code, b.calls, b.called) for b in found(trace, on)]


def outer(*children: int) -> Node:
    return made.node("aten::outer", *children, composite=Composite.IMPLICIT)


def test_a_call_that_runs_as_two_others_is_held_up_by_each_that_is_missing() -> None:
    trace = made.trace(
        made.node("aten::a"), made.node("aten::b"), made.node("aten::c"), outer(0, 1, 2)
    )
    on = made.matrix("aten::b", fallback=made.NONE)
    calls = ("aten::outer",)
    assert told(trace, on) == [
        ("aten::a", Cause.KERNEL, "no-kernel", 1, calls),
        ("aten::c", Cause.KERNEL, "no-kernel", 1, calls),
    ]


def test_what_runs_is_held_up_by_nothing() -> None:
    trace = made.trace(made.node("aten::a"), outer(0))
    assert found(trace, made.matrix("aten::a")) == ()


def test_what_falls_back_is_held_up_by_the_kernel_that_is_missing() -> None:
    (one,) = found(made.trace(made.node("aten::a"), outer(0)), made.matrix())
    assert one == Blocker(
        "aten::a", Cause.KERNEL, "host-fallback", Verdict.FALLBACK,
        "vendor registers no kernel for aten::a, so every call runs on the host CPU",
        Confidence.HIGH, 1, ("aten::outer",), "net", "net.py", 5,
    )  # fmt: skip


def test_calls_of_all_places_are_counted_and_the_first_is_told() -> None:
    inner, over = made.node("aten::a"), outer(0)
    uses = (Use(1, "one", "net.py", 3, 2), Use(0, "two", "net.py", 9, 5))
    (one,) = found(made.trace(inner, over, uses=uses), made.matrix())
    assert (one.calls, one.called) == (7, ("aten::a", "aten::outer"))
    assert (one.module, one.line) == ("one", 3)


def test_every_condition_that_is_broken_has_to_go() -> None:
    half = made.node("aten::a", given={"self": made.tensor("float16", 128)})
    on = made.matrix("aten::a", conditions={"aten::a": [HALF, LONG]})
    first, second = found(made.trace(half), on)
    assert (first.code, first.cause, first.text) == (
        "dtype", Cause.CONDITION, "self is float16 on chip",
    )  # fmt: skip
    assert (second.code, second.text) == ("size", "a size is …")


def test_numbers_of_one_model_are_left_out_of_what_many_meet() -> None:
    on = made.matrix("aten::a", conditions={"aten::a": [LONG]})
    sizes = [made.node("aten::a", given={"self": made.tensor("float32", n)}) for n in (65, 99)]
    uses = (Use(0, "net", "net.py", 5, 1), Use(1, "net", "net.py", 6, 1))
    (one,) = found(made.trace(*sizes, uses=uses), on)
    assert one.calls == 2


def test_a_condition_and_a_missing_kernel_of_one_call_are_two() -> None:
    half = made.node("aten::outer", 0, composite=Composite.IMPLICIT,
                     given={"self": made.tensor("float16")})  # fmt: skip
    on = made.matrix(conditions={"aten::outer": [HALF]}, fallback=made.NONE)
    assert told(made.trace(made.node("aten::a"), half), on) == [
        ("aten::a", Cause.KERNEL, "no-kernel", 1, ("aten::outer",)),
        ("aten::outer", Cause.CONDITION, "dtype", 1, ("aten::outer",)),
    ]


def test_what_nobody_knows_is_no_missing_kernel() -> None:
    opaque = made.node("aten::a", composite=Composite.IMPLICIT, opaque=True)
    assert told(made.trace(opaque), made.matrix()) == [
        ("aten::a", Cause.UNKNOWN, "decomposition-not-seen", 1, ("aten::a",))
    ]


def test_a_tensor_of_the_host_is_a_condition_of_the_call() -> None:
    mixed = made.node("aten::a", given={
        "self": made.tensor(), "other": made.tensor("float32", 3, host=True),
    })  # fmt: skip
    (one,) = found(made.trace(mixed), made.matrix("aten::a"))
    assert (one.cause, one.code, one.op, one.text) == (
        Cause.CONDITION, "host-tensor", "aten::a", "it meets a tensor of the host",
    )  # fmt: skip


def test_where_the_device_branches_otherwise_that_branch_is_what_counts() -> None:
    from tests.resolve.test_choices import INNER, call, matrix, way

    on = matrix(choices=(way("aten::cudnn_convolution"),))
    trace = made.trace(call(), made.node("aten::outer", 0, composite=Composite.IMPLICIT))
    (one,) = found(trace, on)
    assert (one.op, one.cause, one.called) == (
        "aten::cudnn_convolution", Cause.KERNEL, ("aten::outer",),
    )  # fmt: skip
    assert INNER not in one.op
