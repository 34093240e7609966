"""What can be read off a tensor's sizes and strides."""

import pytest
import torch

from opcheck.model.trace import TensorMeta

TENSORS = {
    "plain": (torch.zeros(2, 3, 4), "contiguous"),
    "scalar": (torch.zeros(()), "contiguous"),
    "empty": (torch.zeros(0, 3).T, "contiguous"),
    "transposed": (torch.zeros(2, 3).T, "permuted"),
    "channels last": (torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last), "permuted"),
    "transposed with a size of one": (torch.zeros(1, 3).T, "contiguous"),
    "a column": (torch.zeros(4, 4)[:, :2], "strided"),
    "every second": (torch.zeros(8)[::2], "strided"),
    "expanded": (torch.zeros(3).expand(2, 3), "strided"),
    "rows": (torch.zeros(4, 4)[1:3], "contiguous"),
}


@pytest.mark.parametrize("name", TENSORS)
def test_layout(name: str) -> None:
    tensor, layout = TENSORS[name]
    meta = TensorMeta("float32", tuple(tensor.shape), tensor.stride())
    assert meta.layout == layout
    assert (meta.layout == "contiguous") == tensor.is_contiguous()
