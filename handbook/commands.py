"""The commands of opcheck as its command line knows them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from opcheck.app.main import application

_TYPE = re.compile(r" <\w+>$")
"""What Python makes of an argument, which is nobody's business."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument or option, as ``--help`` has it."""

    spelled: str
    """``-t, --target TARGET``."""
    text: str
    default: str
    """What holds without it, as it is told; "" where nothing is."""
    option: bool


@dataclass(frozen=True, slots=True)
class Command:
    """One command, or a group of them."""

    name: str
    """With the program: ``opcheck db status``."""
    usage: str
    text: str
    """Paragraphs: the first is the summary."""
    parameters: tuple[Parameter, ...]
    subcommands: tuple[str, ...]


def program() -> Any:
    """The command line itself, to be asked what it would make of arguments."""
    return application()


def commands() -> tuple[Command, ...]:
    """Every command: the program, then each by name, a group before what it holds."""
    return tuple(_below(program(), "opcheck", None))


def _below(command: Any, name: str, parent: Any) -> Iterator[Command]:
    context = command.make_context(name.split()[-1], [], parent=parent, resilient_parsing=True)
    inside: Mapping[str, Any] = getattr(command, "commands", {})
    yield Command(
        name=name,
        usage=" ".join(command.get_usage(context).partition(": ")[2].split()),
        text=command.help or "",
        parameters=tuple(_parameters(command, context)),
        subcommands=tuple(f"{name} {one}" for one in sorted(inside)),
    )
    for one in sorted(inside, key=lambda one: (hasattr(inside[one], "commands"), one)):
        yield from _below(inside[one], f"{name} {one}", context)


def _parameters(command: Any, context: Any) -> Iterator[Parameter]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None:  # hidden
            continue
        spelled, told = record
        text, _, default = told.partition("[default: ")
        yield Parameter(
            spelled=_TYPE.sub("", " ".join(spelled.split())),
            text=" ".join(text.split()),
            default=default.rstrip("] ").removeprefix("(").removesuffix(")"),
            option=parameter.param_type_name == "option",
        )
