"""What the user asks for: one model held against some targets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from opcheck.model.calls import CallSpec
from opcheck.model.dynamic import DynamicInput
from opcheck.model.target import TargetSpec
from opcheck.model.training import TrainingSpec


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """One scan, before anything was loaded or looked up."""

    source: str
    """A file, a directory or a name, as the user wrote it."""
    targets: tuple[TargetSpec, ...]
    """Empty: the newest release of every target in the database."""
    inputs: tuple[str, ...] = ()
    """``ids=1x128:int64``, read by the source room."""
    exact: bool = False
    """Record the kernels asked for on every target, not only where that is free."""
    timeout: float | None = None
    """Seconds for loading and running the model; None: no limit."""
    memory: float | None = None
    """GiB for the process that loads and runs the model; None: most of what the machine has."""
    trust: bool = False
    """Whether pickled code in the source may run."""
    databases: tuple[str, ...] = ()
    """Folders of overlays, of which the last one holds."""
    max_age: int | None = None
    """Days that the vendors' data may be old; None: any age will do."""
    rules: tuple[str, ...] = ()
    """Folders of the user's own rewrite rules, for a plan."""
    patched: Mapping[str, str] = field(default_factory=dict)
    """Path of a Python file of the user's -> the file whose text is imported in its place."""
    step: TrainingSpec | None = None
    """The training step to scan; None: a forward."""
    calls: CallSpec = field(default=CallSpec())
    """Which calls there are to be beyond one."""
    dynamic: tuple[DynamicInput, ...] = ()
    """Inputs with dimensions whose size is not always the same."""
    schemas: tuple[str, ...] = ()
    """Files of the user's that describe libraries which are not installed."""
    explained: bool = False
    """Whether each finding is to say what was looked at."""
