"""Which target a device that is tried is."""

from opcheck.db.probe_overlay import HOST
from opcheck.db.store import Database
from opcheck.db.versions import major_minor
from opcheck.errors import UsageError
from opcheck.model.probe import ProbeJob, ProbeRequest, Tried
from opcheck.model.target import Target, TargetSpec, target_name


def vendor_of(database: Database, device_type: str) -> str:
    """A vendor of a device type, "" for the host: those that share a type need no plugin."""
    if device_type == HOST:
        return ""
    for name, vendor in database.vendors.items():
        if vendor.document.data["device_type"] == device_type:
            return name
    known = {str(v.document.data["device_type"]) for v in database.vendors.values()}
    raise UsageError(
        f"no device is called {device_type!r}", f"known: {', '.join(sorted({*known, HOST}))}"
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
        and (environment := database.environment(vendor)) is not None
        for chip, names in environment.chips.items()
        if any(each.lower() in name.lower() for each in names)
    ]
    if len(found) != 1:
        raise UsageError(
            f"{name or device_type} may be several targets, or none: {', '.join(found) or 'none'}",
            "name it with -t; opcheck targets lists them",
        )
    return TargetSpec(found[0])
