"""Sizes that are not always the same: which ones, where they matter, how targets take that."""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.verdict import Confidence, Evidence

_DIM = re.compile(r"-?[0-9]{1,3}")
_HINT = Sentence(
    'write NAME:DIM, as in --dynamic "ids:1", or NAME:DIM,DIM, as in --dynamic "x:2,3"'
)

READ_BY_PYTHON = frozenset({
    "aten::_local_scalar_dense", "aten::item", "aten::is_nonzero", "aten::equal",
    "aten::allclose",
})  # fmt: skip
"""Overloads that give Python a value of the device's."""


class DynamicInput(Struct, frozen=True):
    """An input of the model, and those of its dimensions whose size is not always the same."""

    name: str
    """The forward's parameter, or the position of the input as digits."""
    dims: tuple[int, ...]
    """Each once; negative ones count from the end."""

    @classmethod
    def parse(cls, text: str) -> "DynamicInput":
        """Read ``NAME:DIM[,DIM]``.

        Raises:
            UsageError: it is not of that form.
        """
        name, _, rest = text.rpartition(":")
        dims = rest.split(",")
        if not (name.isidentifier() or name.isdecimal()):
            raise UsageError(
                Sentence(
                    "--dynamic {text}: {text_b} is not the name of an input",
                    text=repr(text),
                    text_b=repr(name),
                ),
                _HINT,
            )
        for dim in dims:
            if not _DIM.fullmatch(dim):
                raise UsageError(
                    Sentence(
                        "--dynamic {text}: {text_b} is not a dimension",
                        text=repr(text),
                        text_b=repr(dim),
                    ),
                    _HINT,
                )
        return cls(name, tuple(dict.fromkeys(map(int, dims))))

    def __str__(self) -> str:
        return f"{self.name}:{','.join(map(str, self.dims))}"


def dynamic_inputs(texts: Sequence[str]) -> tuple[DynamicInput, ...]:
    """Every ``--dynamic`` of a command, in the order given."""
    return tuple(map(DynamicInput.parse, texts))


class SiteKind(StrEnum):
    """Why a line matters where sizes are not always the same."""

    DATA_SIZE = "data-dependent-size"
    """What comes out has a size that depends on values."""
    DATA_READ = "data-dependent-read"
    """Python reads a value, and may decide by it."""
    SHAPE_BRANCH = "shape-branch"
    """Python decides by a size."""
    DYNAMIC_SIZE = "dynamic-size"
    """A call is given tensors or numbers that vary with the marked sizes."""
    FIXED_SIZE = "fixed-size"
    """The model itself takes no other size here."""


class Taking(StrEnum):
    """How a target takes it, best first."""

    FINE = "fine"
    RECOMPILES = "recompiles"
    NOT_ALLOWED = "not-allowed"
    UNKNOWN = "unknown"


class Site(Struct, frozen=True):
    """One place in the model where a size that is not always the same matters."""

    kind: SiteKind
    op: str
    """The overload that is called; "" where it is Python that decides."""
    module: str
    file: str
    line: int
    count: int
    """Calls, or decisions, in one run."""
    text: str
    """What was seen, as a clause."""
    varies: tuple[str, ...] = ()
    """Arguments of the call that vary; ``dim`` where the size of the dimension that it names does.

    Reports do not have them: they are what rules for a target are asked with.
    """


class SizeRule(Struct, frozen=True):
    """What is known of a target: how it takes sites of some kinds."""

    kinds: frozenset[SiteKind]
    ops: frozenset[str]
    """Overloads that it holds for; empty: all."""
    how: Taking
    text: str
    confidence: Confidence
    evidence: tuple[Evidence, ...]
    varies: str = ""
    """What of a call has to vary for it to hold, as a site has it; "": anything."""

    def holds(self, site: Site) -> bool:
        """Whether it is about such a site."""
        about = site.kind in self.kinds and (not self.ops or site.op in self.ops)
        return about and (not self.varies or self.varies in site.varies)


class SiteTaken(Struct, frozen=True):
    """One site on one target."""

    site: Site
    how: Taking
    text: str
    """Why, as a clause."""
    confidence: Confidence
    evidence: tuple[Evidence, ...]
