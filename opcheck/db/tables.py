"""PyTorch's tables - overload history, composites, device branches - for a target."""

from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.files import document
from opcheck.db.files.document import Document
from opcheck.db.predicates import read_predicate
from opcheck.db.reading import Citations, LateMapping, LazyMapping
from opcheck.db.schema.checks import Record
from opcheck.db.schema.tables import (
    CHOICES_FILE,
    COLLECTIVES_FILE,
    COMPILERS_FILE,
    COMPOSITES_FILE,
    DETERMINISTIC_FILE,
    EARLIER_FILE,
    EXTENSIONS_FILE,
    HISTORY_FILE,
    KINDS,
    NAMES_FILE,
    OPERATORS_FILE,
    SPARSE_FILE,
    TRITON_FILE,
)
from opcheck.db.sparse import Listed, sparse_kernels
from opcheck.db.triton import Limits
from opcheck.db.versions import major_minor, nearest_not_newer, version_key
from opcheck.lang.sentence import from_data
from opcheck.model.matrix import Choice, Earlier, Inherited, Whole
from opcheck.model.sparse import SparseKernels
from opcheck.model.target import Target
from opcheck.model.trace import Composite
from opcheck.model.verdict import Confidence, Method


class OperatorFacts(Struct, frozen=True):
    """What PyTorch itself has for one overload."""

    composite: Composite | None
    """The composite kernel that a device without its own inherits; None: none."""
    cpu_kernel: bool
    """Whether a CPU can run it, so that a host fallback would work."""


_LATE = {
    "operators@*.yaml": OPERATORS_FILE,
    "composites@*.yaml": COMPOSITES_FILE,
    "choices@*.yaml": CHOICES_FILE,
    "sparse.yaml": SPARSE_FILE,
    "names.yaml": NAMES_FILE,
}
"""Files that are read only where a trace asks for what they say, and what they hold."""


class Tables(Struct, frozen=True, dict=True):
    """The folder of PyTorch's tables, each read when first asked for."""

    folder: Path
    cache: Path | None = None

    @cached_property
    def _read(self) -> dict[Path, Document]:
        """What was read of the folder; filled as targets ask."""
        return {}

    @cached_property
    def _indexed(self) -> list[bool]:
        """Not empty once :meth:`index` has been called."""
        return []

    def _document(self, path: Path, shape: Record) -> Document:
        if path not in self._read:
            self._read[path] = document.read(path, shape, self.cache)
        return self._read[path]

    def index(self) -> None:
        """Have the index hold the tables that may be asked for late.

        A command that has confined itself can no longer add them to it.
        """
        if self.cache is not None and not self._indexed:
            self._indexed.append(True)
            for pattern, shape in _LATE.items():
                for path in sorted(self.folder.glob(pattern)):
                    document.index(path, shape, self.cache)

    @cached_property
    def _history(self) -> Document:
        return document.read(self.folder / "history.yaml", HISTORY_FILE, self.cache)

    @cached_property
    def _extensions(self) -> Document:
        return document.read(self.folder / "extensions.yaml", EXTENSIONS_FILE, self.cache)

    @cached_property
    def _earlier(self) -> Document:
        return document.read(self.folder / "earlier.yaml", EARLIER_FILE, self.cache)

    @cached_property
    def collectives(self) -> Document | None:
        """Which collectives the vendors' backends have; None where nobody has said anything."""
        path = self.folder / "collectives.yaml"
        if not path.exists():
            return None
        return document.read(path, COLLECTIVES_FILE, self.cache)

    @cached_property
    def compilers(self) -> Document | None:
        """Which back ends of ``torch.compile`` there are; None where nobody has said anything."""
        path = self.folder / "compilers.yaml"
        return document.read(path, COMPILERS_FILE, self.cache) if path.exists() else None

    @cached_property
    def deterministic(self) -> Document | None:
        """What deterministic mode refuses; None where nobody has said anything."""
        path = self.folder / "deterministic.yaml"
        return document.read(path, DETERMINISTIC_FILE, self.cache) if path.exists() else None

    @cached_property
    def triton(self) -> Document | None:
        """Which Triton compiles for each vendor; None where nobody has said anything."""
        path = self.folder / "triton.yaml"
        return document.read(path, TRITON_FILE, self.cache) if path.exists() else None

    @cached_property
    def triton_limits(self) -> Limits:
        """Those of :attr:`triton` that targets asked for."""
        return {}

    @cached_property
    def _sparse(self) -> Document | None:
        path = self.folder / "sparse.yaml"
        return document.read(path, SPARSE_FILE, self.cache) if path.exists() else None

    def sparse(self, target: Target, key: str, listed: Listed) -> Mapping[str, SparseKernels]:
        """By layout, what a target has for sparse tensors; read at its first use."""

        def read() -> Mapping[str, SparseKernels]:
            found = self._sparse
            return sparse_kernels(found.data, target, key, listed) if found else {}

        return LateMapping(read)

    @cached_property
    def names(self) -> Mapping[str, Mapping[str, str]]:
        """By Python module, and ``torch.Tensor``, the torch that its names came with.

        Those that the oldest torch looked at has are not in it; empty where nobody has looked.
        """
        path = self.folder / "names.yaml"
        if not path.exists():
            return {}
        found: Mapping[str, Mapping[str, str]] = self._document(path, NAMES_FILE).data["names"]
        return found

    @property
    def digest(self) -> str:
        """Of the tables that every matrix takes facts from."""
        return self._history.digest + self._extensions.digest + self._earlier.digest

    @cached_property
    def history(self) -> Mapping[str, tuple[str, str]]:
        """First and last torch, ``major.minor``, of every aten overload."""
        spans = self._history.data["overloads"]
        return LazyMapping(spans, lambda _, span: (span[0], span[-1]))

    @cached_property
    def whole(self) -> Mapping[str, Whole]:
        """In which torch versions a composite of today was none yet."""
        said = self._history.data.get("whole", {})

        def read(_: str, of: Mapping[str, Any]) -> Whole:
            first, last = of["torch"]
            return Whole(first, last, of["cpu"])

        return LazyMapping(said, read)

    @cached_property
    def extensions(self) -> Mapping[str, bool]:
        """Overloads of extension libraries -> whether they have a CPU kernel."""
        return {op: bool(said["cpu"]) for op, said in self._extensions.data["overloads"].items()}

    @cached_property
    def earlier(self) -> Mapping[str, Earlier]:
        """What PyTorch called before it had an overload."""
        cited = Citations(self._earlier.data["sources"])

        def read(_: str, said: Mapping[str, Any]) -> Earlier:
            evidence = cited.all(said["at"], Method.INFERRED)
            return Earlier(tuple(said["asks"]), from_data(said["text"]), evidence)

        return LazyMapping(self._earlier.data["earlier"], read)

    def operator_versions(self) -> tuple[str, ...]:
        """The torch versions whose operators were recorded."""
        paths = sorted(self.folder.glob("operators@*.yaml"))
        return tuple(path.stem.partition("@")[2] for path in paths)

    def operators(self, torch_version: str) -> Mapping[str, OperatorFacts]:
        """Facts of every overload, from the recorded version nearest to ``torch_version``."""
        found = self._operators(torch_version)
        return LazyMapping(found.data["overloads"], lambda _, text: _facts(text))

    def release(self, torch_version: str) -> str:
        """The release of torch, ``2.13.0``, whose facts :meth:`operators` gives."""
        return str(self._operators(torch_version).data["sources"]["dispatcher"]["ref"])[1:]

    def _operators(self, torch_version: str) -> Document:
        chosen = nearest_not_newer(major_minor(torch_version), self.operator_versions())
        return self._document(self.folder / f"operators@{chosen}.yaml", OPERATORS_FILE)

    def choices(self, torch_version: str) -> Document | None:
        """Branches on devices that no trace can name, from the recorded version nearest to it."""
        paths = self._with_choices
        if not paths:
            return None
        chosen = nearest_not_newer(major_minor(torch_version), tuple(sorted(paths)))
        return self._document(paths[chosen], CHOICES_FILE)

    @cached_property
    def _with_choices(self) -> Mapping[str, Path]:
        """By the torch that they were recorded for."""
        return {p.stem.partition("@")[2]: p for p in self.folder.glob("choices@*.yaml")}

    def choices_of(self, target: Target) -> Mapping[str, tuple[Choice, ...]]:
        """The ways of each overload that hold on the target's device type, in order."""
        said, key = self.choices(target.torch), (target.device_type, target.vendor, target.torch)
        if said is not None and key not in self._choices:
            self._choices[key] = LateMapping(partial(choices_of, target, said.data))
        return self._choices.get(key, {})

    @cached_property
    def _choices(self) -> dict[tuple[str, str, str], Mapping[str, tuple[Choice, ...]]]:
        """By device type, vendor and torch, whatever the chip."""
        return {}

    def composites(
        self, torch_version: str, device: str
    ) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """Branches of every recorded composite, for exactly this torch.

        They are those of PrivateUse1, which C++ treats alike whatever its name is (recorded as
        ``mlu`` they are the same as recorded as ``npu``); ``device``'s own are preferred.
        """
        path = self._composites(torch_version, device)
        if path is None:
            return {}
        found = self._document(path, COMPOSITES_FILE)
        return LazyMapping(found.data["composites"], lambda _, ways: tuple(map(tuple, ways)))

    def recorded_on(self, torch_version: str, device: str) -> str:
        """The device type on which :meth:`composites` were recorded; "" where none were."""
        path = self._composites(torch_version, device)
        return path.stem.partition("-")[2] if path else ""

    def _composites(self, torch_version: str, device: str) -> Path | None:
        stem = f"composites@{major_minor(torch_version)}-"
        found = (path for path in self.folder.iterdir() if path.name.startswith(stem))
        recorded = sorted(path for path in found if path.suffix == ".yaml")
        own = (path for path in recorded if path.stem == f"{stem}{device}")
        return next(own, recorded[0] if recorded else None)


def _facts(text: str) -> OperatorFacts:
    kind, _, rest = text.partition(" ")
    return OperatorFacts(KINDS[kind], rest == "cpu")


def choices_of(target: Target, said: Mapping[str, Any]) -> Mapping[str, tuple[Choice, ...]]:
    """The ways of each overload that hold on the target's device type, in order."""
    cited = Citations(said["sources"])
    rows = {
        op: held
        for op, listed in said["choices"].items()
        if (held := [row for row in listed if _holds(row, target)])
    }
    return LazyMapping(rows, partial(_choices, cited))


def inherited(tables: Tables, torch_version: str) -> Mapping[str, Inherited]:
    """What PyTorch has for each overload, by the tables that were recorded with one torch."""
    return LateMapping(partial(_inherited, tables, torch_version))


def _inherited(tables: Tables, torch_version: str) -> Mapping[str, Inherited]:
    branches = tables.composites(torch_version, "")

    def read(op: str, facts: OperatorFacts) -> Inherited:
        ways = branches.get(op)
        parts = None if ways is None else tuple(sorted({part for way in ways for part in way}))
        return Inherited(facts.composite, facts.cpu_kernel, parts)

    return LazyMapping(tables.operators(torch_version), read)


def _holds(row: Mapping[str, Any], target: Target) -> bool:
    vendors = row.get("vendors")
    of_target = target.device_type in row["devices"]
    named = vendors is None or target.vendor in vendors
    torch = version_key(target.torch)
    since, until = (version_key(row.get(name, target.torch)) for name in ("since", "until"))
    return of_target and named and since <= torch <= until


def _choices(cited: Citations, op: str, rows: list[Mapping[str, Any]]) -> tuple[Choice, ...]:
    return tuple(_choice(row, cited) for row in rows)


def _choice(row: Mapping[str, Any], cited: Citations) -> Choice:
    return Choice(
        asks=tuple(row["asks"]) if "asks" in row else None,
        predicates=tuple(map(read_predicate, row.get("when", ()))),
        preferred=row.get("preferred", False),
        text=from_data(row["text"]),
        confidence=Confidence(row.get("confidence", Confidence.MEDIUM)),
        evidence=cited.all(row["at"], Method.INFERRED),
        renames=row.get("renames", {}),
        casts=row.get("casts", {}),
        backward=tuple(row.get("backward", ())),
        inside=row.get("inside", ""),
    )
