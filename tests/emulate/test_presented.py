"""What an emulated device says of itself, and what is noted of who asks."""

from threading import Thread

import pytest
import torch

import opcheck


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (
            "ascend-910b",
            "asks for a compute capability, of which there is none unless "
            "TORCH_NPU_DEVICE_CAPABILITY=8.0 is set",
        ),
        ("ascend-910b@7.3.0", "asks for a compute capability, of which there is none"),
    ],
)
def test_what_no_line_of_the_user_asks_is_noted_without_a_place(target: str, told: str) -> None:
    emulator = opcheck.emulate(target)
    with emulator:
        module = vars(torch)["npu"]
        thread = Thread(target=module.get_device_capability)
        thread.start()
        thread.join()
    assert told in emulator.device.record.notes
