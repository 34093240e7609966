"""Runs a command among canaries, and says what it did beside answering."""

import base64
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt

from tests.hostile.place import Place, State
from tests.hostile.watching import GRACE_SECONDS, Listeners, Opened, Processes

GOOD_ENDS = (0, 2, 3, 4, 10)
"""The exit codes that opcheck documents, without that of a crash."""
_LOUD = 4 * 2**20
"""Bytes of output beyond which a command floods whoever reads it."""
_TERMINAL = re.compile(rb"[\x1b\x07]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|(?:^|[\r\n])::hostile")
"""Escapes, changes of direction, and commands of a workflow."""
_PAGE = re.compile(rb"<script>hostile|<img src=hostile|(?:=.?|\]\()javascript:hostile")
"""What the corpus has its texts try in pages."""
_MEMORY = 6 * 2**30
"""Bytes that a command may allocate: what reads a device without end must not take them all."""
_LOADED = (
    "torch", "opcheck.app.main", "tests.hostile.workers", "tests.hostile.loaded",
    "tests.preloaded.database",
)  # fmt: skip
_CACHES = ("home/.cache/opcheck",)
"""What a command may keep for the next one."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What a command did, each with what shows it."""

    executed: tuple[str, ...] = ()
    """Signs that a payload ran, or was about to: its mark in the output, its file opened."""
    wrote: tuple[str, ...] = ()
    """Paths that came, went or changed, other than the outputs that were asked for."""
    connected: tuple[str, ...] = ()
    processes: tuple[str, ...] = ()
    """Command lines of what was left running."""
    read: bool = False
    """Whether the private key was opened."""
    leaked: tuple[str, ...] = ()
    """Where a secret turned up."""
    injected: tuple[str, ...] = ()
    """Outputs with what a terminal, a page or a workflow would obey."""
    flooded: bool = False
    hung: bool = False
    exit_code: int = 0
    output: str = ""
    """Stdout and stderr, for whoever looks into it."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The outputs that were asked for."""

    def harm(self) -> tuple[str, ...]:
        """The kinds of harm that were done, none for an innocent command."""
        found = {
            "executed": self.executed, "wrote": self.wrote, "connected": self.connected,
            "processes": self.processes, "read": self.read, "leaked": self.leaked,
            "injected": self.injected,
            "flooded": self.flooded, "hung": self.hung,
            "crashed": not self.hung and self.exit_code not in GOOD_ENDS,
        }  # fmt: skip
        return tuple(kind for kind, seen in found.items() if seen)

    def evidence(self) -> str:
        """What shows the harm, in one line."""
        shown = [*self.executed, *self.wrote, *self.connected, *self.processes, *self.leaked,
                 *self.injected]  # fmt: skip
        return "; ".join(shown) or f"exit code {self.exit_code}"


class Canary:
    """A place for commands, with listeners; one command at a time."""

    def __init__(self, root: Path, launch: Sequence[str] | None = None) -> None:
        self._listeners = Listeners()
        self.place = Place.below(root, self._listeners.number)
        self._launch = tuple(launch or (sys.executable, "-P", "-m", "opcheck"))
        """-P: hostile files lie in the folder that it is started in."""

    @classmethod
    @contextlib.contextmanager
    def opened(cls, launch: Sequence[str] | None = None) -> Iterator["Canary"]:
        """A canary in a folder that is removed in the end."""
        with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
            canary = cls(Path(folder) / "place", launch)
            try:
                canary.place.fill()
                yield canary
            finally:
                canary._listeners.close()

    def load(self) -> None:
        """Start commands from now on as copies of a process that has imported what they need."""
        from tests.preloaded import python

        self.place.fill()
        before = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, before[1]))  # inherited by all of them
        loaded = python(*_LOADED, environment=tuple(self.place.environment().items()))
        resource.setrlimit(resource.RLIMIT_DATA, before)
        # once it answers it has started all that it keeps, which no command leaves behind
        subprocess.run([*loaded, "-c", ""], cwd=self.place.project,
                       env=self.place.environment(), check=True)  # fmt: skip
        self._launch = (*loaded, "-P", "-m", "opcheck")

    def also(self, module: str) -> tuple[str, ...]:
        """What starts another module in the way in which commands are started."""
        return (*self._launch[:-1], module)

    def run(
        self,
        prepare: Callable[[Place], Sequence[str]],
        outputs: Sequence[str] = (),
        limit: float = 60,
        launch: Sequence[str] | None = None,
        grace: float = GRACE_SECONDS,
    ) -> Effects:
        """Start a command in the place and look for what it did.

        Args:
            prepare: lays the hostile file into the place; gives the arguments of the command.
            outputs: files of the project that the command is asked to write, or folders.
            limit: seconds after which it hangs.
            launch: what to start instead of opcheck.
            grace: seconds that its processes may take to end once it has.
        """
        place = self.place
        place.fill()
        arguments = prepare(place)
        self._listeners.listen(place.unix, f"hostile-{place.nonce}")
        before = place.state()
        opened = Opened((*place.bait_files, place.secret))
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Processes() as all_:
            command = (*(launch or self._launch), *arguments)
            code = _ended(command, place, (out.fileno(), err.fileno()), limit)
            left = all_.left(place.sleeping, grace)
            loud = max(os.fstat(stream.fileno()).st_size for stream in (out, err)) > _LOUD
            streams = [_beginning(stream.fileno()) for stream in (out, err)]
        found, heard = opened.seen(), self._listeners.heard()
        wanted = tuple(f"project/{name}" for name in outputs) + _CACHES
        files = dict(_contents(place, outputs))
        texts = {"stdout": streams[0], "stderr": streams[1], **heard, **files}
        return Effects(
            executed=(
                *(f"opened {path.name}" for path in sorted(found - {place.secret})),
                *(f"its mark in {name}" for name, text in texts.items()
                  if place.mark.encode() in text),
                *(("the process ended by its order",) if code == 213 or (b"213" in streams[1] and
                  b"code 213" in streams[1]) else ()),
            ),
            wrote=tuple(_changes(before, place.state(), wanted)),
            connected=tuple(sorted(heard)),
            processes=left,
            read=place.secret in found,
            leaked=tuple(name for name, text in texts.items() if _leaks(place, text)),
            injected=tuple(name for name, text in texts.items() if _injected(name, text)),
            flooded=loud,
            hung=code is None,
            exit_code=-signal.SIGKILL if code is None else code,
            output=b"\n".join(streams).decode(errors="replace"),
            files=files,
        )  # fmt: skip


def _ended(
    command: Sequence[str], place: Place, streams: tuple[int, int], limit: float
) -> int | None:
    """The exit code of a command, None where it had to be ended."""
    process = subprocess.Popen(
        command, cwd=place.project, env=place.environment(), stdin=subprocess.DEVNULL,
        stdout=streams[0], stderr=streams[1], start_new_session=True,
    )  # fmt: skip
    with contextlib.suppress(ProcessLookupError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MEMORY, hard))
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def _beginning(stream: int) -> bytes:
    return os.pread(stream, _LOUD, 0)


def _contents(place: Place, outputs: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for name in outputs:
        path = place.project / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            # a link is no output: to the key, it is the hostile file itself
            if file.is_file() and not file.is_symlink():
                yield str(file.relative_to(place.project)), file.read_bytes()


def _changes(before: State, after: State, wanted: Sequence[str]) -> Iterator[str]:
    for name in sorted({*before, *after}):
        if before.get(name) == after.get(name):
            continue
        if any(name == path or name.startswith((f"{path}/", f"{path}-")) for path in wanted):
            continue  # -wal and -journal of a store are its own
        if any(path.startswith(f"{name}/") for path in wanted):
            continue
        verb = "changed" if name in before and name in after else "wrote"
        yield f"{verb if name in after else 'removed'} {name}"


def _injected(name: str, text: bytes) -> bool:
    """Whether whoever shows an output would obey it."""
    if name.endswith(".markdown"):  # as a reader shows it: code in it is text
        page = MarkdownIt("gfm-like", {"html": True, "linkify": False})
        return bool(_PAGE.search(page.render(text.decode(errors="replace")).encode()))
    if name.endswith(".html"):
        return bool(_PAGE.search(text))
    shown = name in ("stdout", "stderr") or name.endswith((".text", ".github"))
    return shown and bool(_TERMINAL.search(text))


def _numbers(part: bytes) -> bytes:
    return b" ".join(b"%d" % byte for byte in part)


def _leaks(place: Place, text: bytes) -> bool:
    """Whether a secret stands in the text: as it is, or as what programs make of bytes."""
    numbers = b" ".join(re.findall(rb"\d+", text))  # tensors and sizes, however they are written
    for secret in (place.key.encode(), place.token.encode()):
        part = secret[4:16]
        spelled = [secret, part.hex().encode(), base64.b64encode(secret)[:12]]
        if any(form in text for form in spelled) or _numbers(part[:6]) in numbers:
            return True
    return False
