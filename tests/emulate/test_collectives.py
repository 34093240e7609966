"""Collectives on the emulated device: one of several processes that all hold the same."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch import Tensor

import opcheck
from opcheck.app.main import run
from opcheck.emulate.collectives import collecting_on_host
from opcheck.errors import EmulationError, ExitCode
from tests.emulate.conftest import opened

SIZE, RANK = 3, 1


@pytest.fixture(autouse=True)
def group() -> Iterator[None]:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=RANK, world_size=SIZE)
    yield
    dist.destroy_process_group()


@pytest.fixture(params=["device", "host"])
def place(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    """Wherever collectives have values."""
    if request.param == "device":
        yield from opened(True)
        return
    with collecting_on_host():
        yield torch.device("cpu")


def same(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found.cpu(), expected, rtol=0, atol=0)


def numbers(*shape: int) -> Tensor:
    return torch.arange(1, 1 + torch.Size(shape).numel()).reshape(shape)


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [
        ("SUM", [15, 18]),
        ("PRODUCT", [125, 216]),
        ("AVG", [5, 6]),
        ("MIN", [5, 6]),
        ("MAX", [5, 6]),
    ],
)
def test_equal_tensors_are_reduced(
    place: torch.device, reduction: str, expected: list[int]
) -> None:
    tensor = torch.tensor([5, 6]).to(place)
    dist.all_reduce(tensor, op=getattr(dist.ReduceOp, reduction))
    same(tensor, torch.tensor(expected))


BITWISE = ["BAND", "BOR", "BXOR"]


@pytest.mark.parametrize("reduction", BITWISE)
def test_the_host_reduces_bitwise(reduction: str) -> None:
    tensor = torch.tensor([5, 6])
    with collecting_on_host():
        dist.all_reduce(tensor, op=getattr(dist.ReduceOp, reduction))
    same(tensor, torch.tensor([5, 6]))


@pytest.mark.parametrize("reduction", BITWISE)
def test_a_device_whose_backend_lacks_a_reduction_raises(reduction: str) -> None:
    message = f"allreduce of HCCL does not support the reduction {reduction} for int64"
    for device in opened(True):
        with pytest.raises(RuntimeError, match=message):
            dist.all_reduce(
                torch.tensor([5, 6], device=device), op=getattr(dist.ReduceOp, reduction)
            )


def test_a_reduction_reaches_its_root_alone(place: torch.device) -> None:
    tensor = numbers(2).to(place)
    dist.reduce(tensor, 0)
    same(tensor, numbers(2))
    dist.reduce(tensor, RANK)
    same(tensor, numbers(2) * SIZE)


def test_what_all_gather_is_what_one_has(place: torch.device) -> None:
    tensor = numbers(2, 2).to(place)
    parts = [torch.zeros_like(tensor) for _ in range(SIZE)]
    whole = torch.zeros(SIZE * 2, 2, dtype=tensor.dtype, device=place)
    dist.all_gather(parts, tensor)
    dist.all_gather_into_tensor(whole, tensor)
    for part in parts:
        same(part, numbers(2, 2))
    same(whole, torch.cat([numbers(2, 2)] * SIZE))


def test_objects_are_gathered(place: torch.device) -> None:
    found: list[object] = [None] * SIZE
    dist.all_gather_object(found, {"loss": 2.5})
    assert found == [{"loss": 2.5}] * SIZE


def test_each_is_sent_its_own_part(place: torch.device) -> None:
    tensor = numbers(SIZE * 2).to(place)
    out = torch.zeros(2, dtype=tensor.dtype, device=place)
    dist.reduce_scatter_tensor(out, tensor)
    same(out, numbers(SIZE * 2)[2:4] * SIZE)
    listed = torch.zeros_like(out)
    dist.reduce_scatter(listed, list(tensor.split(2)), op=dist.ReduceOp.MAX)
    same(listed, numbers(SIZE * 2)[2:4])
    scattered = torch.zeros_like(out)
    dist.scatter(scattered, list(tensor.split(2)), src=RANK)
    same(scattered, numbers(SIZE * 2)[2:4])


def test_all_to_all_receives_the_part_for_this_process_from_each(place: torch.device) -> None:
    tensor = numbers(SIZE * 2).to(place)
    out = torch.zeros_like(tensor)
    dist.all_to_all_single(out, tensor)
    same(out, torch.cat([numbers(SIZE * 2)[2:4]] * SIZE))
    parts = [torch.zeros(2, dtype=tensor.dtype, device=place) for _ in range(SIZE)]
    dist.all_to_all(parts, list(tensor.split(2)))
    for part in parts:
        same(part, numbers(SIZE * 2)[2:4])


def test_functional_collectives_are_made_of_the_others(place: torch.device) -> None:
    world = dist.group.WORLD
    assert world is not None
    tensor = numbers(3).to(place)
    same(functional.all_reduce(tensor, "sum", world) + 1, numbers(3) * SIZE + 1)
    same(tensor, numbers(3))


def test_what_was_kept_for_backward_may_be_written(place: torch.device) -> None:
    weight = torch.ones(2, device=place, requires_grad=True)
    result = weight.exp()
    dist.broadcast(result, 0)
    result.sum().backward()
    assert weight.grad is not None
    same(weight.grad, torch.ones(2).exp())


@pytest.mark.parametrize(
    "collective",
    [
        lambda tensor: dist.recv(tensor, 0),
        lambda tensor: dist.scatter(tensor, None, src=0),
        lambda tensor: dist.all_to_all_single(tensor, tensor.clone(), [1, 1, 4], [1, 2, 3]),
    ],
    ids=["recv", "scatter from another", "uneven parts"],
)
def test_what_only_another_process_knows_is_refused(
    place: torch.device, collective: Callable[[Tensor], object]
) -> None:
    with pytest.raises(EmulationError, match="has no values here"):
        collective(torch.zeros(6, device=place))


@pytest.mark.slow
def test_shapes_go_on_where_values_are_not_known() -> None:
    with opcheck.emulate("ascend-910b", values=False) as device:
        tensor = torch.empty(4096, device=device)
        dist.recv(tensor, 0)
        dist.all_reduce(tensor)
        assert (tensor + 1).shape == (4096,)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "names"), [("cambricon-mlu590", False), ("moorethreads-s80", True)]
)
def test_the_vendors_backend_is_asked(target: str, names: bool, tmp_path: Path) -> None:
    line = f"emulate {model(tmp_path)} -t {target} --format json -o {tmp_path}/report.json"
    assert run(line.split()) == ExitCode.PASS
    report = json.loads((tmp_path / "report.json").read_text())
    refused = {refusal["op"]: refusal["reason"]["code"] for refusal in report["refusals"]}
    assert refused == ({"c10d::allreduce_": "no-collective"} if names else {})


@pytest.mark.slow
@pytest.mark.parametrize("wrap", ["", "ddp", "fsdp2"])
def test_the_scan_predicts_what_is_sent(wrap: str, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    line = f"emulate {model(tmp_path)} -t ascend-910b --check --format json -o {file}"
    assert run([*line.split(), *(["--step", f"wrap={wrap}"] if wrap else [])]) == ExitCode.PASS
    report = json.loads(file.read_text())
    assert (report["finished"], report["agreement"]["disagreements"]) == (True, [])
    assert any(kernel["op"].startswith("c10d::") for kernel in report["kernels"])


@pytest.mark.slow
def test_a_step_of_ddp_is_that_of_the_host(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    line = f"emulate {model(tmp_path)} -t ascend-910b --values --format json -o {file}"
    assert run([*line.split(), "--step", "wrap=ddp"]) == ExitCode.PASS
    report = json.loads(file.read_text())
    assert report["finished"]
    assert {found["largest"] for found in report["differences"]} == {0.0}
    assert [note for note in report["notes"] if "where all 2 processes hold the same" in note]


@pytest.mark.slow
def test_a_proof_runs_collectives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = f"fix {model(tmp_path)} -t moorethreads-s4000@1.0.0 --shim shim.py --allow tolerance"
    assert run(line.split()) == ExitCode.PASS
    assert Path("shim.py").exists()


def model(folder: Path) -> str:
    """A file of a model that reduces what it computes among two processes."""
    file = folder / "net.py"
    file.write_text(MODEL, encoding="utf-8")
    return f"{file}:net"


MODEL = """\
import torch
import torch.distributed as dist
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 2)])

    def forward(self, x):
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x)
        seen = x.detach().sinc()
        dist.all_reduce(seen)
        return x + seen


def net():
    torch.manual_seed(0)
    dist.init_process_group("nccl", world_size=2, rank=0)
    return Net(), torch.randn(3, 4)
"""
