"""The page of proved exports has what the command says, and its rewrites change no values."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from benchmarks.exports.proofs import BEFORE, MODELS, PATH, page
from opcheck.source.building import torchvision_operators

VERSIONS = {"torch": "2.13.0", "onnxruntime": "1.32.0"}


def found(model: str, stage: str, predicted: bool | None, error: str = "") -> dict[str, Any]:
    outputs = [{"largest": 1.5e-7}, {"largest": 3e-8}] if stage == "proved" else []
    return {
        "model": model, "stage": stage, "error": error, "predicted": predicted,
        "versions": VERSIONS, "operators": {"Gemm": 2, "Relu": 1}, "outputs": outputs,
    }  # fmt: skip


def test_a_row_has_the_largest_difference_and_what_the_scan_said() -> None:
    written = page([found("timm:x", "proved", True)], [found("y.py:y", "capture", None, "a | b")])
    assert "| `timm:x` | proved | 3 | 1.5e-07 | it runs |" in written
    assert "| `y.py:y` | capture | a \\| b | unknown |" in written
    assert "Versions: torch 2.13.0, onnxruntime 1.32.0." in written


def test_the_page_has_every_model() -> None:
    lines = PATH.read_text(encoding="utf-8").splitlines()
    names = [line.split("`")[1] for line in lines if line.startswith("| `")]
    assert names == [name.rpartition(".py:")[2] for name in (*MODELS, *BEFORE)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["retinanet", "fcos"])
def test_a_rewritten_detector_finds_the_same(name: str) -> None:
    torchvision_operators.prepare()
    from benchmarks.exports import proved_models

    torchvision_operators.settle()
    torchvision_operators.compute()
    make: Callable[[], Any] = getattr(proved_models, name)
    torch.manual_seed(0)
    model, inputs = make()
    with torch.no_grad():
        (before,) = model(*inputs)
        model.__class__ = proved_models.FIXED[name]
        (after,) = model(*inputs)
    assert len(before["boxes"]) > 0
    assert all(torch.equal(before[key], after[key]) for key in before)
