"""What a script finds of the machine that it runs on: devices, capability, other processes."""

from pathlib import Path

import pytest

from opcheck.commands.run import answer
from opcheck.model.script import Ending, ScriptRun, ScriptSpec
from opcheck.model.trace import Phase
from tests.commands.run.test_run import _in_a_project, request

__all__ = ["_in_a_project"]

ASKS = """\
import torch

x = torch.ones(2, device="cuda")
if x.is_cuda:
    print(torch.cuda.get_device_capability(), torch.cuda.get_device_properties(0).major)
    major, minor = torch.cuda.get_device_capability()
"""
SHARDED = """\
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import Shard, distribute_tensor

device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
assert torch.cuda.device_count() == torch.accelerator.device_count() == 2
backend = dist.get_default_backend_for_device(torch.accelerator.current_accelerator())
dist.init_process_group(backend)
model = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.Linear(64, 64))
for layer in model:
    fully_shard(layer)
fully_shard(model)
assert isinstance(model, FSDPModule)
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
for _ in range(2):
    model(torch.randn(4, 64, device=device)).square().mean().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
mesh = init_device_mesh("cuda", (2,))
whole = torch.ones(8, 64, device=device)
dist.broadcast(whole, 0)
part = distribute_tensor(whole, mesh, [Shard(0)])
print(nn.functional.linear(part, part).to(torch.bfloat16).placements)
"""


def ran(folder: Path, text: str, target: str, launcher: str = "") -> ScriptRun:
    (folder / "train.py").write_text(text)
    return answer.run(request(ScriptSpec.parse([*launcher.split(), "train.py"]), target))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "capability"), [("cambricon-mlu590", "(5, 0) 5"), ("moorethreads-s5000", "(3, 1) 3")]
)
def test_a_chip_s_capability_is_the_vendor_s(tmp_path: Path, target: str, capability: str) -> None:
    lines: list[str] = []
    (tmp_path / "train.py").write_text(ASKS)
    found = answer.run(request(ScriptSpec("train.py"), target), output=lines.append)
    assert (found.ending, lines) == (Ending.RETURNED, [capability])


@pytest.mark.slow
@pytest.mark.parametrize("target", ["ascend-910b", "ascend-910b@7.3.0"])
def test_a_chip_without_a_capability_has_none(
    tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ran(tmp_path, ASKS, target)
    assert found.ending is Ending.FAILED
    assert found.emulation.error.startswith("TypeError: cannot unpack")
    told = "asks for a compute capability at train.py:6, of which there is none"
    (note,) = (note for note in found.emulation.notes if note.startswith(told))
    settable = note.endswith(" unless TORCH_NPU_DEVICE_CAPABILITY=8.0 is set")
    assert settable is ("@" not in target)
    monkeypatch.setenv("TORCH_NPU_DEVICE_CAPABILITY", "8.0")
    assert (ran(tmp_path, ASKS, target).ending is Ending.RETURNED) is settable


@pytest.mark.slow
def test_a_model_in_parts_is_sent_and_gathered_by_the_vendor_s_backend(tmp_path: Path) -> None:
    found = ran(tmp_path, SHARDED, "ascend-910b", "torchrun --nproc-per-node 2")
    assert (found.ending, found.emulation.error, found.steps) == (Ending.RETURNED, "", 2)
    asked = {kernel.op for kernel in found.emulation.kernels}
    sends = {"c10d::_allgather_base_", "c10d::_reduce_scatter_base_", "c10d::broadcast_"}
    assert asked >= {*sends, "aten::mm"}
    assert any("opens a group of hccl for 2 processes" in note for note in found.emulation.notes)


MOVED = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
model[1].weight = model[0].weight
optimizer = torch.optim.AdamW(model.parameters())
model.to("cuda")
assert model[0].weight is model[1].weight is optimizer.param_groups[0]["params"][0]
model(torch.ones(2, 8, device="cuda")).sum().backward()
optimizer.step()
"""


@pytest.mark.slow
@pytest.mark.parametrize("target", ["ascend-910b", "moorethreads-s5000"])
def test_an_optimizer_that_is_made_first_trains_the_model_that_is_moved_later(
    tmp_path: Path, target: str
) -> None:
    found = ran(tmp_path, MOVED, target)
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")
    assert Phase.OPTIMIZER in {kernel.phase for kernel in found.emulation.kernels}
