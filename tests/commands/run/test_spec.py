"""What a command line says of a script."""

import pytest

from opcheck.errors import UsageError
from opcheck.model.script import ScriptSpec


@pytest.mark.parametrize(
    ("line", "spec"),
    [
        ("train.py", ScriptSpec("train.py")),
        ("train.py -t x --lr 0.1", ScriptSpec("train.py", argv=("-t", "x", "--lr", "0.1"))),
        ("python train.py --lr 1", ScriptSpec("train.py", argv=("--lr", "1"))),
        ("/usr/bin/python3 -u train.py", ScriptSpec("train.py")),
        ("python -m pkg.train a", ScriptSpec("pkg.train", True, ("a",))),
        (
            "torchrun --nnodes 2 --nproc-per-node=4 train.py --nproc-per-node 9",
            ScriptSpec(
                "train.py",
                False,
                ("--nproc-per-node", "9"),
                "torchrun",
                ("--nnodes", "2", "--nproc-per-node=4"),
                8,
            ),
        ),
        (
            "accelerate launch --num_processes 3 -m pkg.train",
            ScriptSpec("pkg.train", True, (), "accelerate", ("launch", "--num_processes", "3"), 3),
        ),
        (
            "deepspeed --num_gpus 2 t.py --deepspeed ds.json",
            ScriptSpec(
                "t.py",
                False,
                ("--local_rank=0", "--deepspeed", "ds.json"),
                "deepspeed",
                ("--num_gpus", "2"),
                2,
            ),
        ),
        (
            "deepspeed --no_local_rank t.py",
            ScriptSpec("t.py", False, (), "deepspeed", ("--no_local_rank",)),
        ),
        (
            "torchrun --nproc-per-node gpu t.py",
            ScriptSpec("t.py", False, (), "torchrun", ("--nproc-per-node", "gpu")),
        ),
        (
            "python -m torch.distributed.run --nproc_per_node 2 t.py a",
            ScriptSpec("t.py", False, ("a",), "torchrun", ("--nproc_per_node", "2"), 2),
        ),
        (
            "python -m torch.distributed.launch --nproc_per_node=2 t.py a",
            ScriptSpec(
                "t.py",
                False,
                ("--local-rank=0", "a"),
                "torch.distributed.launch",
                ("--nproc_per_node=2",),
                2,
            ),
        ),
        (
            "python -m torch.distributed.launch --use_env -m pkg.t",
            ScriptSpec("pkg.t", True, (), "torch.distributed.launch", ("--use_env",)),
        ),
    ],
)
def test_a_command_line_is_read_as_its_program_reads_it(line: str, spec: ScriptSpec) -> None:
    assert ScriptSpec.parse(line.split()) == spec


def test_a_module_is_named_by_an_option() -> None:
    found = ScriptSpec.parse(["pkg.train", "-m", "x"], module=True)
    assert found == ScriptSpec("pkg.train", True, ("-m", "x"))
    assert found.command == ("-m", "pkg.train", "-m", "x")


@pytest.mark.parametrize("line", ["torchrun", "torchrun --nnodes 2", "python -c", "accelerate -m"])
def test_a_launcher_without_a_script_is_refused(line: str) -> None:
    with pytest.raises(UsageError) as caught:
        ScriptSpec.parse(line.split())
    assert str(caught.value).startswith("the command line of ")
    assert caught.value.hint.endswith(" train.py --lr 0.1")
