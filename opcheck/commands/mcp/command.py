"""``opcheck mcp``: the commands as tools of the Model Context Protocol, over stdio."""

from typing import Annotated

import typer

from opcheck.app import model_options, options
from opcheck.commands.mcp.values import ServerSettings
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence

LEAST = 1_000
"""Characters of an answer: a verdict and its reasons need that many."""

_LONGEST = 9
"""Digits of a number."""


def _characters(text: str) -> int:
    if not text.isdecimal() or len(text) > _LONGEST or int(text) < LEAST:
        raise typer.BadParameter(
            Sentence(
                "not a number from {count} on: {text}", count=f"{LEAST:,}", text=repr(text[:40])
            )
        )
    return int(text)


Characters = Annotated[
    int | None,
    typer.Option(
        "--characters",
        parser=_characters,
        metavar="NUMBER",
        help="The most that one answer may have; what is left out is given when it is asked for.",
        show_default="24000",
    ),
]


def mcp(
    characters: Characters = None,
    database: options.Databases = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
) -> None:
    try:
        from opcheck.commands.mcp.server import server_of
    except ModuleNotFoundError:
        raise
    except ImportError as error:  # of a library that is there: an older one has other names
        raise UsageError(
            Sentence("this needs {library}, which is not installed", library="mcp 2"),
            Sentence("pip install 'opcheck[{extra}]'", extra="mcp"),
        ) from error
    shared = ServerSettings(
        tuple(database or ()), trust, timeout, memory, characters or ServerSettings().characters
    )
    server_of(shared).run("stdio")
