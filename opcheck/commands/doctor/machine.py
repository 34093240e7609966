"""The machine that is looked at: its files, variables and commands; a made one in tests."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from packaging.tags import sys_tags

from opcheck.files import read_bytes

COMMAND_SECONDS = 10
"""How long a vendor's tool may take to say which devices there are."""
_MOST_BYTES = 1 << 24
"""Of a file that states a version: a header, or a note of its release."""


class Machine(Struct, frozen=True):
    """Where everything is looked for."""

    python: str
    system: str
    machine: str
    libc: str = ""
    macos: str = ""
    tags: frozenset[str] = frozenset()
    packages: tuple[str, ...] = ()
    """Folders of installed packages, as on ``sys.path``."""
    root: Path = Path("/")
    """What absolute paths are under."""
    environ: Mapping[str, str] = field(default_factory=dict)
    interpreter: str = ""
    """The Python in which packages are imported; "": they are not."""

    @classmethod
    def here(cls) -> "Machine":
        """Give this machine, and the Python that runs."""
        kind, version = platform.libc_ver()
        return cls(
            python=platform.python_version(),
            system=platform.system(),
            machine=platform.machine(),
            libc=version if kind == "glibc" else "",
            macos=platform.mac_ver()[0],
            tags=frozenset(map(str, sys_tags())),
            packages=tuple(path for path in sys.path if path),
            environ=dict(os.environ),
            interpreter=sys.executable,
        )

    def path(self, text: str) -> Path:
        """Where an absolute path is on this machine."""
        return self.root / text.lstrip("/") if text.startswith("/") else Path(text)

    def told(self, path: Path) -> str:
        """A path as people are told of it: without the root that it was looked for under."""
        if self.root == Path("/") or not path.is_relative_to(self.root):
            return str(path)
        return f"/{path.relative_to(self.root).as_posix()}"

    def matching(self, home: Path, pattern: str) -> Iterator[Path]:
        """The files below a folder that a pattern names, sorted."""
        try:
            yield from sorted(home.glob(pattern))
        except (OSError, ValueError):
            return

    def text(self, path: Path) -> str:
        """What stands in a file; "" where it cannot be read."""
        try:
            return read_bytes(path, _MOST_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    def output(self, command: Sequence[str]) -> str:
        """What a command says, by its name or its path; "" where it is missing or fails."""
        found = shutil.which(command[0], path=self.environ.get("PATH", ""))
        if found is None:
            return ""
        try:
            done = subprocess.run(
                [found, *command[1:]],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=COMMAND_SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
                env=dict(self.environ),
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return done.stdout if done.returncode == 0 else ""
