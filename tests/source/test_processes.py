"""Groups of processes that the user's code opens on a machine without a GPU and without peers."""

import json
from pathlib import Path

import pytest

from opcheck.app.main import run
from opcheck.errors import ExitCode

MODEL = """\
import os

import torch
import torch.distributed as dist
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        y = self.layer(x)
        dist.all_reduce(y)
        parts = [torch.empty_like(y) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, y)
        return torch.cat(parts).relu()


class Opening(Net):
    def forward(self, x):
        dist.init_process_group(backend="nccl", world_size=3, rank=0)
        dist.new_group([0, 1], backend="nccl")
        return super().forward(x)


def addressed():
    dist.init_process_group("nccl", init_method="tcp://192.0.2.1:1?world_size=4&rank=2")
    torch.cuda.set_device(dist.get_rank())
    return Net(), torch.ones(2, 4)


def by_environment():
    dist.init_process_group("nccl")
    return Net(), torch.ones(2, 4)


def gloo():
    dist.init_process_group("gloo", "tcp://192.0.2.1:1", rank=1, world_size=2)
    return Net(), torch.ones(2, 4)


def opening():
    return Opening(), torch.ones(2, 4)


def in_inputs():
    return Net(), torch.ones(2, 4)


def sets():
    dist.init_process_group("nccl")
    return [(torch.ones(2, 4),), (torch.ones(3, 4),)]


def meshed():
    dist.init_process_group("nccl")
    dist.init_device_mesh("cuda", (2, 2))
    return Net(), torch.ones(2, 4)


class Asks(nn.Module):
    def forward(self, x):
        sizes = [None]
        dist.broadcast_object_list(sizes, src=1)
        return x[: sizes[0]]


def asks():
    dist.init_process_group("nccl", world_size=2, rank=0)
    return Asks(), torch.ones(2, 4)


def fsdp():
    from torch.distributed.fsdp import FullyShardedDataParallel

    dist.init_process_group("nccl", world_size=2, rank=0)
    return FullyShardedDataParallel(Net()), torch.ones(2, 4)


def launched():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return Net(), torch.ones(2, 4)
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    Path("net.py").write_text(MODEL, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "size", "note"),
    [
        ("addressed", 4, "of nccl for 4 processes: run as number 2 of them"),
        ("by_environment", 1, "of nccl for 1 process: run as number 0 of them"),
        ("gloo", 2, "of gloo for 2 processes: run as number 1 of them"),
        ("opening", 3, ""),
        ("in_inputs --inputs net.py:sets", 1, "of nccl for 1 process: run as number 0 of them"),
    ],
)
def test_collectives_of_a_group_without_peers_are_recorded(
    model: Path, capsys: pytest.CaptureFixture[str], asked: str, size: int, note: str
) -> None:
    line = f"scan net.py:{asked} -t ascend-910b --timeout 120 --format json"
    assert run(line.split()) == ExitCode.PASS
    report = json.loads(capsys.readouterr().out)
    (target,) = report["targets"]
    sets = 2 if "--inputs" in asked else 1
    found = {finding["op"]: finding for finding in target["findings"]}
    assert {op: found[op]["count"] for op in found if op.startswith("c10d::")} == {
        "c10d::allreduce_": sets,
        "c10d::allgather_": sets,
    }
    assert found["aten::cat"]["uses"][0]["inputs"][0].count("float32[") == size
    assert (target["summary"]["runs"], report["trace"]["gaps"]) == (True, [])
    assert [line for line in report["trace"]["notes"] if note and note in line] or not note


@pytest.mark.slow
def test_the_size_is_that_of_the_environment(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "8")
    monkeypatch.setenv("RANK", "3")
    assert run(["scan", "net.py:by_environment", "-t", "ascend-910b"]) == ExitCode.PASS
    said = " ".join(capsys.readouterr().out.split())
    assert "of nccl for 8 processes: run as number 3 of them" in said


@pytest.mark.slow
def test_what_a_launcher_sets_is_named_where_it_is_missing(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["scan", "net.py:launched", "-t", "ascend-910b"]) == ExitCode.MODEL
    assert "as torchrun does" in capsys.readouterr().err


@pytest.mark.slow
def test_a_mesh_says_how_many_there_are_where_nothing_else_does(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "scan net.py:meshed -t ascend-910b --timeout 120 --format json"
    assert run(line.split()) == ExitCode.PASS
    report = json.loads(capsys.readouterr().out)
    assert report["trace"]["notes"] == [
        "makes a mesh of 4 devices: run as number 0 of as many processes, the others are not there"
    ]
    found = {finding["op"]: finding for finding in report["targets"][0]["findings"]}
    assert found["aten::cat"]["uses"][0]["inputs"][0].count("float32[") == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("asks", "broadcast_object_list waits for an object of process 1, which is not there"),
        ("fsdp", "leave FullyShardedDataParallel out, and scan with --train --step wrap=fsdp2"),
    ],
)
def test_what_needs_another_process_or_device_is_named(
    model: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    assert run(["scan", f"net.py:{name}", "-t", "ascend-910b"]) == ExitCode.MODEL
    said = " ".join(capsys.readouterr().err.split())
    assert text in said
