"""Kinds of operators are told from their names."""

import pytest

from opcheck.lang.speech import Language, speaking, tell
from opcheck.views.html.heat_map import OTHER, family


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("aten::scaled_dot_product_attention", "attention"),
        ("aten::conv2d", "convolution"),
        ("aten::convolution_backward", "convolution"),
        ("aten::native_layer_norm", "normalization"),
        ("aten::empty_like", "creation"),
        ("aten::arange.start", "creation"),
        ("aten::lstm.input", "recurrent"),
        ("aten::linear", "matrix product"),
        ("aten::mm", "matrix product"),
        ("aten::linalg_vector_norm", "reduction"),
        ("aten::linalg_inv_ex", "linear algebra"),
        ("aten::view_as_complex", "spectral"),
        ("aten::view", "shape"),
        ("aten::max_pool2d", "pooling and resizing"),
        ("aten::max.dim", "reduction"),
        ("aten::maximum", "elementwise"),
        ("aten::normal_", "random"),
        ("aten::nonzero", "sort and search"),
        ("aten::is_nonzero", "read by Python"),
        ("aten::index_put_", "indexing"),
        ("aten::_foreach_add_.Scalar", "optimizer"),
        ("aten::_to_copy", "copy and convert"),
        ("aten::add_.Tensor", "elementwise"),
        ("torchvision::nms", "torchvision"),
        ("aten::brand_new_thing", OTHER),
        ("no operator at all", "no operator at all"),
        ("", OTHER),
    ],
)
def test_family(op: str, expected: str) -> None:
    assert family(op) == expected


@pytest.mark.parametrize("op", ["aten::max.dim", "aten::linalg_vector_norm", "aten::mm"])
def test_a_family_has_a_name_in_each_language(op: str) -> None:
    with speaking(Language.CHINESE):
        assert tell(family(op)) != family(op)
