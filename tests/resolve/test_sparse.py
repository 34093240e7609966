"""What is said of calls on sparse tensors, by what the vendor lists of their layout."""

import pytest
from msgspec.structs import replace

from opcheck.model.matrix import SupportMatrix
from opcheck.model.sparse import Inside, SparseKernels
from opcheck.model.trace import Composite, Constant, Node
from opcheck.model.verdict import Verdict
from opcheck.resolve.findings import resolve
from tests.resolve import made

COO = SparseKernels({"aten::add.Tensor": made.LISTED}, frozenset({"aten::mul.Tensor"}), ())


def call(op: str, dtype: str = "float32", composite: Composite | None = None) -> Node:
    given = {"self": Constant("other", f"sparse_coo {dtype}[2, 3]")}
    return made.node(op, given=given, composite=composite)


def answer(
    node: Node, layouts: dict[str, SparseKernels]
) -> tuple[Verdict, str, str, tuple[str, ...]]:
    matrix: SupportMatrix = replace(made.matrix("aten::dense"), sparse=layouts)
    (finding,) = resolve(made.trace(node), matrix, explained=True).findings
    return finding.verdict, finding.reason.code, finding.reason.text, finding.steps[:-1]


@pytest.mark.parametrize(
    ("op", "dtype", "expected"),
    [
        (
            "aten::add.Tensor", "float32",
            (Verdict.NATIVE, "registered",
             "the vendor registers a kernel for aten::add.Tensor of sparse_coo tensors",
             ("kernel: registered for aten::add.Tensor of sparse_coo tensors",)),
        ),
        (
            "aten::add.Tensor", "int32",
            (Verdict.UNKNOWN, "sparse-kernels-not-known",
             "the vendor registers a kernel for aten::add.Tensor of sparse_coo tensors; "
             "nobody has said whether it takes int32",
             ("kernel: not known to take int32",)),
        ),
        (
            "aten::mul.Tensor", "float32",
            (Verdict.UNKNOWN, "sparse-kernels-not-known",
             "nobody has said whether vendor has a kernel for aten::mul.Tensor of sparse_coo "
             "tensors",
             ("kernel: none is registered for aten::mul.Tensor of sparse_coo tensors",
              "host: not known for sparse_coo tensors")),
        ),
        (
            "aten::dense", "float32",
            (Verdict.UNSUPPORTED, "layout-not-supported",
             "vendor registers no kernel for aten::dense of sparse_coo tensors",
             ("kernel: none is registered for aten::dense of sparse_coo tensors",
              "host: a fallback takes no sparse_coo tensors")),
        ),
    ],
)  # fmt: skip
def test_a_sparse_tensor_needs_a_kernel_of_its_layout(
    op: str, dtype: str, expected: tuple[Verdict, str, str, tuple[str, ...]]
) -> None:
    assert answer(call(op, dtype), {"sparse_coo": COO}) == expected


def test_of_a_layout_without_a_list_nothing_is_known() -> None:
    assert answer(call("aten::add.Tensor"), {"sparse_csr": COO})[:2] == (
        Verdict.UNKNOWN,
        "sparse-kernels-not-known",
    )


@pytest.mark.parametrize(
    ("inside", "on_host", "expected"),
    [
        (
            Inside(("aten::addmm",), ()), (),
            (Verdict.UNSUPPORTED, "layout-not-supported",
             "the kernel for aten::mm of sparse_coo tensors is PyTorch's and asks for aten::addmm, "
             "which vendor registers no kernel for",
             ("kernel: it asks for aten::addmm, which has none",)),
        ),
        (
            Inside(("aten::addmm",), ()), ("aten::addmm",),
            (Verdict.FALLBACK, "host-fallback",
             "vendor registers no kernel for aten::addmm, so every call runs on the host CPU",
             ("host: a CPU kernel takes it",)),
        ),
        (
            Inside((), ()), (),
            (Verdict.UNKNOWN, "sparse-kernels-not-known",
             "nobody has said what the kernel for aten::mm of sparse_coo tensors asks vendor for",
             ("kernel: not known what it asks for",)),
        ),
        (
            Inside(("aten::mm",), (), both=("aten::addmm",)), (),
            (Verdict.NATIVE, "registered",
             "the vendor registers a kernel for aten::mm of sparse_coo tensors",
             ("kernel: registered for aten::mm of sparse_coo tensors",)),
        ),
    ],
)  # fmt: skip
def test_a_shared_kernel_runs_where_what_it_asks_for_does(
    inside: Inside, on_host: tuple[str, ...], expected: tuple[Verdict, str, str, tuple[str, ...]]
) -> None:
    kernels = SparseKernels(
        {"aten::mm": made.LISTED}, frozenset(), (), {"aten::mm": inside}, on_host=frozenset(on_host)
    )
    assert answer(call("aten::mm"), {"sparse_coo": kernels}) == expected


def test_a_fallback_of_the_vendors_may_take_sparse_tensors() -> None:
    kernels = SparseKernels({}, frozenset(), (), on_host=frozenset(["aten::mul.Tensor"]))
    assert answer(call("aten::mul.Tensor"), {"sparse_coo": kernels})[:2] == (
        Verdict.FALLBACK,
        "host-fallback",
    )
    assert answer(call("aten::mm"), {"sparse_coo": kernels})[0] is Verdict.UNSUPPORTED


def test_a_composite_that_is_there_to_raise_serves_no_sparse_tensor() -> None:
    node = call("aten::is_coalesced", composite=Composite.EXPLICIT)
    assert answer(node, {"sparse_coo": COO})[:2] == (Verdict.UNSUPPORTED, "no-kernel")
    assert answer(node, {})[:2] == (Verdict.UNKNOWN, "sparse-kernels-not-known")


def test_what_the_dense_kernel_does_is_not_said_of_a_layout_without_one() -> None:
    remark = made.condition(Verdict.NATIVE, code="computes-in-tf32", text="in TF32")
    dense = made.matrix("aten::dense", conditions={"aten::dense": [remark]})
    matrix = replace(dense, sparse={"sparse_coo": COO})
    (finding,) = resolve(made.trace(call("aten::dense")), matrix).findings
    assert finding.reason.text == "vendor registers no kernel for aten::dense of sparse_coo tensors"
