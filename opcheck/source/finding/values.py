"""What was found in a project: sources, those that lack something, and what was left out."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from opcheck.lang.sentence import Sentence


class Kind(StrEnum):
    """What a source of a project is."""

    FACTORY = "factory"
    """A function that returns a model."""
    CLASS = "class"
    """A class of modules."""
    CONFIG = "config"
    """A config of which a library makes the model."""
    SAVED = "saved"
    """A saved model."""
    SCRIPT = "script"
    """A script that trains, or a notebook that does."""


class Lacks(StrEnum):
    """What keeps a source from being checked as it is."""

    NOTHING = "nothing"
    INPUTS = "inputs"
    """Its forward has several parameters, and nothing tells what they are."""
    ARGUMENTS = "arguments"
    """It cannot be made or run without arguments."""


class Candidate(Struct, frozen=True):
    """One source of a project."""

    source: str
    """``models/net.py:build`` from the project's folder on; of a script its path."""
    kind: Kind
    reason: Sentence
    """Why it is one."""
    line: int = 0
    """Where it is defined; 0 for what is a file of its own."""
    inputs: tuple[str, ...] = ()
    """As ``--input`` has them, where the project's own code calls it on such."""
    inputs_from: Sentence | None = None
    """What tells its inputs; None where nothing does, or none are needed."""
    lacks: Lacks = Lacks.NOTHING
    names: tuple[str, ...] = ()
    """Parameters of which nothing is known: of its forward, of itself, or options of a script."""
    made_as: str = ""
    """How it may be made where it lacks arguments, ``GPT(GPTConfig())``; "" where nothing tells."""
    options: Mapping[str, str | int] = field(default_factory=dict)
    """Options of a script."""

    @property
    def is_script(self) -> bool:
        """Whether it is run, and not called."""
        return self.kind is Kind.SCRIPT


class Found(Struct, frozen=True):
    """What of a folder can be checked."""

    candidates: tuple[Candidate, ...]
    """In the order of their files and lines; those that lack something too."""
    notes: tuple[Sentence, ...] = ()
    """What was not read, or left out, and why."""

    @property
    def ready(self) -> tuple[Candidate, ...]:
        """Those that can be checked as they are."""
        return tuple(one for one in self.candidates if one.lacks is Lacks.NOTHING)

    @property
    def lacking(self) -> tuple[Candidate, ...]:
        """Those that lack something."""
        return tuple(one for one in self.candidates if one.lacks is not Lacks.NOTHING)
