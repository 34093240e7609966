"""``opcheck init``: a policy to start from."""

from pathlib import Path
from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.output import Output
from opcheck.lang.speech import tell

Folder = Annotated[
    Path,
    typer.Argument(
        parser=Path,
        metavar="[FOLDER]",
        help="The project.",
        show_default="the working directory",
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Write over an opcheck.yaml that is there.", show_default="leave it"
    ),
]


def init(folder: Folder = Path(), target: options.Targets = None, force: Force = False) -> None:
    from opcheck.commands.gate import answer
    from opcheck.commands.init import proposal

    found = proposal.found_in(folder)
    listed = proposal.text_of(found)
    path, text = answer.init_policy(tuple(target or ()), folder, listed, force=force)
    Output(path).write(text)
    lines = [f"{tell('wrote')} {path}", *(f"  {tell(line)}" for line in proposal.told(found))]
    Output(None).write("".join(f"{line}\n" for line in lines))
