"""What vendors and their communities list of whole models: which run, in which precision."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from opcheck.model.verdict import Evidence


class Outcome(StrEnum):
    """What a list says of a model, best first."""

    SUPPORTED = "supported"
    EXPERIMENTAL = "experimental"
    INACCURATE = "inaccurate"
    """It runs, and a compiled run differs from an eager one by more than the test allows."""
    COMPILE_FAILS = "compile-fails"
    """It runs eagerly, and not once compiled."""
    OUT_OF_MEMORY = "out-of-memory"
    """The device that the list was made on has too little memory for it."""
    UNTESTED = "untested"
    FAILS = "fails"
    """It was run, and ended with an error."""
    UNSUPPORTED = "unsupported"

    @property
    def rank(self) -> int:
        """0 for the best."""
        return _ORDER[self]

    @property
    def runs(self) -> bool | None:
        """Whether the model runs eagerly by this; None: it does not tell."""
        return _RUNS[self]


_ORDER = {outcome: rank for rank, outcome in enumerate(Outcome)}
_RUNS = {
    Outcome.SUPPORTED: True,
    Outcome.EXPERIMENTAL: True,
    Outcome.INACCURATE: True,
    Outcome.COMPILE_FAILS: True,
    Outcome.OUT_OF_MEMORY: None,
    Outcome.UNTESTED: None,
    Outcome.FAILS: False,
    Outcome.UNSUPPORTED: False,
}


class ModelList(Struct, frozen=True):
    """A list of models, as its authors publish it."""

    name: str
    """As people know it: ``vllm-ascend``."""
    vendor: str
    """Of whose devices it speaks, by its folder in the database."""
    engine: str
    """What runs the models: ``vLLM``."""
    release: str
    """Of what publishes it; where it has none, the branch."""


class ModelRow(Struct, frozen=True):
    """What one row of a list says of one model."""

    of: ModelList
    name: str
    """The model, as the list has it."""
    mode: str
    """``inference`` or ``train``."""
    outcome: Outcome | None
    """What it says whatever the precision; None: it speaks of precisions alone."""
    precisions: Mapping[Outcome, tuple[str, ...]]
    """dtypes as torch has them, and kinds of quantisation."""
    chips: tuple[str, ...]
    """By the names of the database; (): the list does not tell."""
    types: tuple[str, ...]
    """``model_type`` of the configs of transformers that it is about."""
    classes: tuple[str, ...]
    """Classes of transformers."""
    builds: tuple[str, ...]
    """Sources that build it: ``timm:convnext_base``."""
    note: str
    evidence: Evidence

    @property
    def best(self) -> Outcome:
        """What it says in the precision of which it says the best."""
        return self.outcome or min(self.precisions, key=lambda said: said.rank)

    def outcome_in(self, dtype: str) -> Outcome | None:
        """What it says of a precision; the best where ``dtype`` is "". None: nothing."""
        if not dtype:
            return self.best
        listed = (said for said, names in self.precisions.items() if dtype in names)
        return next(listed, self.outcome)


class Likeness(StrEnum):
    """How a row names the model that was scanned, the surest first."""

    BUILD = "build"
    """By the very name that builds it."""
    CLASS = "class"
    """By its class."""
    FAMILY = "family"
    """By its ``model_type``, which other sizes of it share."""


class ModelIdentity(Struct, frozen=True):
    """What a model is known by, apart from its code."""

    model_type: str = ""
    classes: tuple[str, ...] = ()
    build: str = ""
    dtype: str = ""
    """Of its weights; "": not told."""

    def likeness(self, row: ModelRow) -> Likeness | None:
        """How a row names it; None: it does not."""
        if self.build and self.build in row.builds:
            return Likeness.BUILD
        if any(name in row.classes for name in self.classes):
            return Likeness.CLASS
        return Likeness.FAMILY if self.model_type and self.model_type in row.types else None


class ListedModel(Struct, frozen=True):
    """A row that names the model which was scanned."""

    row: ModelRow
    outcome: Outcome
    """In the model's precision where the row speaks of it, else the best one."""
    by: Likeness
    tells: bool
    """Whether it speaks of the model's precision."""


class ModelEvidence(Struct, frozen=True):
    """What lists say of a scanned model on one target."""

    listed: tuple[ListedModel, ...]
    """The surest first, and of those the best outcome."""
    runs: bool | None
    """What they come to; None: they do not tell."""
    contradicts: bool
    """Whether that is the opposite of the verdict beside it."""
