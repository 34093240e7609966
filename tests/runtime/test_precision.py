"""What is computed in follows the database's facts on the chip; what it does not say is float32."""

import pytest
import torch
from torch import nn

from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.model.target import TargetSpec
from opcheck.runtime.device import DetectedDevice
from opcheck.runtime.precision import Precision, chosen, supported

DATABASE = Database.open()
CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32


def known(vendor: str, chip: str = "", device: torch.device = CUDA) -> DetectedDevice:
    return DetectedDevice(vendor, device, chip)


def precisions(
    device: DetectedDevice, asked: str = "auto", module: nn.Module | None = None
) -> tuple[Precision, ...]:
    weights = (module or nn.Linear(1, 1)).parameters()
    if not device.target:
        return chosen(asked, device, weights, DATABASE, None)
    matrix = DATABASE.matrix(DATABASE.resolve(TargetSpec(device.target)))
    return chosen(asked, device, weights, DATABASE, matrix)


@pytest.mark.parametrize(
    ("vendor", "chip", "has"),
    [
        ("ascend", "910b", {BF16: True, FP16: True}),
        ("ascend", "310p", {BF16: False, FP16: True}),
        ("ascend", "910a", {BF16: False, FP16: True}),
        ("cambricon", "mlu370", {BF16: False, FP16: True}),
        ("cambricon", "mlu590", {BF16: True, FP16: True}),
        ("moorethreads", "s80", {BF16: False, FP16: True}),
        ("nvidia", "a100", {BF16: True, FP16: True}),
        ("nvidia", "t4", {BF16: False, FP16: True}),
        ("hygon", "k100", {BF16: True, FP16: True}),
        ("hygon", "z100", {}),
    ],
)
def test_facts_are_the_databases(vendor: str, chip: str, has: dict[torch.dtype, bool]) -> None:
    matrix = DATABASE.matrix(DATABASE.resolve(TargetSpec(f"{vendor}-{chip}")))
    assert supported(known(vendor, chip), DATABASE, matrix) == has


def test_auto_is_the_best_that_is_known_and_float32_at_the_end() -> None:
    found = precisions(known("nvidia", "a100"))
    assert [(one.dtype, one.autocast) for one in found] == [
        (BF16, True), (FP16, True), (FP32, False),
    ]  # fmt: skip
    assert "the database says that nvidia-a100 computes in it" in found[0].why
    assert [one.dtype for one in precisions(known("nvidia", "t4"))] == [FP16, FP32]
    for device in (known("hygon", "z100"), known("amd"), known("cpu")):
        assert [one.dtype for one in precisions(device)] == [FP32]
    host = known("cpu", device=CPU)
    assert [one.why for one in precisions(host)] == ["the host computes in it"]


def test_an_architecture_tells_what_a_name_does_not() -> None:
    unlisted = DetectedDevice("nvidia", CUDA, architecture="sm_89", name="NVIDIA L40")
    assert precisions(unlisted)[0].dtype == BF16


def test_weights_that_are_narrow_already_stay_so_where_the_chip_has_it() -> None:
    narrow = nn.Linear(1, 1).bfloat16()
    assert [(p.dtype, p.autocast) for p in precisions(known("nvidia", "a100"), module=narrow)] == [
        (BF16, False)
    ]
    (found,) = precisions(known("nvidia", "t4"), module=narrow)
    assert (found.dtype, "bfloat16" in found.why) == (FP32, True)


def test_what_is_asked_for_is_taken_unless_the_chip_is_known_not_to_have_it() -> None:
    assert [(p.dtype, p.autocast) for p in precisions(known("hygon", "k100"), "bf16")] == [
        (BF16, True)
    ]
    assert precisions(known("nvidia", "a100"), "fp32")[0].autocast is False
    with pytest.raises(UsageError, match="nvidia-t4 does not compute in bfloat16"):
        precisions(known("nvidia", "t4"), "bfloat16")
    with pytest.raises(UsageError, match="no such precision: 'int4'"):
        precisions(known("nvidia", "t4"), "int4")
