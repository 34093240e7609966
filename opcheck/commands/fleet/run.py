"""A run: the manifest worked off by an engine, each model kept as soon as it is over."""

import json
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Protocol, assert_never

from msgspec.structs import replace

from opcheck.commands.fleet import keys
from opcheck.commands.fleet.answers.summary import summary
from opcheck.commands.fleet.answers.values import Summary
from opcheck.commands.fleet.engine import Engine, Setup, engine_named
from opcheck.commands.fleet.manifest.read import read_manifest
from opcheck.commands.fleet.manifest.rows import Row
from opcheck.commands.fleet.store.reading import run_named
from opcheck.commands.fleet.store.store import Known, Store
from opcheck.commands.fleet.store.writing import Asked, Begun, adopt, begin, end, finish
from opcheck.commands.fleet.traces import casts_text
from opcheck.commands.fleet.values import Began, Done, Ending, Entry, FleetRequest, Job, RunTarget
from opcheck.device_types import works
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import to_json
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.pipeline.database import matrices_of, open_database
from opcheck.version import __version__


class Watcher(Protocol):
    """Whoever is told how far a run is."""

    def planned(self, entries: Sequence[Entry], left: int) -> None:
        """How many models there are, and how many are to be scanned; more may be known."""

    def began(self, event: Began) -> None:
        """A model is being scanned."""

    def done(self, event: Done) -> None:
        """A model is over."""

    def known(self, position: int) -> None:
        """A model is answered by what the store has."""

    def note(self, text: str) -> None:
        """Something to know about the run."""


def run_fleet(
    request: FleetRequest, watcher: Watcher, engine: type[Engine] | None = None
) -> Summary:
    """Scan every model of a manifest that the store has no answer about.

    ``engine`` stands in for the one that the request names.

    Raises:
        UsageError: the manifest, a target, the store or the engine cannot be used.
        SourceError: the library that a pattern is for is not there.
        DatabaseError: the database is missing or damaged.
    """
    engine = engine or engine_named(request.engine)
    manifest = read_manifest(
        request.manifest, Row("", request.manifest, request.options), trust=request.trust
    )
    for note in manifest.notes:
        watcher.note(note)
    matrices = matrices_of(open_database(request.databases), request.targets)
    targets = targets_of(matrices)
    entries = [one for entry in manifest.entries for one in _for_run(entry, targets)]
    asked = [_keyed(entry, request, targets) for entry in entries]
    setup = Setup(
        request.workers,
        request.address,
        request.databases,
        keys.libraries_of(
            (entry.request for entry in entries if entry.script is None),
            scripts=any(entry.script is not None for entry in entries),
        ),
        request.ship,
        tuple(target.target for target in targets),
    )
    with Store(Path(request.store)) as store:
        run = begin(
            store, entries, targets, manifest=request.manifest,
            digest=_digest(asked, targets), opcheck=__version__, torch=keys.torch_version(),
            engine=request.engine,
        )  # fmt: skip
        watcher.planned(entries, len(run.open))
        plan = _Plan(store, run, asked, targets, _trained(matrices), request.retry, watcher)
        with closing(_over(engine(setup), plan, watcher)) as over:
            for one in over:
                plan.keep(one)
                watcher.done(one)
        end(store, run)
        return summary(store, run_named(store, str(run.id)))


def _over(engine: Engine, plan: "_Plan", watcher: Watcher) -> Generator[Done, None, None]:
    yield from engine.run(plan.jobs(), watcher.began)


def _for_run(entry: Entry, targets: Sequence[RunTarget]) -> Iterator[Entry]:
    """A model as it is; a script once for each target, since it may ask the device what it is."""
    script = entry.script
    if script is None:
        yield entry
        return
    for target in targets:
        on = replace(script, target=TargetSpec.parse(target.target))
        yield replace(entry, script=on, target=target.target)


def _keyed(entry: Entry, request: FleetRequest, targets: Sequence[RunTarget]) -> Asked:
    entry = replace(
        entry,
        request=replace(entry.request, databases=request.databases),
        script=entry.script and replace(entry.script, databases=request.databases),
    )
    own = [target for target in targets if entry.target in ("", target.target)]
    key = keys.key_of(entry.request, own, entry.script)
    return Asked(entry, key, __version__, keys.torch_version())


def targets_of(matrices: Sequence[SupportMatrix]) -> tuple[RunTarget, ...]:
    """The targets of a run; those of a device type share their traces, and hence their casts."""
    casts = {w.device_type: casts_text(w.casts, w.autocast) for w in works(matrices)}
    return tuple(
        RunTarget(
            str(m.target), m.target.vendor, m.target.chip, m.target.sdk, m.target.torch,
            m.target.device_type, m.database_digest, m.database_date,
            casts[m.target.device_type],
        )
        for m in matrices
    )  # fmt: skip


def _trained(matrices: Sequence[SupportMatrix]) -> frozenset[str]:
    """The targets that a training step can be compared with."""
    return frozenset(str(m.target) for m in matrices if not m.compiles_graphs)


def _digest(asked: Sequence[Asked], targets: Sequence[RunTarget]) -> str:
    """What tells one run from another: its models, by name and key, and targets with their data."""
    parts = [[(one.entry.name, one.key) for one in asked], [to_json(target) for target in targets]]
    return sha256(json.dumps(parts).encode()).hexdigest()[: keys.DIGITS]


@dataclass(slots=True)
class _Plan:
    """Which models are scanned, which wait for another of the same key, and what is known."""

    store: Store
    run: Begun
    asked: Sequence[Asked]
    targets: Sequence[RunTarget]
    trained: frozenset[str]
    retry: bool
    watcher: Watcher
    _waiting: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Key -> positions of the entries that share it, of which the first is scanned."""

    def jobs(self) -> Iterator[Job]:
        """The jobs that are left, each made when there is room for it."""
        for position in sorted(self.run.open):
            asked = self.asked[position]
            if asked.key in self._waiting:
                self._waiting[asked.key].append(position)
                continue
            known = self.store.known(asked.key, keys.unchanged)
            missing = self._missing(asked.entry, known)
            if known is not None and not missing:
                self._adopt(position, known.model)
                continue
            self._waiting[asked.key] = []
            yield self._job(position, asked.entry, known, missing)

    def keep(self, done: Done) -> None:
        """Write down what came of a job, and of entries that ask the same.

        Raises:
            UsageError: whoever did it has another database.
        """
        data = {target.target: target.database_digest for target in self.targets}
        for result in done.outcome.targets:
            if data.get(result.target) != result.database_digest:
                raise UsageError(
                    Sentence(
                        "worker {name} has other data of {target} than this machine",
                        name=done.worker,
                        target=result.target,
                    ),
                    Sentence("install the same opcheck and overlays there"),
                )
        asked = self.asked[done.position]
        model = finish(self.store, self.run, asked, done)
        for position in self._waiting.pop(asked.key, ()):
            self._adopt(position, model)

    def _adopt(self, position: int, model: int) -> None:
        adopt(self.store, self.run, position, model)
        self.watcher.known(position)

    def _job(
        self, position: int, entry: Entry, known: Known | None, missing: Sequence[RunTarget]
    ) -> Job:
        specs = tuple(TargetSpec.parse(target.target) for target in missing)
        reusable = known is not None and known.ending is Ending.SCANNED
        traces = self.store.traces(known.model) if known is not None and reusable else ()
        casts = {target.device_type: target.casts for target in missing}
        request = replace(entry.request, targets=specs)
        return Job(position, entry.name, request, casts, traces, entry.script)

    def _missing(self, entry: Entry, known: Known | None) -> Sequence[RunTarget]:
        """The targets that a model has to be compared with; none of one that is known."""
        able = [t for t in self.targets if self._able(entry, t)]
        if known is None or self._again(entry, known):
            return able
        if known.ending is not Ending.SCANNED and not known.results:
            return []
        left = [t for t in able if self.run.targets[t.target] not in known.results]
        return left if known.ending is Ending.SCANNED or not left else able

    def _able(self, entry: Entry, target: RunTarget) -> bool:
        """Whether an entry can be compared with a target at all."""
        if entry.target:
            return target.target == entry.target
        return not entry.request.model.step or target.target in self.trained

    def _again(self, entry: Entry, known: Known) -> bool:
        """Whether a model is scanned again that was not scanned well."""
        match known.ending:
            case Ending.SCANNED:
                return False
            case Ending.LOST:
                return True
            case Ending.TIMED_OUT:
                return self.retry or _more(entry.request.model.timeout, known.timeout)
            case Ending.OUT_OF_MEMORY:
                return self.retry or _more(entry.request.model.memory, known.memory)
            case Ending.FAILED | Ending.CRASHED:
                return self.retry
            case _:
                assert_never(known.ending)


def _more(limit: float | None, before: float | None) -> bool:
    """Whether a limit leaves more than another one did; None is none."""
    return before is not None and (limit is None or limit > before)
