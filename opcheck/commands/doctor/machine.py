"""The machine that is looked at, a made one in tests; packages imported there, each in a process.

``python -m opcheck.commands.doctor.machine MODULE [DEVICE]`` is such a process: an import may
crash, hang or print.
"""

import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from packaging.tags import sys_tags

from opcheck.commands.doctor.installation import Imported, Outcome
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

    def has(self, command: str) -> bool:
        """Whether there is a command of a name or a path."""
        return shutil.which(command, path=self.environ.get("PATH", "")) is not None

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


_ANSWER = "opcheck-imported "
"""What stands before the answer, since packages print what they like."""
_OWN = Path(__file__).parents[3]
"""Where this package itself is imported from."""
_WORDS = 300


def import_all(
    machine: Machine, modules: Mapping[str, str], seconds: float
) -> Mapping[str, Imported]:
    """Import each module after torch; ``modules`` -> the device type to count, or ""."""
    return {name: _import(machine, name, device, seconds) for name, device in modules.items()}


def _import(machine: Machine, module: str, device: str, seconds: float) -> Imported:
    """One import; torch itself does not load plugins meanwhile, so that each is told apart."""
    paths = [*machine.packages, str(_OWN)]
    environ = {
        **machine.environ,
        "PYTHONPATH": ":".join(paths) if sys.platform != "win32" else ";".join(paths),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }
    command = [machine.interpreter, "-m", __name__, module, device]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds,
            check=False, stdin=subprocess.DEVNULL, env=environ,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Imported(module, Outcome.HUNG, f"no answer within {seconds:g} s")
    except OSError as error:
        return Imported(module, Outcome.FAILED, f"cannot run Python: {error.strerror}")
    for line in done.stdout.splitlines():
        if line.startswith(_ANSWER):
            said = json.loads(line.removeprefix(_ANSWER))
            return Imported(module, Outcome(said["outcome"]), said["text"], said["devices"])
    words = done.stderr.strip().splitlines()
    last = words[-1][:_WORDS] if words else "it said nothing"
    return Imported(module, Outcome.CRASHED, f"exit code {done.returncode}: {last}")


def answer(module: str, device: str) -> Imported:
    """Import torch and a module in this process, and count devices of a type."""
    try:
        torch = importlib.import_module("torch")
        importlib.import_module(module)
    except Exception as error:  # whatever a package raises is what is to be told
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Imported(module, Outcome.FAILED, text[:_WORDS])
    counted = device or ("cuda" if module == "torch" else "")
    try:
        devices = int(getattr(torch, counted).device_count()) if counted else None
    except Exception:  # a device that cannot be counted is none that is known of
        devices = None
    return Imported(module, Outcome.LOADED, "", devices)


def main(module: str, device: str = "") -> None:
    """Import, and write what became of it on a line of its own."""
    found = answer(module, device)
    said = {"outcome": found.outcome, "text": found.text, "devices": found.devices}
    sys.stdout.write(f"\n{_ANSWER}{json.dumps(said)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
