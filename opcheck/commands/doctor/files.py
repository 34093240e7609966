"""The files that set an environment up: a Dockerfile, requirements, a script to source."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping

from opcheck.commands.doctor.values import DoctorTarget, Setup

_PIP = ("pip", "install")
_WHEEL = ".whl"
"""A file that the vendor gives to those who ask, and that no index has."""
_AND = " && "
_EXEC = 'exec "$@"'


def file_text(name: str, target: DoctorTarget, setup: Setup) -> str:
    """The text of one of the files by its name, which is one of :data:`WRITERS`."""
    lines = [*_head(target, setup), *WRITERS[name](setup)]
    return "".join(f"{line}\n" for line in lines)


def _head(target: DoctorTarget, setup: Setup) -> Iterator[str]:
    together = ", ".join(f"{part.name} {part.version}" for part in setup.components)
    yield f"# {target.title}, {target.name}: {together}."
    for step in setup.by_hand:
        yield f"# By hand: {step}"
    for what in setup.unknown:
        yield f"# No source says: {what}."


def _dockerfile(setup: Setup) -> Iterator[str]:
    if setup.image:
        yield f"FROM {setup.image}"
    else:
        yield "# Give an image that has what is to be done by hand: --build-arg BASE_IMAGE=..."
        yield "ARG BASE_IMAGE"
        yield "FROM ${BASE_IMAGE}"
    for command in () if setup.complete_image else setup.commands:
        wheel = command.split()[-1]
        if wheel.endswith(_WHEEL):
            yield f"COPY {wheel} /tmp/"
            command = command.replace(wheel, f"/tmp/{wheel}")
        yield f"RUN {command.replace('pip install ', 'pip install --no-cache-dir ', 1)}"
    exported = [each for each in setup.settings if each.startswith("export ")]
    for each in exported:
        yield f"ENV {each.removeprefix('export ')}"
    sourced = [each for each in setup.settings if each.startswith("source ")]
    if sourced:  # by the entry point: what docker runs is seldom a shell that reads a profile
        yield f"ENTRYPOINT {json.dumps(['bash', '-c', _AND.join([*sourced, _EXEC]), 'bash'])}"
        yield 'CMD ["bash"]'


def _requirements(setup: Setup) -> Iterator[str]:
    wanted: list[str] = []
    indexes: list[str] = []
    for command in setup.commands:
        words = iter(shlex.split(command)[len(_PIP) :])
        for word in words:
            if word == "--index-url":
                indexes.append(next(words))
            elif not word.startswith("-") and not word.endswith(_WHEEL):
                wanted.append(word)
    for index in dict.fromkeys(indexes):
        yield f"--extra-index-url {index}"
    yield from dict.fromkeys(wanted)


def _script(setup: Setup) -> Iterator[str]:
    yield from setup.settings


WRITERS: Mapping[str, Callable[[Setup], Iterator[str]]] = {
    "Dockerfile": _dockerfile,
    "requirements.txt": _requirements,
    "env.sh": _script,
}
"""File name -> what is written into it below the head."""
