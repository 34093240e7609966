"""What a hostile file of the corpus is, and how its makers are registered."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from tests.hostile.place import Place


class Family(StrEnum):
    """What a file is to the commands: which of them take it."""

    MODEL = "model"
    PYTHON = "python"
    REPORT = "report"
    EMULATION = "emulation"
    POLICY = "policy"
    BASELINE = "baseline"
    OVERLAY = "overlay"
    SCHEMAS = "schemas"
    MANIFEST = "manifest"
    STORE = "store"
    INPUTS = "inputs"
    LINT = "lint"


@dataclass(frozen=True, slots=True)
class Made:
    """A hostile file that was laid into a place."""

    source: str
    """What a person types for it."""
    options: tuple[str, ...] = ()
    """What a person types beside it."""


_IN_TIME = ("--timeout", "8")
Maker = Callable[[Place], "Made | str | bytes | None"]


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile file: how it is made, and what is true of it."""

    reader: str
    name: str
    about: str
    """What the format allows, and what a naive reader does."""
    file: str
    """What it is called; what the maker gives is written there."""
    make: Maker
    family: Family
    near: bool
    """Whether it is valid up to the hostile part."""
    runnable: bool
    """Whether the model can run, and may be called runnable."""
    harmless: bool
    """Whether torch itself may load it, to see whether it runs: nothing in it does harm."""
    runs_code: bool
    """Whether it is code of the user's own, which commands run."""
    limit: float
    """Seconds that a command may take."""
    options: tuple[str, ...]
    """What a person types beside the file."""
    says: str
    """What the command has to say where it refuses: the place that tried."""
    opens_key: bool
    """Whether a person typed the path of the private key, or of a link to it: it may be opened."""
    opens_bait: bool
    """Whether a person typed the path of a payload, or of a folder with it: it may be read."""

    @property
    def key(self) -> str:
        """What it is called among all readers."""
        return f"{self.reader}/{self.name}"

    def lay(self, place: Place) -> Made:
        """Write the file into the project of the place."""
        path = place.project / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        made = self.make(place)
        if isinstance(made, bytes | str):
            content = made.encode("utf-8", "surrogatepass") if isinstance(made, str) else made
            path.write_bytes(content)
            made = None
        if made is None:
            return Made(self.file, self.options)
        return replace(made, options=(*made.options, *self.options))


CASES: list[Case] = []
"""Every case, in the order of its definition."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The cases of one reader; its decorator makes one of a function."""

    reader: str
    file: str
    family: Family
    options: tuple[str, ...] = ()

    def case(
        self,
        *,
        near: bool = True,
        runnable: bool = False,
        harmless: bool = False,
        runs_code: bool = False,
        file: str = "",
        limit: float = 60,
        says: str = "",
        opens_key: bool = False,
        opens_bait: bool = False,
        endless: bool = False,
    ) -> Callable[[Maker], Maker]:
        """Have a function be a case: its name and its docstring are those of the case.

        What would be at work without end is given the time limit that a person would type.
        """
        options = (*self.options, *(_IN_TIME if endless else ()))

        def register(make: Maker) -> Maker:
            about = inspect.getdoc(make)
            assert about, make
            name = make.__name__
            assert not any((c.reader, c.name) == (self.reader, name) for c in CASES), name
            CASES.append(
                Case(self.reader, name, about, file or self.file, make, self.family, near,
                     runnable, harmless, runs_code, limit, options, says, opens_key, opens_bait)
            )  # fmt: skip
            return make

        return register

    def each(
        self, values: Sequence[tuple[str, str, object]], make: Callable[[Place, object], object],
        **options: object,
    ) -> None:  # fmt: skip
        """Register a case for each ``(name, docstring, value)``, made of the value."""
        for name, about, value in values:

            def one(place: Place, value: object = value) -> object:
                return make(place, value)

            one.__name__, one.__doc__ = name, about
            self.case(**options)(one)  # type: ignore[arg-type]


def write(path: Path, content: bytes | str) -> Path:
    """Write a file whose folders may not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
