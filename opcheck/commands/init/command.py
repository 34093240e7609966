"""``opcheck init``: a policy to start from."""

from pathlib import Path

from opcheck.app import options
from opcheck.app.output import Output
from opcheck.lang.speech import tell


def init(target: options.Targets = None) -> None:
    from opcheck.commands.gate import answer

    path, text = answer.init_policy(tuple(target or ()), Path.cwd())
    Output(path).write(text)
    Output(None).write(f"{tell('wrote')} {path.name}\n")
