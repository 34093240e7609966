"""How old the database is and what it holds."""

from opcheck.commands.db.terminal import words
from opcheck.lang.speech import tell
from opcheck.model.database import DatabaseStatus, ReleaseStatus, VendorStatus
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, split
from opcheck.views.terminal.rest import write_heading
from opcheck.views.terminal.units import plural
from opcheck.views.terminal.words import more

RELEASES = 3
"""How many of a vendor are listed unless all are asked for."""
_KNOWN_AS = 6
"""Columns, the one that says how kernels are known included."""


def write_status(canvas: Canvas, found: DatabaseStatus) -> None:
    """One line for all of it, then one table a vendor, overlays and advisories."""
    dot: Atom = (canvas.marks.dot, "dim")
    targets = sum(len(vendor.targets) for vendor in found.vendors)
    releases = sum(len(vendor.releases) for vendor in found.vendors)
    parts = [
        plural(len(found.vendors), "vendor"), plural(targets, "target"),
        plural(releases, "release"), f"digest {found.digest}",
    ]  # fmt: skip
    canvas.flow([atom for part in parts for atom in (dot, *split(part))][1:])
    for vendor in found.vendors:
        canvas.blank()
        _write_vendor(canvas, vendor)
    if found.overlays:
        write_heading(canvas, words.OVERLAYS, plural(len(found.overlays), "file"), "")
        for overlay in found.overlays:
            what = words.added(overlay.operators, overlay.conditions)
            head: list[Atom] = [(overlay.origin, "bold"), (f"({overlay.vendor}):", "")]
            canvas.flow([*head, *split(f"{what}; {overlay.reason}")], 2)
    if found.advisories:
        write_heading(canvas, words.ADVISORIES, str(len(found.advisories)), "")
        canvas.flow(listed(found.advisories), 2)


def _write_vendor(canvas: Canvas, vendor: VendorStatus) -> None:
    dot: Atom = (canvas.marks.dot, "dim")
    about = [vendor.vendor, plural(len(vendor.targets), "target"), words.old(vendor.age)]
    atoms = [atom for part in about for atom in (dot, *split(part))]
    canvas.flow([*split(vendor.name, "bold"), *atoms])
    shown = vendor.releases if canvas.page.verbose else vendor.releases[:RELEASES]
    if not shown:
        return
    header: list[Atom] = [(tell(name, COLUMN_CONTEXT), "dim") for name in words.RELEASE_COLUMNS]
    rows = [header, *(_cells(release) for release in shown)]
    columns = next((n for n in (7, 6) if canvas.has_room([row[:n] for row in rows], 2)), 5)
    canvas.table([row[:columns] for row in rows], 2, left=(0, 1, 2, 5))
    if columns < _KNOWN_AS:
        for release in shown:
            known = split(f"known as {words.methods(release.entries)}", "dim")
            canvas.flow([(f"{release.release}:", "dim"), *known], 2)
    for release in shown:
        if release.origin:
            canvas.flow([(f"{release.release}:", ""), *split(release.origin, "dim")], 2)
        if release.edited:
            canvas.flow([(f"{release.release}:", ""), *split(words.EDITED, "red")], 2)
        if canvas.page.verbose:
            canvas.flow([(f"{release.release}:", "dim"), *split(release.digest, "dim")], 2)
    left_out = len(vendor.releases) - len(shown)
    if left_out:
        canvas.flow(split(more(left_out, "release"), "dim"), 2)


def _cells(release: ReleaseStatus) -> list[Atom]:
    return [
        (release.release, "bold"),
        (tell(words.span(release.torch_versions)), ""),
        (release.date, "dim"),
        (tell(words.age(release.age)), ""),
        (f"{sum(release.entries.values()):,}", ""),
        (tell(words.methods(release.entries)), "dim"),
        (f"{release.conditions:,}", ""),
    ]
