"""What a source kind is, what a request asks of it, and what it gives - model and inputs."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from opcheck.files import MOST_MODEL_BYTES, open_regular
from opcheck.model.jobs import GraphRequest, Request
from opcheck.model.request import CallSpec
from opcheck.model.schemas import Libraries
from opcheck.model.trace import Gap
from opcheck.source.inputs import InputSpec

DIGEST_DIGITS = 16


def digest_of_text(text: str) -> str:
    """Digest of a config or a name."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]


def digest_of_file(path: Path) -> str:
    """Digest of a file's bytes."""
    with open_regular(path, MOST_MODEL_BYTES) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:DIGEST_DIGITS]


LIBRARIES = ("diffusers", "timm", "torchvision", "transformers", "ultralytics")
"""Libraries of models."""
RANDOM_WEIGHTS = "weights are random: the source has none"
"""The note where every weight is the library's initial one, or made up."""


class Loaded(Struct, frozen=True):
    """A model and the inputs of one call.

    Large tensors, parameters and inputs alike, are on meta unless the options ask for weights.
    """

    module: Callable[..., Any]
    """An ``nn.Module`` in eval mode, or another callable."""
    args: tuple[Any, ...]
    """Positional inputs of one call."""
    kwargs: Mapping[str, Any]
    """Named inputs of the same call."""
    kind: str
    """The ``name`` of the source kind that gave it."""
    digest: str
    """sha256 of the file or config, first 16 hex digits; empty for a live module."""
    notes: tuple[str, ...] = ()
    """What was chosen for the user, one sentence each: the class, the inputs, a fallback taken."""
    in_training: tuple[str, ...] = ()
    """Layers that the user's own model has in training mode, and that compute otherwise then."""
    unseen: tuple[Gap, ...] = ()
    """What no run of the module can see: kernels for weights that its config says are packed."""
    imports: tuple[tuple[str, str, int], ...] = ()
    """Packages that are not published for every platform, and without which the code does not load:
    package, file and line of the import."""


class LoadOptions(Struct, frozen=True):
    """What the user asked of every source kind."""

    inputs: tuple[InputSpec, ...] = ()
    """``--input``, in the order given."""
    trust: bool = False
    """Whether code stored inside the file may be run (unpickling)."""
    weights: bool = False
    """Whether every tensor has values: the source's own, else the library's initial ones, seeded;
    inputs too. SourceError where they need more memory than there is room for."""
    calls: CallSpec = CallSpec()
    """Which calls there are to be beyond one."""
    train: bool = False
    """Whether the model is to be trained."""
    own_loss: bool = False
    """Whether inputs are to be made from which it computes its own loss, too."""
    uncalled: bool = False
    """Whether the module alone is wanted, for inputs that are not there yet."""
    libraries: Libraries | None = None
    """What is known of libraries that are not installed; None: nothing stands in for them."""

    @property
    def batch(self) -> int:
        """How many examples made inputs have: in training, batch norm refuses a single one."""
        return 2 if self.train else 1

    @property
    def random_weights(self) -> tuple[str, ...]:
        """The note of a source that has no weights of its own; none where none were asked for."""
        return (RANDOM_WEIGHTS,) if self.weights else ()


class Source(ABC):
    """One kind of model file or name; importing its module must not import torch."""

    name: ClassVar[str]
    """What reports call the kind."""
    help: ClassVar[str]
    """The form the user writes, as ``--help`` lists it."""
    libraries: ClassVar[tuple[str, ...]] = LIBRARIES
    """Those of ``LIBRARIES`` that its models may be made with."""
    code: ClassVar[bool] = False
    """Whether it is code of the user's own, which is run; else nothing in it is, without trust."""
    lists: ClassVar[bool] = False
    """Whether a library knows all its models by name: ``NAME`` may be a pattern in a manifest."""

    @classmethod
    @abstractmethod
    def claims(cls, text: str) -> bool:
        """Whether ``text`` is of this kind; decided without torch and without running anything."""

    def check(self, text: str, options: LoadOptions) -> None:  # noqa: B027  # nothing to check
        """Raise what can be known to be wrong without torch; called before a worker starts."""

    @classmethod
    def path(cls, text: str) -> Path | None:
        """The file or folder that it reads; None for a name that a library knows."""
        return Path(text)

    @classmethod
    def names(cls) -> Sequence[str]:
        """Every name that its library knows, where it ``lists`` them; imports the library."""
        return ()

    @abstractmethod
    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build the model, with its weights only where the options ask for them, and its inputs."""


def options_of(request: Request, *, weights: bool = False) -> LoadOptions:
    """The options to load the source of ``request`` with.

    Raises:
        UsageError: an input is not written as one.
    """
    inputs = tuple(InputSpec.parse(text) for text in request.model.inputs)
    options = LoadOptions(inputs, request.model.trust, weights=weights)
    if isinstance(request, GraphRequest):
        return options
    step = request.model.step
    return replace(
        options,
        calls=request.model.calls,
        train=step is not None,
        own_loss=step is not None and not step.loss,
    )
