"""What every call of a tool shares, as the server's command line has it."""

from msgspec import Struct

SHIM = "opcheck_shim.py"
"""What a shim is called in the folder that a client names."""


class ServerSettings(Struct, frozen=True):
    """What no argument of a tool can change."""

    databases: tuple[str, ...] = ()
    """Folders of overlays, of which the last one holds."""
    trust: bool = False
    """Whether pickled code in a source may run."""
    timeout: float | None = None
    """Seconds for loading and running a model; None: the default of the source's kind."""
    memory: float | None = None
    """GiB for the process that loads and runs a model; None: most of what the machine has."""
    characters: int = 24_000
    """Of one answer, at most."""

    def common(self) -> list[str]:
        """The options of every command."""
        return [f"--db={folder}" for folder in self.databases]

    def of_model(self) -> list[str]:
        """The options of a command that loads a model."""
        limits = {"timeout": self.timeout, "memory": self.memory}
        words = [f"--{name}={value}" for name, value in limits.items() if value is not None]
        return [*self.common(), *words, *(["--trust"] if self.trust else [])]


class Ran(Struct, frozen=True):
    """How one command line ended."""

    code: int
    out: str
    err: str


class Answer(Struct, frozen=True):
    """What a call is answered by, whole."""

    text: str
    failed: bool = False
    """Whether there is no answer; the text says why."""
