"""The database as a whole: which targets there are, and the matrix of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from opcheck.db.by_hand import advice, deterministic, libraries
from opcheck.db.by_hand import overlays as overlay
from opcheck.db.by_hand.additions import Additions
from opcheck.db.by_hand.advice import size_rules
from opcheck.db.by_hand.overlays import Addition, statements
from opcheck.db.by_hand.summary import Summaries
from opcheck.db.compilers import compilers_of
from opcheck.db.files import document, layers
from opcheck.db.files.document import Document
from opcheck.db.files.index import cache_folder
from opcheck.db.files.kept import Kept
from opcheck.db.files.layers import Layer
from opcheck.db.matrix import Shared, build_matrix
from opcheck.db.naming import Names
from opcheck.db.opsets import opsets, require_written
from opcheck.db.releases import Meaning, Pair, paired, pairs, release_named
from opcheck.db.tables import OperatorFacts, Tables
from opcheck.db.triton import triton_of
from opcheck.db.vendor import Place, Vendor, read_vendor
from opcheck.errors import DatabaseError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import SizeRule
from opcheck.model.launches import TritonCompiler
from opcheck.model.matrix import Compiler, Condition, SupportMatrix
from opcheck.model.target import OPSET, Target, TargetKind, TargetSpec, mode_of, target_name
from opcheck.model.verdict import Confidence, Verdict

if TYPE_CHECKING:  # what a scan does not ask for is imported where it is
    from opcheck.model.costs import Chip
    from opcheck.model.database import Statement
    from opcheck.model.environment import Environment, TorchEnvironment
    from opcheck.model.model_lists import ModelRow
    from opcheck.model.plan import Remedy
    from opcheck.model.porting import CudaNames, Porting

_PACKAGE = Path(__file__).resolve().parent.parent
_OWN: "Kept[Database]" = Kept()  # the one without others on it


@dataclass(frozen=True)
class Database:
    """Vendor data under one folder, with what overlays add to it; read on demand."""

    root: Path
    cache: Path | None = None
    """Folder of the index of compiled files; None: none is used."""
    overlays: tuple[Layer, ...] = ()
    """What a later one says holds against what an earlier one or ``root`` says."""
    _matrices: dict[Target, SupportMatrix] = field(default_factory=dict, repr=False, compare=False)
    _added_to: dict[str, Additions] = field(default_factory=dict, repr=False, compare=False)
    _shared: dict[str, Shared] = field(default_factory=dict, repr=False, compare=False)
    """Vendor -> what its chips have in common."""

    @classmethod
    def open(
        cls, root: Path | None = None, *, cached: bool = True, overlays: Sequence[Path] = ()
    ) -> "Database":
        """Open ``root``, or the copy that this package carries, or the one of its checkout.

        What installed packages bring and ``overlays`` lie on it; alone it is kept until it changes.
        """
        candidates = (root,) if root else (_PACKAGE / "_compat_db", _PACKAGE.parent / "compat_db")
        found = next((path for path in candidates if path.is_dir()), None)
        if found is None:
            looked = ", ".join(str(path) for path in candidates)
            raise DatabaseError(
                Sentence("no database of operators: {text}", text=looked),
                Sentence("install opcheck again"),
            )
        cache = cache_folder() if cached else None
        added = (*(() if root else layers.installed(cache)), *layers.given(overlays))
        for layer in added:
            overlay.require_something(layer)
        made = cls(found, cache, added)
        return made if root or added else _OWN.while_unchanged(found, made)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The database itself and what lies on it, the last on top."""
        return (Layer(self.root, ""), *self.overlays)

    @cached_property
    def vendors(self) -> Mapping[str, Vendor]:
        """Every vendor that has a folder, by name."""
        places: dict[str, dict[str, Place]] = {}
        for layer in self.layers:
            for name, files in overlay.vendor_files(layer).items():
                where = places.setdefault(name, {})
                where |= {stem: Place(path, layer.of(path)) for stem, path in files.items()}
        found = {
            name: read_vendor(name, files, self.cache) for name, files in sorted(places.items())
        }
        if not found:
            raise DatabaseError(
                Sentence("{text} holds no vendor", text=self.root),
                Sentence("restore it from the release"),
            )
        return found

    @cached_property
    def additions(self) -> tuple[Addition, ...]:
        """What advisories and overlays add to releases, in the order in which they hold."""
        return tuple(self._added())

    def _additions_of(self, vendor: str) -> Additions:
        """Those of one vendor, without a look at the advisories of another one alone."""
        if vendor not in self._added_to:
            self._added_to[vendor] = Additions(self._summaries.of(vendor))
        return self._added_to[vendor]

    @cached_property
    def _summaries(self) -> Summaries:
        kept = None if self.overlays else self.cache
        return Summaries(self.root, kept, self.tables.deterministic, self._added)

    def _added(self, only: str | None = None) -> Iterator[Addition]:
        for layer, stated, shared in self._of_several:
            yield from stated
            own = advice.of_vendors(layer, self.cache, only)
            yield from advice.advisories(layer, [*shared, *own], only)

    @cached_property
    def _of_several(self) -> Sequence[tuple[Layer, Sequence[Addition], Sequence[Document]]]:
        """Of each layer what overlay files and libraries add, and advisories of several vendors."""
        return [
            (layer, [*self._stated(layer)], advice.shared(layer, self.cache))
            for layer in self.layers
        ]

    def _stated(self, layer: Layer) -> Iterator[Addition]:
        chips = {name: tuple(vendor.chips) for name, vendor in self.vendors.items()}
        for addition in overlay.overlays(layer, self.cache) if layer.origin else ():
            overlay.require_known(addition, chips)  # advisories may be of vendors to come
            yield addition
        if not layer.origin:
            yield from deterministic.additions(self.tables.deterministic)
        yield from libraries.additions(layer.folder / libraries.FOLDER, self.cache)

    @cached_property
    def tables(self) -> Tables:
        """PyTorch's own tables."""
        return Tables(self.root / "pytorch", self.cache)

    def names(self) -> tuple[str, ...]:
        """Short name of every target, sorted."""
        return tuple(sorted(self._chips))

    def targets(self) -> tuple[Target, ...]:
        """Every chip at its newest release and the newest torch which that serves.

        What models are exported for is none, nor is a chip in a graph mode, which would stand
        twice: :meth:`of_kind` has them.
        """
        kinds = (TargetKind.DEVICE, TargetKind.COMPILER)
        plain = (v for v in self.vendors.values() if mode_of(v.name)[1] is None)
        return self._newest(vendor for vendor in plain if vendor.kind in kinds)

    def of_kind(self, *kinds: TargetKind) -> tuple[Target, ...]:
        """Every target of these kinds, at its newest release and torch."""
        return self._newest(vendor for vendor in self.vendors.values() if vendor.kind in kinds)

    def _newest(self, vendors: Iterable[Vendor]) -> tuple[Target, ...]:
        names = sorted(
            target_name(vendor.name, chip) for vendor in vendors for chip in vendor.chips
        )
        return tuple(self.resolve(TargetSpec(name)) for name in names)

    def releases(self, name: str) -> tuple[Target, ...]:
        """Every release of one target with every torch it serves, oldest first."""
        vendor, chip = self._chip(name)
        return tuple(
            self._target(vendor, chip, release, torch)
            for release in vendor.releases(chip)
            for torch in vendor.served(release)
        )

    def resolve(self, spec: TargetSpec) -> Target:
        """The target that ``spec`` names; its newest release and torch where it names none."""
        vendor, chip = self._chip(spec.name)
        spec = self.meaning(spec).spec
        release, torch = release_named(vendor, chip, spec)
        self._require_told_apart(spec)
        require_written(spec, vendor.release(release).data)
        return replace(self._target(vendor, chip, release, torch), libraries=spec.libraries)

    def meaning(self, spec: TargetSpec) -> Meaning:
        """What ``spec`` is taken for: a target by its own name, and a release by its number."""
        vendor, chip = self._chip(spec.name)
        named = replace(spec, name=target_name(vendor.name, chip))
        if not spec.sdk or spec.sdk in vendor.files:
            return Meaning(named)
        found = paired(vendor, chip, self.called.called(vendor.name), self._builds, named)
        if found is None:
            return Meaning(named)
        return Meaning(replace(named, sdk=found.release, torch=found.torch), found)

    @cached_property
    def called(self) -> Names:
        """What the chips of the database are called, beside their own names."""
        modes = {name: one for name, one in self.vendors.items() if mode_of(name)[1]}
        plain = {name: one for name, one in self.vendors.items() if name not in modes}
        return Names(plain, self.root, self.cache, modes)

    def toolkits(self, target: Target) -> Sequence[Pair]:
        """Versions of toolkits that go with releases of a target, the newest torch first."""
        vendor = self._vendor(target.vendor)
        return pairs(vendor, target.chip, self.called.called(vendor.name), self._builds)

    def opsets(self, target: Target) -> Sequence[str]:
        """Versions of ONNX's operators that a target may name, the default first."""
        return opsets(self._vendor(target.vendor).release(target.sdk).data)

    def _builds(self) -> Mapping[str, Sequence[str]]:
        releases = self.torch_environment().releases
        return {torch: release.builds for torch, release in releases.items()}

    @document.uncollected()
    def matrix(self, target: Target) -> SupportMatrix:
        """Everything known about one target."""
        if target not in self._matrices:
            vendor = self._vendor(target.vendor)
            paired = target.torch in vendor.paired(target.sdk)
            release, shared = self.release(target), self._shared.setdefault(vendor.name, Shared())
            matrix = build_matrix(
                target, vendor.document, release, self.tables, paired=paired, shared=shared
            )
            told = tuple(map(_edited, vendor.edited(target.sdk)))
            self._matrices[target] = replace(
                matrix,
                advisories=(*matrix.advisories, *told),
                libraries=self._additions_of(target.vendor).libraries(target),
            )
        return self._matrices[target]

    def remedies(self, target: Target) -> "tuple[Remedy, ...]":
        """What the vendor ships against what a target does not run."""
        from opcheck.db.by_hand.advice import remedies

        return tuple(r for layer in self.layers for r in remedies(layer, target, self.cache))

    def porting(self, target: Target) -> "Porting":
        """How code for CUDA is written for a target."""
        from opcheck.db.by_hand.porting import porting

        return porting(self.root, target, self.cache)

    def compilers(self, target: Target) -> Mapping[str, Compiler]:
        """What becomes of code that a back end of ``torch.compile`` is to compile, by its name."""
        said = self.tables.compilers
        return compilers_of(target, said.data) if said else {}

    def triton(self, target: Target) -> TritonCompiler | None:
        """The Triton that compiles for a target; None where nobody has said."""
        said = self.tables.triton
        return triton_of(target, said.data) if said else None

    def cuda_names(self) -> "CudaNames":
        """What is so of code for CUDA on every other device."""
        from opcheck.db.by_hand.porting import cuda_names

        return cuda_names(self.root, self.cache)

    def environment(self, vendor: str) -> "Environment | None":
        """What a vendor's devices ask of a machine; None where nobody has said."""
        from opcheck.db.by_hand.environment import environment
        from opcheck.db.by_hand.porting import porting_of

        owner, _ = mode_of(vendor)
        common = self._vendor(owner).document
        words = porting_of(self.root, owner, str(common.data["device_type"]), self.cache)
        return environment(self.root, common, words.environment, self.cache)

    def chip(self, target: Target) -> "Chip":
        """What a target's chip has; without products where nobody has said."""
        from opcheck.db.by_hand.chips import chip as chip_file

        common = self._vendor(target.owner).document
        return chip_file(self.root, common, target.chip, self.cache)

    @cached_property
    def model_rows(self) -> "tuple[ModelRow, ...]":
        """What lists of vendors and communities say of whole models."""
        from opcheck.db.model_lists import model_rows

        return tuple(model_rows(self.root, self.cache))

    def torch_environment(self) -> "TorchEnvironment":
        """What releases of torch go with, whatever the device."""
        from opcheck.db.by_hand.environment import torch_environment

        return torch_environment(self.root, self.cache)

    def size_rules(self, target: Target) -> tuple[SizeRule, ...]:
        """How a target takes sizes that are not always the same; the last layer first."""
        layers = reversed(self.layers)
        return tuple(rule for layer in layers for rule in size_rules(layer, target, self.cache))

    def release(self, target: Target) -> Document:
        """The file of a target's release, with what advisories and overlays add to it."""
        release = self._vendor(target.vendor).release(target.sdk)
        return self._additions_of(target.vendor).to(release, target)

    def statements(self, target: Target, op: str) -> "tuple[Statement, ...]":
        """What each layer says of an overload, the last one holds; () where one alone speaks."""
        release = self._vendor(target.vendor).release(target.sdk)
        return statements(release, self.additions, target, op)

    def chip_name(self, target: Target) -> str:
        """What the vendor calls a target's chip: ``Ascend 910B``."""
        return str(self._vendor(target.vendor).chips[target.chip]["name"])

    def digest(self, target: Target) -> str:
        """sha256 over the files that say something about a target, first 16 hex digits."""
        return self.matrix(target).database_digest

    def operators(self, torch_version: str) -> Mapping[str, OperatorFacts]:
        """What PyTorch itself has for each overload; the table nearest to ``torch_version``."""
        return self.tables.operators(torch_version)

    def composites(
        self, torch_version: str, device: str
    ) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """What composites run as, one tuple of overloads a branch; empty if never recorded."""
        return self.tables.composites(torch_version, device)

    def history(self, op: str) -> tuple[str, str] | None:
        """First and last torch ``major.minor`` that has an overload; None: not known."""
        return self.tables.history.get(op)

    def registered_in(self, name: str, op: str) -> tuple[str, ...]:
        """Releases of a target, oldest first, that register ``op`` for some torch version."""
        vendor, chip = self._chip(name)
        releases = vendor.releases(chip)
        return tuple(r for r in releases if self._registers(vendor, chip, r, op))

    def _require_told_apart(self, spec: TargetSpec) -> None:
        """Refuse a release of a library that would not change anything."""
        if not spec.libraries:
            return
        known = {one.library.package for one in self.additions if one.library is not None}
        for name, _ in spec.libraries:
            if name not in known and name != OPSET:
                raise UsageError(
                    Sentence(
                        "no file of the database tells releases of {name} apart, which {text} "
                        "names",
                        name=name, text=repr(str(spec)),
                    ),
                    Sentence("known: {text}", text=", ".join(sorted(known))),
                )  # fmt: skip

    def _registers(self, vendor: Vendor, chip: str, release: str, op: str) -> bool:
        """Whether a release registers an overload for one of its torch versions."""
        if not any(op in addition.operators for addition in self.additions):
            return op in vendor.release(release).data["operators"]
        targets = (self._target(vendor, chip, release, t) for t in vendor.listed(release))
        return any(op in self.release(target).data["operators"] for target in targets)

    def _vendor(self, name: str) -> Vendor:
        if name not in self.vendors:
            raise UsageError(
                Sentence("unknown vendor {text}", text=repr(name)),
                Sentence("known: {text}", text=", ".join(self.vendors)),
            )
        return self.vendors[name]

    @cached_property
    def _chips(self) -> Mapping[str, tuple[Vendor, str]]:
        """By the name of the target."""
        return {
            target_name(vendor.name, chip): (vendor, chip)
            for vendor in self.vendors.values()
            for chip in vendor.chips
        }

    def _chip(self, name: str) -> tuple[Vendor, str]:
        if name in self._chips:
            return self._chips[name]
        owner, chip = self.called.chip(name)
        return self.vendors[owner], chip

    def _target(self, vendor: Vendor, chip: str, release: str, torch: str) -> Target:
        device_type = str(vendor.document.data["device_type"])
        return Target(vendor.name, chip, release, torch, device_type)


def _edited(path: Path) -> Condition:
    """That what a target's data rests on is not what an importer wrote."""
    text = f"{path.parent.name}/{path.name} was edited: it is not what its importer wrote"
    return Condition("database-edited", Verdict.NATIVE, text, Confidence.HIGH)
