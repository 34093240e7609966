"""Overloads and calls that no kernel can be written for, and kernels that are written in part."""

from collections.abc import Iterator

import pytest
import torch

from opcheck.model.plan import Declined, Suggestion
from opcheck.model.trace import Node, OpName, TensorMeta
from opcheck.rewrite.custom.signature import complex_numbers, signature
from opcheck.rewrite.custom.suggest import suggested
from tests.resolve.made import NONE, matrix
from tests.rewrite.custom.made import CHAINS
from tests.rewrite.custom.test_expressions import signature_of
from tests.rewrite.reasons import reads


@pytest.fixture
def library() -> Iterator[None]:
    """An overload that writes to what it is given, without one that gives it as a result."""
    made = torch.library.Library("opcheck_test_signature", "DEF")
    made.define("fill(Tensor(a!) x) -> ()")
    made.define("size(Tensor x) -> int")
    yield
    made._destroy()


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("opcheck_test_signature::fill",
         "it changes what it is given, and no overload gives that as a new result"),
        ("aten::_native_batch_norm_legit",
         "it changes what it is given, and no overload gives that as a new result"),
        ("opcheck_test_signature::size", "what it gives is no tensor"),
        ("aten::bernoulli",
         "it draws random numbers, from a generator that only the vendor's plugin has"),
        ("aten::pow.Scalar", "its first argument is no tensor, so that its device is not known"),
        ("aten::cat", "its argument tensors is a Tensor[], which no kernel is given"),
    ],
)  # fmt: skip
def test_an_overload_that_no_kernel_can_stand_for_says_why(op: str, reason: str) -> None:
    found = signature(op)
    assert isinstance(found, str)
    reads(found, reason)


def node(op: str, dtype: str = "float32") -> Node:
    x = TensorMeta(dtype, (3,), (1,))
    return Node(OpName.parse(op), (("self", x),), (x,))


def test_complex_numbers_are_no_kernels() -> None:
    assert complex_numbers([node("aten::neg")]) == ""
    reads(
        complex_numbers([node("aten::neg"), node("aten::neg", "complex64")]),
        "it is called with complex numbers, which the kernels written here do not know",
    )


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("aten::igamma", "no expression for it is known here"),
        ("aten::median",
         "it is neither computed number by number nor a reduction, scan, gather, product or nest "
         "of loops that is known here"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["ascend-c", "bang-c", "musa-c", "metal"])
def test_what_is_left_to_write_of_a_kernel_has_a_reason(name: str, op: str, reason: str) -> None:
    reads(CHAINS[name].body(signature_of(op)).left, reason)


def of_vendor(vendor: str, op: str) -> Suggestion | Declined:
    from msgspec.structs import replace

    made = matrix("aten::empty.memory_format", fallback=NONE)
    return suggested(node(op), replace(made, target=replace(made.target, vendor=vendor)))


def test_a_project_without_the_kernels_function_is_called_that() -> None:
    found = of_vendor("ascend", "aten::median")
    assert isinstance(found, Suggestion)
    reads(
        found.summary,
        "It is no core operator of PyTorch's: write the model without it if you can; else opcheck "
        "fix --custom-op aten::median writes a project for Ascend C, with all but one function of "
        "its kernel (it is neither computed number by number nor a reduction, scan, gather, "
        "product or nest of loops that is known here)",
    )


@pytest.mark.parametrize("vendor", ["ascend", "cambricon", "apple", "nvidia"])
def test_a_project_for_an_operator_of_a_family_has_its_kernel(vendor: str) -> None:
    found = of_vendor(vendor, "aten::cumsum")
    assert isinstance(found, Suggestion)
    assert found.summary.endswith(", with its kernel, to build and to test")


def test_what_one_chip_does_not_keep_the_same_has_a_reason() -> None:
    reads(
        CHAINS["ascend-c"].body(signature_of("aten::scatter_add")).left,
        "numbers that are scattered one by one share lines of the cache, which cores do not keep "
        "the same for each other",
    )


def test_a_vendor_that_takes_no_kernels_is_declined() -> None:
    found = of_vendor("nvidia-tensorrt", "aten::cumsum")
    assert isinstance(found, Declined)
    reads(
        found.reason,
        "TensorRT takes plugins and converters, not kernels; PyTorch runs what it does not "
        "convert on the same GPU",
    )
