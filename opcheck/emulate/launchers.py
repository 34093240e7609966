"""What accelerate's launcher has the environment be for the script that it starts.

Its options and its config file decide of mixed precision, FSDP and DeepSpeed by variables of the
environment. The launcher itself is run, until it would start a process; checked on accelerate 1.15.
"""

import importlib.util
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any
from unittest.mock import patch

import torch.distributed.run

from opcheck.model.script import ACCELERATE, ScriptSpec

_COMMAND = "launch"
_ADDRESS = {"MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}


def first_of(processes: int) -> dict[str, str]:
    """What the environment of the first of so many processes says of their group."""
    count = str(processes)
    numbers = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
    return {**numbers, **_ADDRESS}


class _Started(BaseException):  # no error: what ends the launcher
    """A process would have been started, with this environment."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__()
        self.environment = environment


def prepare_environment(script: ScriptSpec) -> None:
    """Have the environment be what the launcher of ``script`` gives to the first of its processes.

    Raises:
        SystemExit: the launcher knows no such option.
        ValueError: its options do not go together.
    """
    if script.grouped:
        os.environ.update(first_of(script.processes))
    if script.launcher != ACCELERATE or importlib.util.find_spec(ACCELERATE) is None:
        return
    import accelerate.utils.launch
    from accelerate.commands import launch

    options = list(script.options)
    if options[:1] == [_COMMAND]:
        del options[0]
    module = ["--module"] if script.module else []
    asked = launch.launch_command_parser().parse_args(
        [*options, *module, script.name, *script.argv]
    )
    try:
        with (
            patch.object(subprocess, "Popen", _popen),
            patch.object(torch.distributed.run, "run", _run),
            patch.object(accelerate.utils.launch, "is_port_in_use", lambda _: False),
        ):
            launch.launch_command(asked)
    except _Started as started:
        os.environ.update(started.environment)


def _popen(command: Sequence[str], *, env: Mapping[str, str], **_: Any) -> None:
    raise _Started(env)


def _run(asked: Any) -> None:
    config, *_ = torch.distributed.run.config_from_args(asked)
    raise _Started(first_of(config.nproc_per_node * config.max_nodes) | os.environ)
