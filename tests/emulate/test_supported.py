"""Targets that cannot be emulated are refused, before any process is started."""

import pytest

import opcheck
from opcheck.commands.emulate import answer as emulate_answer
from opcheck.db.store import Database
from opcheck.emulate.supported import require_emulated
from opcheck.errors import EmulationError
from opcheck.model.emulation import EmulationRequest
from opcheck.model.request import ModelSpec
from opcheck.model.target import TargetSpec


def test_a_target_of_another_dispatch_key_is_refused_with_the_reason() -> None:
    with pytest.raises(EmulationError) as caught:
        opcheck.emulate("nvidia-a100")
    assert caught.value.message.startswith(
        "nvidia-a100 cannot be emulated: its kernels stand at CUDA"
    )
    vendors = "ascend, biren, cambricon, enflame, moorethreads, rebellions"
    assert f"{vendors} can be emulated" in caught.value.hint


@pytest.mark.usefixtures("no_process")
def test_a_run_on_it_starts_no_process() -> None:
    request = EmulationRequest(
        ModelSpec("torchvision:resnet18", ()), TargetSpec.parse("amd-mi300x")
    )
    with pytest.raises(EmulationError, match="amd-mi300x cannot be emulated"):
        emulate_answer.emulate(request)


@pytest.mark.slow
def test_every_target_of_privateuse1_may_be() -> None:
    database = Database.open()
    refused = set()
    for target in database.targets():
        try:
            require_emulated(database.matrix(target))
        except EmulationError:
            refused.add(target.device_type)
    assert {"npu", "mlu", "musa"}.isdisjoint(refused)
    assert refused <= {"cuda", "xpu", "mps", "xla", "hpu"}
