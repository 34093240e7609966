"""Many models compared with many targets: what is asked, what is answered, and a run of it."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from opcheck.model.report import Summary
from opcheck.model.request import ScanRequest
from opcheck.model.script import ScriptRequest
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Confidence, Verdict


class Ending(StrEnum):
    """How the scan of one model ended; with all but the first there may be answers until then."""

    SCANNED = "scanned"
    FAILED = "failed"
    """It cannot be loaded or traced: opcheck or the model's own code says why."""
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    CRASHED = "crashed"
    """Native code crashed, or its code ended the process."""
    LOST = "lost"
    """What worked on it was ended from outside, again and again; the next run tries anew."""


class Cause(StrEnum):
    """What kind of thing stands in the way."""

    KERNEL = "kernel"
    """The target has no kernel for an overload."""
    CONDITION = "condition"
    """It has one, and the call breaks a condition: of dtype, rank, size, value, release."""
    UNKNOWN = "unknown"
    """Nobody has said."""


class Entry(Struct, frozen=True):
    """One model of a manifest, or one script on one target of a run."""

    name: str
    """What it is called in answers; of no other entry, but that a script has one for each target
    of a run."""
    request: ScanRequest
    """Its source and options; ``targets`` is empty, since a run has the same for all."""
    where: str = ""
    """Where it was read, for messages: ``models.yaml:12``."""
    script: ScriptRequest | None = None
    """What is run where it is a script: ``request`` has no more than its name and its limits."""
    target: str = ""
    """``str(Target)`` of a script in a run, which may ask the device what it is; "" of a model, and
    in a manifest."""

    @property
    def source(self) -> str:
        """The model's source, or the script's command line."""
        return self.request.model.source if self.script is None else self.script.script.text

    @property
    def label(self) -> str:
        """Its name, with the target where it is of one alone."""
        return label_of(self.name, self.target) if self.target else self.name


def label_of(name: str, target: str) -> str:
    """A script on one of its targets: ``nanogpt (ascend-910b@26.1.0)``."""
    return f"{name} ({target.partition('+')[0]})"


class StoredTrace(Struct, frozen=True):
    """What a model did on one device type, as it is kept."""

    device_type: str
    casts: str
    """Casts that give another dtype than asked, ``float64=float32``, with commas; mostly "".

    A digest of the vendor's own lists for autocast comes behind, where its targets share them.
    """
    data: str
    """Base64 of compressed JSON, of a script that of its run; :mod:`opcheck.commands.fleet.traces`
    reads it."""
    same_as: str = ""
    """``name`` of the trace of this model that it is, but for the name of the device; ``data`` is
    "" then."""

    @property
    def name(self) -> str:
        """What tells it from the model's other traces: ``npu``, or ``npu float64=float32``."""
        return f"{self.device_type} {self.casts}".rstrip()


class Job(Struct, frozen=True):
    """One model to hold against targets, as an engine hands it to whoever does it."""

    position: int
    """Of the entry in its run, from 0."""
    name: str
    request: ScanRequest
    """With every target named whole, and the limits of this model."""
    casts: Mapping[str, str] = field(default_factory=dict)
    """Device type -> ``StoredTrace.casts`` of its trace in this run."""
    traces: tuple[StoredTrace, ...] = ()
    """Those that are known already: what they serve is not traced again."""
    script: ScriptRequest | None = None
    """What is run, with its target, where it is a script and no model."""


class Blocker(Struct, frozen=True):
    """One thing that keeps calls of a model off a target."""

    op: str
    """The overload that has no kernel, or whose condition is broken: often not one that the model
    calls itself, but one that its calls run as."""
    cause: Cause
    code: str
    """Stable reason code: ``no-kernel``, ``dtype-not-supported``, …"""
    verdict: Verdict
    """What it makes of the calls: unsupported, unknown or fallback."""
    text: str
    """One sentence; the same for every model that meets it."""
    confidence: Confidence
    calls: int
    """How many of the model's calls meet it."""
    called: tuple[str, ...]
    """The overloads that the model calls there, sorted; ``op`` itself where it is one."""
    module: str = ""
    """The first place where it is met."""
    file: str = ""
    line: int = 0


class TargetResult(Struct, frozen=True):
    """How one model fares on one target."""

    target: str
    """``str(Target)``."""
    database_digest: str
    verdict: Verdict
    """The worst there is: ``unknown`` too where the trace has gaps."""
    runs: bool | None
    support_rate: float | None
    operators: Mapping[Verdict, int]
    """Distinct overloads that the model calls, by verdict."""
    calls: Mapping[Verdict, int]
    islands: int
    fallback_bytes: int
    blockers: tuple[Blocker, ...]
    """Worst first, then by overload and code. A model runs once all that are unsupported or unknown
    are gone, and runs on the device alone once all are."""


def target_result(
    target: str, database_digest: str, figures: Summary, blockers: tuple[Blocker, ...]
) -> TargetResult:
    """How a model fares on ``target``, ``str(Target)``, by the figures of its calls there."""
    met = [verdict for verdict, count in figures.calls.items() if count]
    if figures.runs is None:
        met.append(Verdict.UNKNOWN)
    return TargetResult(
        target=target,
        database_digest=database_digest,
        verdict=max(met, key=lambda verdict: verdict.rank, default=Verdict.UNKNOWN),
        runs=figures.runs,
        support_rate=figures.support_rate,
        operators=figures.operators,
        calls=figures.calls,
        islands=figures.islands,
        fallback_bytes=figures.fallback_bytes,
        blockers=blockers,
    )


class Outcome(Struct, frozen=True):
    """What came of one job: the same whatever engine did it, and wherever."""

    ending: Ending
    reason: str = ""
    """One sentence; "" where it was scanned."""
    hint: str = ""
    kind: str = ""
    """The source kind that loaded it; "" where none did."""
    digest: str = ""
    """As the report of a scan has it."""
    torch_version: str = ""
    calls: int = 0
    operators: int = 0
    gaps: tuple[str, ...] = ()
    """``where: reason``, sorted."""
    targets: tuple[TargetResult, ...] = ()
    """In the order asked for."""
    traces: tuple[StoredTrace, ...] = ()
    """Those that were made; none of a scan that did not end well. Of a script its run."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The user's own files that it was made from -> digest; with another text it is another
    model."""


class Done(Struct, frozen=True):
    """A job that is over, and what that took."""

    position: int
    outcome: Outcome
    seconds: float
    worker: str = ""
    """Who did it: a number, or a node's name."""


class Began(Struct, frozen=True):
    """A job that someone has begun."""

    position: int
    worker: str = ""


class RunTarget(Struct, frozen=True):
    """One target of a run, with the data that it was compared with."""

    target: str
    """``str(Target)``."""
    vendor: str
    chip: str
    sdk: str
    torch: str
    device_type: str
    database_digest: str
    database_date: str
    casts: str = ""
    """``StoredTrace.casts`` of the traces that its answers rest on."""


class Run(Struct, frozen=True):
    """One run over a manifest."""

    id: int
    manifest: str
    """As the user named it."""
    begun: str
    """UTC, ISO, to seconds."""
    ended: str
    """"" of one that is not over: the same command goes on with it."""
    opcheck_version: str
    torch_version: str
    engine: str
    targets: tuple[RunTarget, ...]
    models: int
    done: int
    """How many of them have an outcome."""


class Filters(Struct, frozen=True):
    """Which answers of a run are asked for; what is empty is not asked about."""

    targets: tuple[str, ...] = ()
    """Globs on the target, or on its short name: ``ascend-*``."""
    models: tuple[str, ...] = ()
    """Globs on the model's name: ``timm:resnet*``."""
    verdicts: tuple[Verdict, ...] = ()
    operators: tuple[str, ...] = ()
    """Globs on the overload of a blocker, with or without its namespace and overload name:
    ``aten::gelu``, ``gelu``, ``*conv*``."""
    endings: tuple[Ending, ...] = ()


class Answer(Struct, frozen=True):
    """One model of a run on one target of it."""

    position: int
    """Of the model in the run."""
    model: str
    source: str
    ending: Ending
    """Of the model's scan; of a script, of its run on ``target``."""
    reason: str
    target: str
    """"" where the model has no answer on any target."""
    verdict: Verdict | None
    """None where there is no answer: its ending says why."""
    runs: bool | None
    support_rate: float | None
    blockers: tuple[Blocker, ...] = ()
    """Worst first; of a query for operators, those that were asked for."""


class FleetRequest(Struct, frozen=True):
    """One run over a manifest, before anything was read."""

    manifest: str
    targets: tuple[TargetSpec, ...]
    """Empty: the newest release of every target in the database."""
    store: str
    """The path of the SQLite file."""
    options: Mapping[str, object] = field(default_factory=dict)
    """What holds for every model of which the manifest does not say it: ``timeout``, ``memory``,
    …, as fields of a manifest are."""
    databases: tuple[str, ...] = ()
    engine: str = "local"
    workers: int | None = None
    """None: one for each processor."""
    address: str = ""
    """Where a cluster is, for engines that have one."""
    retry: bool = False
    """Whether models whose scan did not end well are scanned again."""
    ship: bool = False
    """Whether the working directory is sent to the nodes of a cluster."""
    trust: bool = False
    """Whether code that is stored inside the files of models may be run; of all of them."""


class Answers(Struct, frozen=True):
    """The answers of a run that fit some filters."""

    run: Run
    filters: Filters
    answers: tuple[Answer, ...]
