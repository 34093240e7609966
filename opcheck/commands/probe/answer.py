"""A device tried with PyTorch's own samples, and what it did written as an overlay."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from msgspec import Struct

from opcheck.db.probe_overlay import HOST, host_files, overlay_text
from opcheck.db.store import Database
from opcheck.db.versions import major_minor
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.probe import (
    Finished,
    Noted,
    Probe,
    ProbeHead,
    ProbeJob,
    ProbeRequest,
    Tried,
    Unit,
)
from opcheck.model.target import Target, TargetSpec, mode_of, target_name
from opcheck.pipeline.database import Progress, open_database, silent
from opcheck.resolve.probe import compared, distinct, worst
from opcheck.sandbox.parent.probe import BATCH, Prober
from opcheck.sandbox.parent.probe_journal import Journal


def vendor_of(database: Database, device_type: str) -> str:
    """A vendor of a device type, "" for the host: those that share a type need no plugin."""
    if device_type == HOST:
        return ""
    for name, vendor in database.vendors.items():
        if vendor.document.data["device_type"] == device_type:
            return name
    known = {str(v.document.data["device_type"]) for v in database.vendors.values()}
    raise UsageError(
        Sentence("no device is called {name}", name=repr(device_type)),
        Sentence("known: {text}", text=", ".join(sorted({*known, HOST}))),
    )


def target_of(
    database: Database, request: ProbeRequest, job: ProbeJob, tried: Tried
) -> Target | None:
    """The target that the device is; None for the host.

    Raises:
        UsageError: the device's name does not tell, or its release does not serve this torch.
    """
    if job.device_type == HOST:
        return None
    if request.target is None:
        spec = _spec_of(database, job.device_type, tried.name)
    else:
        spec = request.target
    if request.emulate or spec.torch:
        return database.resolve(spec)
    return database.resolve(TargetSpec(spec.name, spec.sdk, major_minor(tried.torch_version)))


def _spec_of(database: Database, device_type: str, name: str) -> TargetSpec:
    """The target whose chip gives itself this name."""
    found = [
        target_name(vendor, chip)
        for vendor, said in database.vendors.items()
        if said.document.data["device_type"] == device_type
        and mode_of(vendor)[1] is None
        and (environment := database.environment(vendor)) is not None
        for chip, names in environment.chips.items()
        if any(each.lower() in name.lower() for each in names)
    ]
    if len(found) != 1:
        raise UsageError(
            Sentence(
                "{text_name} may be several targets, or none: {list_names}",
                text_name=name or device_type,
                list_names=", ".join(found) or "none",
            ),
            Sentence("name it with -t; opcheck targets lists them"),
        )
    return TargetSpec(found[0])


def probe(request: ProbeRequest, progress: Progress = silent) -> Probe:
    """Run samples of every operator on a device; write the overlay, and say what is otherwise.

    Raises:
        UsageError: the device or the target is not understood, no operator fits, or the folder
            holds another probe.
        EmulationError: there is no such device, or it cannot be emulated.
        DatabaseError: the target's list cannot be read.
    """
    database = open_database(request.databases)
    named = None if request.target is None else database.resolve(request.target)
    job = _job(database, request, named)
    prober = Prober(job, request.timeout)
    progress(Sentence("looking for the device"))
    tried, units = prober.survey()
    if not units:
        raise UsageError(
            Sentence(
                "no operator of PyTorch's samples is asked for: {text}", text=_selection(request)
            ),
            Sentence(
                "operators are named as PyTorch's tests name them: add, nn_functional_conv2d, fft_*"
            ),
        )
    target = target_of(database, request, job, tried)
    matrix = None if target is None else database.matrix(target)
    files = _Files.of(request, target)
    with Journal(files.journal, _head(job, target, tried), restart=request.restart) as journal:
        _run(prober, journal, units, progress)
        return _probe(journal, units, tried, matrix, files)


def _selection(request: ProbeRequest) -> str:
    return " ".join((*request.operators, *request.dtypes))


def _job(database: Database, request: ProbeRequest, target: Target | None) -> ProbeJob:
    """What every process is told.

    Raises:
        UsageError: neither device nor target is given, or they do not go together.
    """
    if request.emulate and target is None:
        raise UsageError(
            Sentence("nothing says what to emulate"), Sentence("name a target with -t")
        )
    device = request.device_type or (target.device_type if target else "")
    if not device:
        raise UsageError(
            Sentence("no device was given"),
            Sentence("name it with --device, as cpu, cuda or npu, or a target with -t"),
        )
    if target is not None and device != target.device_type:
        raise UsageError(
            Sentence(
                "{target} is a {type} device, and --device says {device}",
                target=target.name,
                type=target.device_type,
                device=device,
            ),
            Sentence("leave one of the two out"),
        )
    if target is not None and target.mode is not None and target.mode.compiles:
        raise UsageError(
            Sentence(
                "{target} is a graph mode, and a probe runs operators one by one",
                target=target.name,
            ),
            Sentence("name the chip itself: -t {target}", target=target.name.partition(":")[0]),
        )
    vendor = target.vendor if target else vendor_of(database, device)
    environment = database.environment(vendor) if vendor and not request.emulate else None
    plugin = environment.plugin if environment else None
    fallback = database.matrix(target).fallback if target else None
    return ProbeJob(
        device_type=device,
        module=plugin.module if plugin else "",
        emulated=str(target) if request.emulate else "",
        databases=request.databases,
        fallback=fallback.text if fallback and fallback.to_cpu else "",
        samples=request.samples,
        backward=request.backward,
        operators=request.operators,
        dtypes=request.dtypes,
    )


def _head(job: ProbeJob, target: Target | None, tried: Tried) -> ProbeHead:
    return ProbeHead(
        job.device_type, str(target or ""), bool(job.emulated), job.samples, job.backward,
        tried.device, tried.torch_version,
    )  # fmt: skip


class _Files(Struct, frozen=True):
    """What is written where."""

    folder: Path
    name: str

    @classmethod
    def of(cls, request: ProbeRequest, target: Target | None) -> "_Files":
        """The files of a probe; the folder is made.

        Raises:
            UsageError: it cannot be made.
        """
        folder = Path(request.into)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                Sentence(
                    "cannot write to {path}: {text}", path=folder, text=error.strerror or error
                )
            ) from error
        return cls(folder, f"probe-{target.name if target else HOST}")

    @property
    def journal(self) -> Path:
        """Every sample that was run."""
        return self.folder / f"{self.name}.jsonl"

    def write(self, texts: Mapping[str, str]) -> None:
        """Write texts by their place in the folder.

        Raises:
            UsageError: one cannot be written.
        """
        for name, text in texts.items():
            path = self.folder / name
            try:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
            except OSError as error:
                raise UsageError(
                    Sentence(
                        "cannot write {text}: {text_why}",
                        text=path,
                        text_why=error.strerror or error,
                    )
                ) from error


def _run(prober: Prober, journal: Journal, units: Sequence[Unit], progress: Progress) -> None:
    """Run what is left of the units, some in each process."""
    left = journal.left(units)
    for start in range(0, len(left), BATCH):
        batch = left[start : start + BATCH]
        done = len(units) - len(left) + start

        def keep(each: Finished, done: int = done) -> None:
            journal.add(each)
            progress(
                Sentence(
                    "{unit}, {done} of {count} done",
                    unit=each.sample.unit,
                    done=f"{done:,}",
                    count=f"{len(units):,}",
                )
            )

        prober.run(batch, keep)
        journal.done(batch)


def _probe(
    journal: Journal,
    units: Sequence[Unit],
    tried: Tried,
    matrix: SupportMatrix | None,
    files: _Files,
) -> Probe:
    noted = tuple(distinct(journal.noted(units)))
    agreeing, differs = compared(noted, matrix, tried.torch_version) if matrix else ((), ())
    known = {(each.line, each.observed) for each in agreeing}
    new = [each for each in noted if (each.line, each.observed) not in known]
    _write(journal, noted, new, tried, matrix, files)
    names = {unit.name for unit in units}
    ran = [each for _, each in journal.finished if each.sample.unit in names]
    by_overload = worst(noted)
    counts = Counter(each.observed.outcome for each in by_overload.values())
    return Probe(
        device=tried.device,
        target=matrix.target if matrix else None,
        overlay=str(files.folder / f"{files.name}.yaml"),
        journal=str(files.journal),
        samples=len(ran),
        refused=sum(bool(each.note) for each in ran),
        overloads=dict(counts),
        failures=tuple(each for each in by_overload.values() if each.observed.outcome.fails),
        compared=len(agreeing) + len(differs),
        differs=differs,
    )


def _write(
    journal: Journal,
    noted: Sequence[Noted],
    new: Sequence[Noted],
    tried: Tried,
    matrix: SupportMatrix | None,
    files: _Files,
) -> None:
    """Write the overlay, and for the host the vendor that it is of."""
    day = date.today().isoformat()
    text = overlay_text(
        journal.head, matrix.target if matrix else None, noted, new,
        matrix.entries if matrix else {}, files.journal.name, day,
    )  # fmt: skip
    own = {} if matrix else host_files(tried.torch_version, day)
    files.write({**own, f"{files.name}.yaml": text})
