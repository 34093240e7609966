"""``opcheck init``: a policy to start from."""

from pathlib import Path

import typer

from opcheck.cli import options
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms


def init(context: typer.Context, target: options.Targets = None) -> None:
    """Write an opcheck.yaml with comments, for opcheck gate, into this folder.

    It holds the defaults, and an example of everything else. A policy that is there already is
    left as it is, and the exit code is 2.
    """
    path, text = rooms(context).init_policy(tuple(target or ()), Path.cwd())
    Output(path).write(text)
    Output(None).write(f"wrote {path.name}\n")
