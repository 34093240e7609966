"""The dispatcher's rule on hand-made nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from opcheck.model.matrix import Fallback, SupportMatrix
from opcheck.model.trace import Composite, Node, TensorMeta
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.resolve import made

SCALAR = TensorMeta("float32", (), (), host=True)
EXPLICIT, STRUCTURED = Composite.EXPLICIT, Composite.NON_FUNCTIONAL


def last(matrix: SupportMatrix, *nodes: Node) -> Resolution:
    return Walk(nodes, matrix, "2.9.0").resolution(len(nodes) - 1)


def test_registered_is_native_with_its_evidence() -> None:
    resolution = last(made.matrix("aten::add.Tensor"), made.node("aten::add.Tensor"))
    assert (resolution.verdict, resolution.code, resolution.evidence) == (
        Verdict.NATIVE,
        "registered",
        (made.LISTED,),
    )


def test_what_rests_on_inferred_evidence_alone_is_not_sure() -> None:
    inferred = (replace(made.LISTED, method=Method.INFERRED),)
    matrix = made.matrix("aten::add.Tensor")
    entry = replace(matrix.entries["aten::add.Tensor"], evidence=inferred)
    fallback = Fallback(False, "", inferred)
    matrix = replace(matrix, entries={"aten::add.Tensor": entry}, fallback=fallback)
    known = last(matrix, made.node("aten::add.Tensor"))
    assert (known.verdict, known.confidence) == (Verdict.NATIVE, Confidence.LOW)
    missing = last(matrix, made.node("aten::sub.Tensor"))
    assert (missing.verdict, missing.confidence) == (Verdict.UNSUPPORTED, Confidence.LOW)


def test_registered_wins_over_a_composite() -> None:
    inner = made.node("aten::missing", cpu=False)
    outer = made.node("aten::outer", 0, composite=EXPLICIT)
    assert last(made.matrix("aten::outer"), inner, outer).verdict is Verdict.NATIVE


def test_structured_functional_is_native_through_its_out() -> None:
    nodes = (
        made.node("aten::empty.memory_format"),
        made.node("aten::gelu.out"),
        made.node("aten::gelu", 0, 1, composite=STRUCTURED),
    )
    resolution = last(made.matrix("aten::empty.memory_format", "aten::gelu.out"), *nodes)
    assert (resolution.verdict, resolution.code) == (Verdict.NATIVE, "registered-through-out")
    assert "aten::gelu.out" in resolution.text
    assert resolution.leaves == {"aten::empty.memory_format", "aten::gelu.out"}


def test_structured_functional_falls_back_through_an_unlisted_out() -> None:
    nodes = (made.node("aten::lgamma.out"), made.node("aten::lgamma", 0, composite=STRUCTURED))
    resolution = last(made.matrix(), *nodes)
    assert (resolution.verdict, resolution.code) == (Verdict.FALLBACK, "host-fallback")
    assert resolution.text.startswith("it runs as aten::lgamma.out: ")


def test_composite_of_native_parts_is_decomposed() -> None:
    nodes = (
        made.node("aten::t"),
        made.node("aten::addmm"),
        made.node("aten::linear", 0, 1, composite=Composite.IMPLICIT),
    )
    resolution = last(made.matrix("aten::t", "aten::addmm"), *nodes)
    assert (resolution.verdict, resolution.code) == (Verdict.DECOMPOSED, "decomposes")
    assert resolution.text == "runs as aten::addmm, aten::t, all native"
    assert resolution.leaves == {"aten::t", "aten::addmm"}


def test_composite_that_asks_for_nothing_is_decomposed() -> None:
    resolution = last(made.matrix(), made.node("aten::dropout", composite=Composite.IMPLICIT))
    assert (resolution.verdict, resolution.code) == (Verdict.DECOMPOSED, "no-device-work")


def test_composite_is_as_bad_as_its_worst_part() -> None:
    nodes = (
        made.node("aten::mul.Tensor"),
        made.node("aten::fancy", cpu=False),
        made.node("aten::slow"),
        made.node("aten::outer", 0, 1, 2, composite=EXPLICIT),
    )
    resolution = last(made.matrix("aten::mul.Tensor"), *nodes)
    assert (resolution.verdict, resolution.code) == (Verdict.UNSUPPORTED, "no-kernel-even-on-host")


def test_what_was_not_taken_apart_is_unknown() -> None:
    resolution = last(made.matrix(), made.node("aten::outer", composite=EXPLICIT, opaque=True))
    assert (resolution.verdict, resolution.code) == (Verdict.UNKNOWN, "decomposition-not-seen")


@pytest.mark.parametrize(
    ("fallback", "cpu", "expected"),
    [
        (made.TO_HOST, True, (Verdict.FALLBACK, "host-fallback")),
        (made.TO_HOST, False, (Verdict.UNSUPPORTED, "no-kernel-even-on-host")),
        (made.NONE, True, (Verdict.UNSUPPORTED, "no-kernel")),
    ],
)
def test_missing_kernel(fallback: Fallback, cpu: bool, expected: tuple[Verdict, str]) -> None:
    resolution = last(made.matrix(fallback=fallback), made.node("aten::odd", cpu=cpu))
    assert (resolution.verdict, resolution.code) == expected


def test_composite_kinds_that_a_target_does_not_inherit_are_not_taken_apart() -> None:
    """An XLA device lacks the structured kernels that others have: the host runs the operator."""
    nodes = (made.node("aten::gelu.out"), made.node("aten::gelu", 0, composite=STRUCTURED))
    whole = replace(
        made.matrix("aten::gelu.out"), inherits=frozenset({Composite.IMPLICIT, EXPLICIT})
    )
    resolution = last(whole, *nodes)
    assert (resolution.verdict, resolution.code, resolution.leaves) == (
        Verdict.FALLBACK,
        "host-fallback",
        frozenset(),
    )
    assert last(made.matrix("aten::gelu.out"), *nodes).verdict is Verdict.NATIVE


def test_what_a_graph_compiler_lacks_runs_elsewhere_and_moves_nothing() -> None:
    split = Fallback(False, "", (made.LISTED,), elsewhere="which PyTorch runs on the GPU")
    slow = made.condition(Verdict.FALLBACK, code="validator")
    matrix = made.matrix("aten::topk", conditions={"aten::topk": [slow]}, fallback=split)
    missing = last(matrix, made.node("aten::sorted", cpu=False))
    assert (missing.verdict, missing.code, missing.text, missing.fallback_bytes) == (
        Verdict.FALLBACK,
        "runs-elsewhere",
        "vendor has no converter for aten::sorted, which PyTorch runs on the GPU",
        0,
    )
    host = made.node("aten::topk", composite=EXPLICIT, given={"self": made.tensor(host=True)})
    converted = last(replace(matrix, conditions={}), host)
    assert (converted.code, converted.text) == (
        "registered",
        "the vendor registers a converter for aten::topk (path)",
    )
    refused = last(matrix, made.node("aten::topk"))
    assert (refused.code, refused.fallback_bytes) == ("validator", 0)


def test_a_host_fallback_that_must_be_asked_for_is_named() -> None:
    asked = Fallback(False, "", (made.LISTED,), enable="FALLBACK=1 in the environment")
    resolution = last(made.matrix(fallback=asked), made.node("aten::eig"))
    assert (resolution.verdict, resolution.code, resolution.text) == (
        Verdict.UNSUPPORTED,
        "no-kernel",
        "vendor registers no kernel for aten::eig; the host runs it with FALLBACK=1 in the "
        "environment",
    )
    nowhere = last(made.matrix(fallback=asked), made.node("aten::eig", cpu=False))
    assert "FALLBACK=1" not in nowhere.text


def test_fallback_counts_the_bytes_that_cross() -> None:
    call = made.node(
        "aten::odd",
        given={"self": made.tensor("float32", 4, 8), "scale": SCALAR},
        outputs=(made.tensor("float16", 4),),
    )
    nodes = (call, made.node("aten::outer", 0, composite=EXPLICIT))
    assert last(made.matrix(), call).fallback_bytes == 4 * 8 * 4 + 4 * 2
    assert last(made.matrix(), *nodes).fallback_bytes == 4 * 8 * 4 + 4 * 2


def test_extension_library_says_whether_its_operators_have_a_cpu_kernel() -> None:
    call = made.node("torchvision::nms", cpu=False)
    known = made.matrix(extensions={"torchvision::nms": True})
    assert last(known, call).verdict is Verdict.FALLBACK
    unknown = last(made.matrix(), call)
    assert (unknown.verdict, unknown.confidence) == (Verdict.UNSUPPORTED, Confidence.MEDIUM)


@pytest.mark.parametrize(
    ("span", "said"), [(("2.10", "2.15"), "does not have"), (("1.12", "2.8"), "no longer has")]
)
def test_overload_that_the_targets_torch_lacks_is_unknown(span: tuple[str, str], said: str) -> None:
    matrix = made.matrix(history={"aten::newer": span})
    nodes = (made.node("aten::newer"), made.node("aten::outer", 0, composite=EXPLICIT))
    resolution = last(matrix, *nodes)
    assert (resolution.verdict, resolution.code) == (Verdict.UNKNOWN, "not-in-target-torch")
    assert said in resolution.text


def test_versions_compare_as_numbers() -> None:
    matrix = made.matrix(history={"aten::odd": ("2.8", "2.10")})
    assert last(matrix, made.node("aten::odd")).verdict is Verdict.FALLBACK


def test_host_tensor_among_device_tensors_is_unsupported() -> None:
    other = made.tensor("float32", 3, host=True)
    call = made.node("aten::add.Tensor", given={"self": made.tensor(), "other": other})
    resolution = last(made.matrix("aten::add.Tensor"), call)
    assert (resolution.verdict, resolution.code) == (Verdict.UNSUPPORTED, "host-tensor")


@pytest.mark.parametrize("op", ["aten::index.Tensor", "aten::copy_", "aten::to.device"])
def test_some_operators_take_host_tensors(op: str) -> None:
    other = made.tensor("int64", 3, host=True)
    call = made.node(op, given={"self": made.tensor(), "other": other})
    assert last(made.matrix(op), call).verdict is Verdict.NATIVE


def test_host_scalar_is_no_host_tensor() -> None:
    call = made.node("aten::add.Tensor", given={"self": made.tensor(), "other": SCALAR})
    assert last(made.matrix("aten::add.Tensor"), call).verdict is Verdict.NATIVE


def test_call_on_host_tensors_only_counts_for_what_it_becomes() -> None:
    nodes = (
        made.node("aten::copy_", cpu=False),
        made.node("aten::_to_copy", 0, composite=EXPLICIT, given={"self": made.tensor(host=True)}),
    )
    assert last(made.matrix("aten::_to_copy"), *nodes).verdict is Verdict.UNSUPPORTED


OPS = st.sampled_from(["aten::a", "aten::b", "aten::c"])


@given(children=st.lists(OPS, min_size=1, max_size=4), registered=st.frozensets(OPS))
def test_composite_is_never_better_than_its_worst_part(
    children: list[str], registered: frozenset[str]
) -> None:
    nodes = [made.node(op) for op in children]
    nodes.append(made.node("aten::outer", *range(len(children)), composite=EXPLICIT))
    walk = Walk(nodes, made.matrix(*registered), "2.9.0")
    worst = max(walk.resolution(index).verdict.rank for index in range(len(children)))
    assert walk.resolution(len(children)).verdict.rank == max(worst, Verdict.DECOMPOSED.rank)


def test_of_two_cautions_the_harmful_one_is_told() -> None:
    mild = made.condition(Verdict.NATIVE, code="mild")
    harmful = replace(made.condition(Verdict.NATIVE, code="harmful"), harmful=True)
    for order in ([mild, harmful], [harmful, mild]):
        resolution = Walk(
            [made.node("aten::relu")],
            made.matrix("aten::relu", conditions={"aten::relu": order}),
            "2.9.0",
        ).resolution(0)
        assert (resolution.verdict, resolution.code) == (Verdict.NATIVE, "harmful")
        assert (resolution.harmful, resolution.wants_change) == (True, True)


def test_wrong_values_are_told_before_what_is_slow() -> None:
    slow, wrong = (
        replace(made.condition(Verdict.NATIVE, code=code), harmful=True)
        for code in ("runs-on-aicpu", "side-ignored")
    )
    for order in ([slow, wrong], [wrong, slow]):
        resolution = Walk(
            [made.node("aten::relu")],
            made.matrix("aten::relu", conditions={"aten::relu": order}),
            "2.9.0",
        ).resolution(0)
        assert (resolution.code, resolution.wants_change) == ("side-ignored", True)
