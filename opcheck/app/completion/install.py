"""Where each shell looks for completion, and the script put there."""

import os
from collections.abc import Mapping
from pathlib import Path

from opcheck.app.completion.scripts import SCRIPTS
from opcheck.errors import UsageError
from opcheck.files import read_bytes
from opcheck.lang.sentence import Sentence

_MOST_BYTES = 1 << 24
"""Of a shell's settings, which somebody wrote by hand."""
_HINT = Sentence("name it with --shell, one of {list}", list=", ".join(SCRIPTS))


def shell_named(name: str | None) -> str:
    """The shell that was asked for, or the one that this process was started from.

    Raises:
        UsageError: it is none that there is a script for.
    """
    if name is None:
        return _running_shell()
    if name not in SCRIPTS:
        raise UsageError(Sentence("no completion for the shell {text}", text=repr(name)), _HINT)
    return name


def _running_shell() -> str:
    import shellingham  # type: ignore[import-untyped]  # comes with typer, without types

    try:
        name: str = shellingham.detect_shell()[0]
    except shellingham.ShellDetectionFailure:
        name = Path(os.environ.get("SHELL", "")).name
    if name not in SCRIPTS:
        raise UsageError(
            Sentence("no completion for the shell that this runs in ({text})", text=name or "?"),
            _HINT,
        )
    return name


def install(shell: str, environment: Mapping[str, str], home: Path) -> Path:
    """Put the script where the shell finds it, now and again; gives the file.

    Raises:
        UsageError: a file cannot be written.
    """
    try:
        match shell:
            case "fish":
                config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
                return _written(config / "fish" / "completions" / "opcheck.fish", shell)
            case "zsh":
                folder = Path(environment.get("ZDOTDIR") or home)
                path = _written(folder / ".zfunc" / "_opcheck", shell)
                line = f"fpath+=('{path.parent}'); autoload -Uz compinit; compinit"
                return _appended(folder / ".zshrc", line, path)
            case _:
                data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
                path = _written(data / "opcheck" / "completion.bash", shell)
                return _appended(home / ".bashrc", f"source '{path}'", path)
    except OSError as error:
        raise UsageError(
            Sentence("cannot install completion for {shell}: {text}", shell=shell, text=error),
            Sentence(
                "opcheck --show-completion --shell {shell} prints what the shell is to read",
                shell=shell,
            ),
        ) from error


def _written(path: Path, shell: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SCRIPTS[shell], encoding="utf-8", newline="\n")
    return path


def _appended(settings: Path, line: str, path: Path) -> Path:
    """Add a line to a shell's settings, once; what stands there stays."""
    content = read_bytes(settings, _MOST_BYTES) if settings.exists() else b""
    there = content.decode("utf-8", "surrogateescape")
    if line not in there.splitlines():
        end = "" if not there or there.endswith("\n") else "\n"
        with settings.open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{end}{line}\n")
    return path
