"""Scripts of several processes: launchers, spawned ones, and those that nobody follows."""

from pathlib import Path

import pytest

from opcheck.commands.run import answer
from opcheck.errors import ExitCode
from opcheck.model.request import ModelSpec
from opcheck.model.script import Ending, ScriptRequest, ScriptRun, ScriptSpec
from opcheck.model.target import TargetSpec
from tests.app.stand_in import outcome

SPAWNS = """\
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.multiprocessing.spawn import start_processes


def train(rank, size, values):
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="12355")
    dist.init_process_group("nccl", rank=rank, world_size=size)
    assert (dist.get_rank(), dist.get_world_size()) == (0, int(sys.argv[1]))
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4).to(rank), [rank])
    model(torch.ones(2, 4, device=rank)).sum().backward()
    dist.destroy_process_group()
    values.append(rank)


if __name__ == "__main__":
    size, values = torch.cuda.device_count(), []
    assert mp.spawn(train, args=(size, values), nprocs=size) is None
    context = mp.spawn(train, args=(size, values), nprocs=size, join=False)
    while not context.join():
        assert False
    start_processes(train, (size, values), size, start_method="fork")
    assert values == [0, 0, 0] and context.pids() == []
"""
STARTS = """\
import functools
import multiprocessing

import torch
from torch.utils.data import DataLoader


def work(device):
    print(torch.ones(2, device=device))


class Worker(multiprocessing.Process):
    def run(self):
        work("cuda")


def twice(x):
    return 2 * x


for batch in DataLoader(torch.ones(4, 2), 2, num_workers=1):
    batch.cuda().sum()
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.map(twice, [1, 2]) == [2, 4]
for process in (multiprocessing.Process(target=functools.partial(work, "cuda")), Worker()):
    process.start()
    process.join()
    assert process.exitcode
"""
ACCELERATE = {
    "__init__": "",
    "utils/__init__": "",
    "utils/launch": "def is_port_in_use(port):\n    raise AssertionError\n",
    "commands/__init__": "",
    "commands/launch": """\
import argparse
import os
import subprocess
import sys

import torch.distributed.run as distrib_run
from ..utils import launch


def launch_command_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mixed_precision")
    parser.add_argument("--multi_gpu", action="store_true")
    parser.add_argument("--num_processes", default="1")
    parser.add_argument("-m", "--module", action="store_true")
    parser.add_argument("training_script")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER)
    return parser


def launch_command(args):
    environment = {**os.environ, "ACCELERATE_MIXED_PRECISION": args.mixed_precision}
    if not args.multi_gpu:
        subprocess.Popen([sys.executable, args.training_script], env=environment).wait()
        return
    launch.is_port_in_use(29500)
    os.environ.update(environment)
    more = ["--nproc-per-node", args.num_processes, args.training_script]
    distrib_run.run(distrib_run.get_args_parser().parse_args(more))
""",
}
LAUNCHED = """\
import os
import sys

import torch

print(torch.ones(2, device="cuda").sum().shape, file=sys.stderr)
assert os.environ["ACCELERATE_MIXED_PRECISION"] == "bf16"
assert sys.argv[1:] == ["--lr", "1"]
assert os.environ.get("WORLD_SIZE") == {size}
"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ran(text: str, *words: str) -> ScriptRun:
    Path("train.py").write_text(text)
    script = ScriptSpec.parse(words or ("train.py",))
    return answer.run(ScriptRequest(script, ModelSpec(script.name), TargetSpec("ascend-910b")))


@pytest.mark.slow
def test_the_first_of_spawned_processes_is_run() -> None:
    Path("train.py").write_text(SPAWNS)
    words = ["run", "-t", "ascend-910b", "--ranks", "4", "train.py", "4"]
    done = outcome(words)
    assert (done.exit_code, done.stdout[:6]) == (ExitCode.PASS, "✔ runs"), done.stderr
    said = " ".join(done.stdout.split())
    assert "starts 4 processes: run as number 0 of them, the others are not there" in said
    assert "opens a group of nccl for 4 processes: run as number 0 of them" in said


@pytest.mark.slow
def test_a_single_spawned_process_is_told_as_one() -> None:
    found = ran(SPAWNS, "train.py", "1")
    assert (found.ending, found.runs) == (Ending.RETURNED, True), found.emulation.error
    told = "starts 1 process: run as number 0 of them, the others are not there"
    assert told in found.emulation.notes


@pytest.mark.slow
def test_a_process_of_the_script_s_own_is_a_gap() -> None:
    found = ran(STARTS)
    assert (found.ending, found.used, found.runs) == (Ending.RETURNED, True, None)
    start = STARTS.splitlines().index("    process.start()") + 1
    assert {(gap.where, gap.reason) for gap in found.emulation.gaps} == {
        (f"train.py:{start}", f"starts a process that runs {name}, which is not followed")
        for name in ("work", "Worker.run")
    }


@pytest.fixture
def _accelerate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of that name with the functions of its launcher that are called."""
    for name, text in ACCELERATE.items():
        file = tmp_path / "libraries" / "accelerate" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "libraries"))


@pytest.mark.slow
@pytest.mark.usefixtures("_accelerate")
@pytest.mark.parametrize(
    ("options", "size"), [((), None), (("--multi_gpu", "--num_processes", "4"), "'4'")]
)
def test_options_of_accelerate_reach_the_script(options: tuple[str, ...], size: str | None) -> None:
    launcher = ("accelerate", "launch", "--mixed_precision", "bf16", *options)
    found = ran(LAUNCHED.format(size=size), *launcher, "train.py", "--lr", "1")
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")


@pytest.mark.slow
@pytest.mark.usefixtures("_accelerate")
def test_what_accelerate_does_not_know_ends_the_run() -> None:
    found = ran(LAUNCHED, "accelerate", "launch", "--nothing", "train.py")
    assert (found.ending, found.status, found.used) == (Ending.EXITED, 2, False)
