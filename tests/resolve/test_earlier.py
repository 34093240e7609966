"""Overloads that the target's torch does not have yet, in a trace by a newer torch."""

import pytest
from msgspec.structs import replace

from opcheck.model.matrix import Earlier, Inherited, SupportMatrix, Whole
from opcheck.model.trace import Composite, Node
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve.resolution import NO_KERNEL_ANYWHERE as NOWHERE
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.resolve import made

READ = Evidence(Method.INFERRED, "pytorch/pytorch", "attention.cpp", 753)
SAFE, PLAIN, OTHER = "aten::_safe_softmax", "aten::softmax.int", "aten::isneginf"
BEFORE = Earlier((PLAIN,), "attention took a plain softmax", (READ,))
NODES = (
    made.node(PLAIN),
    made.node(OTHER),
    made.node(SAFE, 0, 1, composite=Composite.IMPLICIT),
    made.node("aten::attention", 2, composite=Composite.IMPLICIT),
)


def matrix(*registered: str, first: str = "2.10", earlier: bool = True) -> SupportMatrix:
    """A target with torch 2.9; it has no fallback."""
    history = {SAFE: (first, "2.13")}
    plain = made.matrix(*registered, fallback=made.NONE, history=history)
    return replace(plain, earlier={SAFE: BEFORE}) if earlier else plain


def resolution(on: SupportMatrix, nodes: tuple[Node, ...] = NODES, index: int = 2) -> Resolution:
    return Walk(nodes, on, "2.13.0").resolution(index)


def test_what_the_older_torch_called_counts_alone() -> None:
    found = resolution(matrix(PLAIN))
    assert (found.verdict, found.confidence) == (Verdict.DECOMPOSED, Confidence.MEDIUM)
    assert found.leaves == {PLAIN}
    assert found.text == f"runs as {PLAIN}, native: in torch 2.9, attention took a plain softmax"
    assert found.evidence[0] == READ


LEAF, CAST = "aten::_softmax", "aten::to.dtype_layout"
TRAINED = (
    made.node(LEAF),
    made.node(OTHER),
    made.node(SAFE, 0, 1, composite=Composite.EXPLICIT),
)


def knowing(composite: Composite) -> SupportMatrix:
    """A target with the leaf alone, which knows what the plain one runs as."""
    plain = Inherited(composite, cpu_kernel=True, parts=(LEAF, CAST))
    return replace(matrix(LEAF), inherited={PLAIN: plain})


def test_what_a_composite_ends_in_stands_for_it_in_training() -> None:
    found = resolution(knowing(Composite.IMPLICIT), TRAINED)
    assert (found.verdict, set(found.leaves)) == (Verdict.DECOMPOSED, {LEAF})
    assert found.text == f"runs as {LEAF}, native: in torch 2.9, attention took a plain softmax"


def test_what_an_explicit_composite_runs_as_does_not_stand_for_it() -> None:
    found = resolution(knowing(Composite.EXPLICIT), TRAINED)
    assert (found.verdict, found.code) == (Verdict.UNKNOWN, "not-in-target-torch")


def test_what_is_made_of_it_says_so_too() -> None:
    found = resolution(matrix(PLAIN), index=3)
    assert (found.verdict, found.confidence) == (Verdict.DECOMPOSED, Confidence.MEDIUM)
    assert READ in found.evidence


def test_it_is_no_better_than_what_it_calls() -> None:
    found = resolution(matrix(OTHER))
    assert (found.verdict, found.code) == (Verdict.UNSUPPORTED, "no-kernel")
    assert found.text == (
        f"it runs as {PLAIN}: vendor registers no kernel for {PLAIN} and has no host fallback: "
        "in torch 2.9, attention took a plain softmax"
    )


def test_a_torch_that_has_it_runs_it_as_traced() -> None:
    assert resolution(matrix(PLAIN, first="2.9")).verdict is Verdict.UNSUPPORTED
    assert resolution(matrix(PLAIN, OTHER, first="2.9")).leaves == {PLAIN, OTHER}


@pytest.mark.parametrize(
    ("on", "nodes"),
    [
        (matrix(PLAIN, earlier=False), NODES),
        (matrix(PLAIN), (*NODES[:2], replace(NODES[2], children=((1, 1),)))),
        (matrix(PLAIN), (*NODES[:2], replace(NODES[2], children=None))),
    ],
)
def test_what_nobody_says_is_unknown(on: SupportMatrix, nodes: tuple[Node, ...]) -> None:
    found = resolution(on, nodes)
    assert (found.verdict, found.code) == (Verdict.UNKNOWN, "not-in-target-torch")


def test_one_that_was_removed_is_not_one_that_is_to_come() -> None:
    on = replace(matrix(PLAIN), history={SAFE: ("1.12", "2.8")})
    assert resolution(on).verdict is Verdict.UNKNOWN


GROUPED = made.node("aten::grouped", 0, composite=Composite.EXPLICIT)
WHOLE = {"aten::grouped": Whole("2.8", "2.9", cpu_kernel=False)}


@pytest.mark.parametrize(("last", "verdict"), [("2.8", "decomposed"), ("2.9", "unsupported")])
def test_a_composite_is_one_from_the_torch_on_that_has_it(last: str, verdict: str) -> None:
    whole = {"aten::grouped": Whole("2.8", last, cpu_kernel=True)}
    on = replace(made.matrix(PLAIN, fallback=made.NONE), whole=whole)
    assert resolution(on, (NODES[0], GROUPED), 1).verdict.value == verdict


@pytest.mark.parametrize(("cpu", "code"), [(True, "host-fallback"), (False, NOWHERE)])
def test_the_host_runs_one_that_was_no_composite_if_it_had_a_kernel(cpu: bool, code: str) -> None:
    whole = {"aten::grouped": Whole("2.8", "2.9", cpu_kernel=cpu)}
    on = replace(made.matrix(PLAIN), whole=whole)
    assert resolution(on, (NODES[0], GROUPED), 1).code == code


LISTS = made.node("aten::_foreach_grouped_", 0, composite=Composite.EXPLICIT)


@pytest.mark.parametrize(
    ("key", "verdict"),
    [("MPS", "unsupported"), ("XLA", "unsupported"), ("PrivateUse1", "decomposed")],
)
def test_lists_count_as_kernels_where_optimizers_do_not_ask_for_them(
    key: str, verdict: str
) -> None:
    whole = {"aten::_foreach_grouped_": WHOLE["aten::grouped"]}
    on = replace(made.matrix(PLAIN, fallback=made.NONE), whole=whole, dispatch_key=key)
    assert resolution(on, (NODES[0], LISTS), 1).verdict.value == verdict


def test_a_kernel_for_one_that_was_no_composite_counts() -> None:
    on = replace(made.matrix("aten::grouped"), whole=WHOLE)
    assert resolution(on, (NODES[0], GROUPED), 1).verdict is Verdict.NATIVE


def test_one_that_was_no_composite_and_was_not_called_runs_as_what_was() -> None:
    whole = {SAFE: Whole("2.8", "2.9", cpu_kernel=False)}
    on = replace(matrix(PLAIN, first="2.8"), whole=whole)
    assert resolution(on).leaves == {PLAIN}


def test_a_kernel_of_the_vendor_s_own_is_asked_first() -> None:
    assert resolution(matrix(SAFE)).verdict is Verdict.NATIVE
