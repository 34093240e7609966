"""A model as the user names it, and what is to be found out about it."""

from collections.abc import Mapping

from msgspec import Struct, field

from opcheck.model.calls import CallSpec
from opcheck.model.dynamic import DynamicInput
from opcheck.model.target import TargetSpec
from opcheck.model.training import TrainingSpec


class ModelSpec(Struct, frozen=True):
    """One model, what it is called on, and what loading and running it may use."""

    source: str
    """A file, a directory or a name, as the user wrote it."""
    inputs: tuple[str, ...] = ()
    """``--input``, as the user wrote them: ``ids=1x128:int64``, parsed by ``source``."""
    step: TrainingSpec | None = None
    """The training step to run; None: a forward."""
    calls: CallSpec = CallSpec()
    """The calls beyond one."""
    dynamic: tuple[DynamicInput, ...] = ()
    """Inputs with dimensions whose size is not always the same."""
    schemas: tuple[str, ...] = ()
    """Files of the user's with operator schemas of libraries that are not installed."""
    patched: Mapping[str, str] = field(default_factory=dict)
    """Path of a Python file of the user's -> the file whose text is imported in its place."""
    trust: bool = False
    """Whether pickled code in the source may run."""
    timeout: float | None = None
    """Seconds for loading and running the model; None: the default of the source's kind."""
    memory: float | None = None
    """GiB for the process that loads and runs the model; None: most of what the machine has."""


class ScanRequest(Struct, frozen=True):
    """One scan, before anything is loaded or looked up."""

    model: ModelSpec
    targets: tuple[TargetSpec, ...]
    """Empty: the newest release of every target in the database."""
    exact: bool = False
    """Whether to record the kernels of every target, not only where that is free."""
    databases: tuple[str, ...] = ()
    """Folders of overlays, of which the last one holds."""
    max_age: int | None = None
    """Days that the vendors' data may be old; None: any age will do."""
    rules: tuple[str, ...] = ()
    """Folders of the user's own rewrite rules, for a plan."""
    explained: bool = False
    """Whether each finding is to list the steps that led to it."""
