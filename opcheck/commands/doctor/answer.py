"""A machine looked at, judged for each target, and the set that would suit it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.doctor.base import Ground, judge
from opcheck.commands.doctor.checks.machine import OperatingSystem
from opcheck.commands.doctor.installation import Installation
from opcheck.commands.doctor.looking import look, with_imports
from opcheck.commands.doctor.machine import Machine
from opcheck.commands.doctor.packages import parts
from opcheck.commands.doctor.pairing import present, present_vendors, row_here, rows_planned
from opcheck.commands.doctor.setup import WRITERS, file_text, installable, set_up
from opcheck.commands.doctor.values import (
    Doctor,
    DoctorFinding,
    DoctorRequest,
    DoctorTarget,
    Severity,
)
from opcheck.db.selection import GROUPS
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.environment import Environment, TorchEnvironment
from opcheck.model.target import TargetSpec, mode_of, target_name
from opcheck.pipeline.database import Progress, open_database, silent
from opcheck.pipeline.writing import drafted
from opcheck.version import __version__

Asked = Sequence[tuple[str, str, TargetSpec]]
"""Vendor, chip and how the user wrote it."""
IMPORT_SECONDS = 60.0
"""How long one import may take unless told."""


def doctor(
    request: DoctorRequest, progress: Progress = silent, machine: Machine | None = None
) -> Doctor:
    """Say what is here and whether it goes together; plan where nothing of a target's is here.

    Raises:
        UsageError: a target, a release or a file to write is not understood.
    """
    database = open_database(request.databases)
    vendors = _environments(database)
    asked = tuple(_named_chips(database, request.targets))
    _require_writable(request)
    torch = database.torch_environment()
    here = None
    if not request.plan:
        progress("looking at what is installed")
        machine = machine or Machine.here()
        here = look(machine, vendors.values())
        asked = asked or tuple(
            (name, "", TargetSpec(name)) for name in present_vendors(here, vendors)
        )
        if _is_judged(here, vendors, asked) and request.imports:
            progress("importing packages, each in a process of its own")
            seconds = request.timeout or IMPORT_SECONDS
            here = with_imports(here, machine, vendors.values(), seconds)
    targets = tuple(
        _target(database, vendors, torch, here, vendor, chip, spec) for vendor, chip, spec in asked
    )
    judged = here is not None and _is_judged(here, vendors, asked)
    found = Doctor(
        opcheck_version=__version__,
        parts=parts(here, vendors) if here and judged else (),
        findings=judge(Ground(here, torch)) if here and judged else (),
        targets=targets,
    )
    return _written(found, request)


def _is_judged(here: Installation, vendors: Mapping[str, Environment], asked: Asked) -> bool:
    """Whether this machine is looked at for its own sake, or for a target that it has."""
    known = [vendors[vendor].of_chip(chip) for vendor, chip, _ in asked if vendor in vendors]
    return not asked or any(present(here, vendor) for vendor in known)


def _environments(database: Database) -> Mapping[str, Environment]:
    plain = (vendor for vendor in database.vendors if mode_of(vendor)[1] is None)
    found = {vendor: database.environment(vendor) for vendor in plain}
    return {vendor: said for vendor, said in found.items() if said is not None}


def _named_chips(
    database: Database, specs: Sequence[TargetSpec]
) -> Iterator[tuple[str, str, TargetSpec]]:
    """Vendor and chip of each target named; a vendor's own name leaves the chip open."""
    for spec in specs:
        if spec.name in GROUPS:
            raise UsageError(
                Sentence("doctor looks at one target at a time"), Sentence("name it with -t")
            )
        chips = {
            target_name(vendor, chip): (vendor, chip)
            for vendor, said in database.vendors.items()
            for chip in said.chips
        }
        if spec.name in chips:
            vendor, chip = chips[spec.name]
            owner, mode = mode_of(vendor)
            newest = replace(spec, sdk=spec.sdk or database.resolve(spec).sdk)
            yield owner, chip, newest if mode else spec
        elif spec.name in database.vendors:
            yield mode_of(spec.name)[0], "", spec
        else:
            taken = database.resolve(TargetSpec(spec.name))
            yield taken.owner, taken.chip, replace(spec, name=taken.name)


def _target(
    database: Database,
    vendors: Mapping[str, Environment],
    torch: TorchEnvironment,
    here: Installation | None,
    vendor: str,
    chip: str,
    spec: TargetSpec,
) -> DoctorTarget:
    known = vendors.get(vendor)
    if known is None:
        return DoctorTarget(str(spec), vendor, vendor, planned=True)
    said = known.of_chip(chip)
    releases = database.vendors[vendor].releases(chip) if chip else ()
    planned = here is None or not present(here, said)
    named = planned or spec.sdk or spec.torch
    rows = rows_planned(said, releases, spec.sdk, spec.torch) if named else ()
    row = next((row for row in rows if installable(said, torch, row)), next(iter(rows), None))
    if here is not None and not planned and said.plugin is not None:
        row = row or row_here(here, said)
    build = None if here is None or planned else here.torch
    findings = () if here is None else judge(Ground(here, torch, said, chip))
    if planned:
        findings = tuple(_elsewhere(findings))
    return DoctorTarget(
        name=str(spec),
        vendor=vendor,
        title=said.name,
        planned=planned,
        findings=findings,
        setup=set_up(said, torch, chip, build, row),
    )


def _elsewhere(findings: Iterable[DoctorFinding]) -> Iterator[DoctorFinding]:
    """Of what is found where nothing of a vendor's is: that it could not be here at all."""
    for finding in findings:
        if finding.code == OperatingSystem.name:
            yield replace(finding, severity=Severity.WARNING)


def _require_writable(request: DoctorRequest) -> None:
    """Refuse files that are not known, or that are there already, before any work is done."""
    if request.plan and not request.targets:
        hint = Sentence("name it with -t, as in -t ascend-910b; opcheck targets lists them")
        raise UsageError(Sentence("--plan is for a target"), hint)
    if request.write and len(request.targets) != 1:
        hint = Sentence("name one with -t; opcheck targets lists them")
        raise UsageError(Sentence("--write is for one target"), hint)
    for text in request.write:
        path = Path(text)
        if path.name not in WRITERS:
            known = Sentence("known: {text}", text=", ".join(WRITERS))
            raise _unwritable(text, Sentence("it is no file that doctor knows"), known)
        if path.is_dir():
            raise _unwritable(text, Sentence("it is a folder"), Sentence("give the path of a file"))
        if (path.exists() or path.is_symlink()) and not request.force:
            raise UsageError(
                Sentence("{text} is there already", text=text),
                Sentence("give another folder, or --force"),
            )
        if not path.resolve().parent.is_dir():
            raise _unwritable(
                text,
                Sentence("there is no folder {text}", text=path.parent),
                Sentence("make it first"),
            )


def _unwritable(path: str, why: Sentence, hint: Sentence) -> UsageError:
    return UsageError(Sentence("cannot write {text}: {said}", text=path, said=why), hint)


def _written(found: Doctor, request: DoctorRequest) -> Doctor:
    """Write the files that were asked for, each whole or not at all."""
    if not request.write:
        return found
    target = found.targets[0]
    if target.setup is None or not target.setup.components:
        raise UsageError(
            Sentence("no source pairs anything for {target}", target=target.name),
            Sentence("there is nothing to write"),
        )
    texts = {name: file_text(Path(name).name, target, target.setup) for name in request.write}
    for name, text in texts.items():
        with drafted(Path(name), text, over=request.force) as draft:
            draft.keep()
    return replace(found, written=tuple(texts))
