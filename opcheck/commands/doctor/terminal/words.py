"""Every sentence of that page."""

from opcheck.commands.doctor.values import DoctorTarget, Severity
from opcheck.views.terminal.notation import plural

HERE = ("Here", "what was found on this machine")
WHATEVER = ("Packages", "whatever the device")
SETUP = ("What goes together", "as the sources pair it")
COMMANDS = ("To set it up", "in this order")
SETTINGS = ("Environment", "in every shell that uses it")
UNKNOWN = ("Not known", "no source says")
MEND, BECAUSE, IMAGE, PYTHON, SYSTEM = "mend", "why", "image", "python", "system"
NO_SETUP = "no source pairs anything for it"
NOTHING = "no accelerator's software was found; name a target with -t to plan for one"
FINE = "nothing here is known not to go together"
WROTE = "wrote"


def verdict(target: DoctorTarget) -> str:
    """How a target fares."""
    if target.planned:
        return "nothing of it is on this machine; planned"
    counts = {
        severity: sum(finding.severity is severity for finding in target.findings)
        for severity in Severity
    }
    if not target.findings:
        return "what is here goes together"
    parts = [
        plural(counts[Severity.ERROR], "error") if counts[Severity.ERROR] else "",
        plural(counts[Severity.WARNING], "warning") if counts[Severity.WARNING] else "",
        f"{counts[Severity.UNKNOWN]:,} unknown" if counts[Severity.UNKNOWN] else "",
    ]
    return ", ".join(filter(None, parts))
