"""What is said of ``torch.compile`` in sources, by the back ends that a target has."""

import pytest

from opcheck.model.verdict import Confidence
from tests.lint.helpers import lint


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("torch.compile(f)", "google-tpu-v4", ['unsupported backend="openxla"']),
        ("torch.compile(f)", "cambricon-mlu590@r2.4_develop", ["unsupported"]),
        ("torch.compile(f)", "cambricon-mlu590@r2.3_develop", []),
        ("torch.compile(f)", "nvidia-a100", []),
        ("torch.compile(f)", "hygon-k100", []),
        ("torch.compile(f, backend='npu')", "intel-max", ["unsupported"]),
        ("torch.compile(f, backend='npu')", "ascend-910b@26.1.0+torch2.7", []),
        ("torch.compile(f, mode='reduce-overhead')", "intel-max@2.13.0", ["caution"]),
        ("torch.compile(f, mode='reduce-overhead')", "nvidia-a100@2.13.0", []),
        ("torch.compile(f, backend='eager')", "google-tpu-v4", []),
        ("torch.compile(f, backend=chosen)", "google-tpu-v4", []),
        ("torch.compile(f, disable=True)", "google-tpu-v4", []),
        ("torch.compile(f, **given)", "google-tpu-v4", []),
    ],
)
def test_a_backend_that_the_target_has_not_is_told(
    source: str, target: str, expected: list[str]
) -> None:
    found = lint(f"import torch\n{source}", target).shown
    assert found == [f"torch-compile@2 {how}" for how in expected]


def test_a_decorator_compiles_with_inductor() -> None:
    found = lint("from torch import compile\n@compile\ndef f(x): return x", "apple-mps@2.6.0")
    assert found.shown == ['torch-compile@2 unsupported backend="aot_eager"']
    (told,) = found.findings
    assert (told.text, told.confidence) == (
        'raises with the backend inductor, "Device mps not supported"', Confidence.HIGH,
    )  # fmt: skip
