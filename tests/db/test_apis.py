"""Which overloads a documented Python API calls."""

from pathlib import Path

import pytest

from opcheck.db.importers.ascend.tables import argument, overloads
from opcheck.db.importers.shared import operator_list


@pytest.mark.parametrize(
    ("api", "some", "none"),
    [
        ("torch.add", {"add.Tensor", "add.Scalar", "add.out"}, {"add_.Tensor"}),
        ("torch.Tensor.add_", {"add_.Tensor", "add_.Scalar"}, {"add.Tensor"}),
        ("torch.nn.functional.gelu", {"gelu", "gelu.out"}, {"gelu_backward"}),
        ("torch.nn.GELU", {"gelu"}, set()),
        ("torch.nn.Conv2d", {"conv2d", "conv2d.padding"}, {"convolution"}),
        ("torch.nn.CrossEntropyLoss", {"cross_entropy_loss"}, set()),
        ("torch.nn.functional.unfold", {"im2col"}, {"unfold"}),
        ("torch.Tensor.unfold", {"unfold"}, {"im2col"}),
        ("torch.fft.rfftn", {"fft_rfftn"}, set()),
        ("torch.special.erf", {"special_erf"}, {"erf"}),
        ("torch.nn.functional.interpolate", {"upsample_bilinear2d.vec"}, set()),
        ("torch.is_tensor", set(), set()),
        ("torch.nn.utils.clip_grad_norm_", set(), set()),
    ],
)
def test_overloads(sources: Path, api: str, some: set[str], none: set[str]) -> None:
    found = {function.name for function in overloads(api, sources / "pytorch", "2.7")}
    assert some <= found
    assert not none & found
    assert bool(found) == bool(some)


@pytest.mark.parametrize(
    ("name", "documented", "expected"),
    [
        ("abs", "input", "self"),
        ("cat", "input", "tensors"),
        ("conv2d", "input", "input"),
        ("where.self", "input", "self"),
        (
            "embedding",
            "input",
            "",
        ),  # its first tensor is the weight, which the document does not mean
        ("pow.Scalar", "input", ""),  # self is a number there
        ("scaled_dot_product_attention", "query", "query"),
        ("polar", "abs", "abs"),
        ("abs.out", "out", ""),
    ],
)
def test_documented_arguments_in_schema_spelling(
    sources: Path, name: str, documented: str, expected: str
) -> None:
    function = operator_list.functions(sources / "pytorch", "2.7")[name]
    assert argument(function, documented) == expected
