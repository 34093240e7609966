"""Where float32 is computed in fewer bits than it has, unless a switch is turned."""

import pytest

from opcheck.db.store import Database
from opcheck.model.trace import Node, OpName, TensorMeta
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.vendor_checks import matrix

CONV, MM = "aten::convolution_overrideable", "aten::mm"
HF32, TF32 = "float32-computed-as-hf32", "float32-computed-as-tf32"
BFLOAT16 = "float32-computed-as-bfloat16"


@pytest.mark.parametrize(
    ("target", "op", "code"),
    [
        ("ascend-910b", CONV, HF32), ("ascend-910c@7.1.0", CONV, HF32),
        ("ascend-910b", MM, ""),  # torch.npu.matmul.allow_hf32 is False
        ("ascend-310p", CONV, ""),  # of which an advisory tells for the whole chip
        ("cambricon-mlu590", "aten::_convolution", TF32),
        ("cambricon-mlu370", "aten::_convolution", ""),  # which has no TF32
        ("cambricon-mlu590", MM, ""),
        ("moorethreads-s5000", MM, TF32), ("moorethreads-s4000@2.7.0", CONV, TF32),
        ("moorethreads-s4000@2.5.0", MM, ""),  # off until 2.7.0
        ("moorethreads-s80@2.7.1", MM, ""),
        ("google-tpu-v4", MM, BFLOAT16), ("google-tpu-v5e@r2.5", CONV, BFLOAT16),
    ],
)  # fmt: skip
def test_float32_has_a_caution_and_no_other_dtype(target: str, op: str, code: str) -> None:
    assert _caution(target, op, "float32") == code
    assert _caution(target, op, "float16") == ""


def _caution(target: str, op: str, dtype: str) -> str:
    """The code of the caution on a use that runs; empty where there is none."""
    found = matrix(Database.open(), target)
    tensor = TensorMeta(dtype, (8, 8, 8, 8), (512, 64, 8, 1))
    first = "self" if op == MM else "input"
    node = Node(OpName.parse(op), ((first, tensor),))
    result = Walk([node], found, found.target.torch).resolution(0)
    assert result.verdict is Verdict.NATIVE
    return "" if result.code == "registered" else result.code
