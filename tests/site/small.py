"""The operators of the site that tests look at."""

OPERATORS = (
    "aten::gelu", "aten::_grouped_mm", "aten::conv2d", "aten::special_airy_ai", "aten::topk",
    "torchvision::nms",
)  # fmt: skip
"""A kernel almost everywhere, a new one, a composite, one with a fix, one with an advisory, and
one of another library."""
