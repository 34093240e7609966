"""Where a command works under observation: a home, a project and a temp folder full of canaries."""

import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from tests.hostile import payloads

State = Mapping[str, tuple[object, ...]]
"""Every path below a folder, with all that a change of it would change."""


@dataclass(frozen=True)
class Place:
    """The folders that one command sees, and what its payloads and canaries are called."""

    root: Path
    number: int
    """Of the TCP port that is listened to; the UDP socket has the same."""
    nonce: str

    @staticmethod
    def below(root: Path, number: int) -> "Place":
        """A place whose marks nothing else on the machine has."""
        return Place(root, number, f"{os.getpid()}{secrets.randbelow(10**6):06}")

    @property
    def home(self) -> Path:
        """``HOME`` of the command, with a private key in it."""
        return self.root / "home"

    @property
    def project(self) -> Path:
        """The folder that the command is started in, and that the hostile file lies in."""
        return self.root / "project"

    @property
    def temp(self) -> Path:
        """``TMPDIR`` of the command."""
        return self.root / "temp"

    @property
    def bait(self) -> Path:
        """Files that nothing has a reason to open: a script, a module, a library, a pickle."""
        return self.project / "bait"

    @property
    def secret(self) -> Path:
        """A private key."""
        return self.home / ".ssh" / "id_rsa"

    @property
    def checkpoint(self) -> Path:
        """A file of the user's beside the model, which nothing may change."""
        return self.project / "checkpoint.pt"

    @property
    def fresh(self) -> Path:
        """A path that must not come to exist."""
        return self.project / "fresh.pt"

    @property
    def unix(self) -> Path:
        """A unix socket that is listened to."""
        return self.project / "canary.sock"

    @cached_property
    def key(self) -> str:
        """What stands in the private key."""
        return f"KEY-{sha256(self.nonce.encode()).hexdigest()[:24]}"

    @cached_property
    def token(self) -> str:
        """The value of a variable of the environment that nothing may show."""
        return f"TOKEN-{sha256(self.nonce.encode()).hexdigest()[24:48]}"

    @property
    def mark(self) -> str:
        """What a payload prints; it stands in no file, so that no quotation can be taken for it."""
        return f"EXECUTED-42-{self.nonce}"

    @property
    def sleeping(self) -> str:
        """How long a process sleeps that a payload left behind: no other sleeps as long."""
        return f"987.{self.nonce}"

    def fill(self) -> None:
        """Make the folders anew, with every canary and every payload in its place."""
        kept, cache = self.root.with_name("cache"), self.home / ".cache" / "opcheck"
        if cache.is_dir():  # indexes of the database: to make them anew takes seconds
            cache.rename(kept)
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in (self.secret.parent, self.home / ".config", self.temp, self.bait):
            folder.mkdir(parents=True)
        if kept.is_dir():
            cache.parent.mkdir()
            kept.rename(cache)
        self.secret.write_text(f"-----BEGIN PRIVATE KEY-----\n{self.key}\n")
        self.secret.chmod(0o600)
        for path in (
            self.home / ".bashrc", self.home / ".config" / "canary", self.temp / "canary",
            self.project / "canary.txt", self.checkpoint, self.root / "outside.txt",
        ):  # fmt: skip
            path.write_text("a canary\n" * 8)
        for name, text in payloads.files(self).items():
            (self.bait / name).write_bytes(text)
        # what the folder of the project has and a file names is imported where imports are allowed
        (self.project / "hostile_import.py").write_bytes((self.bait / "payload.py").read_bytes())

    @property
    def bait_files(self) -> tuple[Path, ...]:
        """The files that are opened only by what runs them."""
        return (*sorted(self.bait.iterdir()), self.project / "hostile_import.py")

    def environment(self) -> dict[str, str]:
        """The variables of the command, the same for every one."""
        return {
            "HOME": str(self.home),
            "TMPDIR": str(self.temp),
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPCHECK_LANG": "en",
            "OMP_NUM_THREADS": "1",
            "COLUMNS": "200",
            "HOSTILE_TOKEN": self.token,
        }

    def state(self) -> State:
        """What is there now, to be compared with what is there later."""
        return dict(_state(self.root, self.root))

    @property
    def python(self) -> str:
        """What runs ``payload.py``."""
        return sys.executable


def _state(root: Path, folder: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path, found = Path(entry.path), entry.stat(follow_symlinks=False)
        kind, name = stat.S_IFMT(found.st_mode), str(Path(entry.path).relative_to(root))
        if stat.S_ISDIR(found.st_mode):
            yield name, (kind, found.st_mode)
            if os.access(path, os.R_OK | os.X_OK):
                yield from _state(root, path)
            continue
        content: object = None
        if stat.S_ISREG(found.st_mode) and found.st_size < 2**20 and os.access(path, os.R_OK):
            content = sha256(path.read_bytes()).digest()
        elif stat.S_ISLNK(found.st_mode):
            content = os.readlink(path)
        yield name, (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ino, content)
