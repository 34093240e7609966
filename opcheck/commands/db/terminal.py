"""Pages about the database: their sentences, its age and contents, and one target counted."""

from collections.abc import Mapping

from opcheck.lang.sentence import Sentence, chained, changed, from_data, verbatim, with_sign
from opcheck.lang.speech import tell
from opcheck.model.database import Contents, DatabaseStatus, ReleaseStatus, SourceFile, VendorStatus
from opcheck.model.matrix import Fallback
from opcheck.model.verdict import Evidence, Method
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, split
from opcheck.views.terminal.notation import STYLES, plural, source
from opcheck.views.terminal.sections import write_heading
from opcheck.views.terminal.words import more, span

OVERLAYS = ("Overlays", "the last one holds")
ADVISORIES = ("Advisories", "operators that run and do something else than they should")
EDITED = "edited: not what its importer wrote"
NO_DATE = "of no known date"
ADDED = ("Added", "a kernel where there was none")
REMOVED = ("Removed", "no kernel any more")
CHANGED = ("Changed", "keys, kernel paths or conditions")
NOTHING_CHANGED = "Nothing differs: the same kernels, keys, paths and conditions."
CONDITIONS = ("Conditions", "uses that fare otherwise")
SOURCES = ("Sources", "what it was read from")
OPERATORS = ("Kernels", "overloads that have one")
EVERY_OVERLOAD = "every overload"
RELEASE_COLUMNS = ("release", "torch", "date", "age", "kernels", "known as", "conditions")
BY_HAND = "to be made by hand, if this release has them:"
RUNS = {True: "runs", False: "will not run", None: "cannot tell"}
CHANGED_FILE = {True: "written", False: "as it was"}

# labels, at most nine columns wide
DATA, KERNELS, GRADIENTS, OTHERWISE, EVIDENCE = "data", "kernels", "gradients", "otherwise", ""
KEYS, PATHS, GONE, NEW = "keys", "path", "gone", "new"
CAUTION, OFF_WITH = "caution", "off with"


def age(days: int | None) -> Sentence:
    """How old data is."""
    return Sentence(NO_DATE) if days is None else plural(days, "day")


def old(days: int | None) -> Sentence:
    """The same behind a date."""
    if days is None:
        return Sentence(NO_DATE)
    return Sentence("{said} old", said=plural(days, "day"))


def methods(entries: Mapping[Method, int]) -> Sentence:
    """How entries are known: one word where all are known alike."""
    if len(entries) == 1:
        return Sentence(next(iter(entries)).value)
    counts = [
        Sentence(f"{{count}} {method.value}", count=f"{count:,}")
        for method, count in entries.items()
    ]
    return chained(counts, ", ")


def otherwise(fallback: Fallback) -> Sentence:
    """What becomes of an operator that the target does not have."""
    if fallback.elsewhere:
        return Sentence("not converted, {said}", said=fallback.elsewhere)
    if fallback.to_cpu:
        return Sentence("it runs on the host")
    if fallback.enable:
        return Sentence("an error; the host runs it with {text}", text=fallback.enable)
    return Sentence("an error")


def added(operators: int, conditions: int) -> Sentence:
    """What an overlay brings."""
    parts = [plural(operators, "operator")] if operators else []
    parts += [plural(conditions, "condition")] if conditions else []
    return chained(parts or [Sentence("nothing")], ", ")


def sound(files: int) -> Sentence:
    """That a check found nothing."""
    return Sentence("{said} looked at, nothing is wrong", said=plural(files, "file"))


def unsound(problems: int, files: int, damaged: int) -> Sentence:
    """How much a check found."""
    return Sentence(
        "{said} in {count} of {said_all}",
        said=plural(problems, "problem"),
        count=f"{damaged:,}",
        said_all=plural(files, "file"),
    )


MOST_SOURCES, MOST_NAMES = 8, 24
"""How many are named unless all are asked for."""


def write_contents(canvas: Canvas, found: Contents) -> None:
    """The facts of a target, its conditions by code, its advisories and its sources."""
    canvas.flow([(str(found.target), "bold"), *split(verbatim(f"({found.device_name})"))])
    count = sum(found.entries.values())
    kernels = Sentence("none")
    if count:
        kernels = Sentence(
            "{count} under {key}, {said}",
            count=f"{count:,}",
            key=found.dispatch_key,
            said=methods(found.entries),
        )
    data = Sentence("{date}, digest {digest}", date=found.date, digest=found.digest)
    canvas.field(DATA, split(data), 2)
    canvas.field(KERNELS, split(kernels), 2)
    if found.gradients:
        own = Sentence("{count} of its own", count=f"{found.gradients:,}")
        canvas.field(GRADIENTS, split(own), 2)
    canvas.field(OTHERWISE, split(otherwise(found.fallback)), 2)
    raised = f'"{found.fallback.text}"'
    canvas.field("", split(verbatim(raised), "dim"), 2)
    for fact in found.fallback.evidence[:1]:
        _write_source(canvas, fact)
    if found.fallback.disable:
        canvas.field(OFF_WITH, split(found.fallback.disable), 2)
    _write_conditions(canvas, found)
    if found.advisories:
        write_heading(canvas, ("Advisories", "holds for the whole target"), "", "")
        for advisory in found.advisories:
            text = changed(
                from_data(advisory.text), lambda part: part.replace("{chip}", found.target.chip)
            )
            canvas.flow([(f"{advisory.code}:", "yellow"), *split(text)], 2)
    _write_sources(canvas, found.sources)
    if canvas.page.verbose:
        write_heading(canvas, OPERATORS, plural(count, "overload"), "")
        canvas.flow(listed(found.operators), 2)


def _write_conditions(canvas: Canvas, found: Contents) -> None:
    if not found.conditions:
        return
    write_heading(canvas, CONDITIONS, plural(len(found.conditions), "code"), "")
    rows: list[list[Atom]] = [
        [
            (group.code, STYLES[group.verdict]),
            (tell(CAUTION if group.verdict.on_device else group.verdict.value), ""),
            (tell(plural(group.overloads, "overload")), ""),
        ]
        for group in found.conditions
    ]
    canvas.table(rows, 2, left=(0, 1))


def _write_sources(canvas: Canvas, sources: tuple[SourceFile, ...]) -> None:
    write_heading(canvas, SOURCES, plural(len(sources), "file"), "")
    shown = sources if canvas.page.verbose else sources[:MOST_SOURCES]
    for file in shown:
        canvas.flow(split(_file(file, canvas.page.verbose), "dim"), 2)
    if len(sources) > len(shown):
        canvas.flow(split(more(len(sources) - len(shown), "source"), "dim"), 2)


def _file(file: SourceFile, verbose: bool) -> str:
    commit = file.commit if verbose else file.commit[:7]
    version = commit or (file.ref if file.ref != file.path else "")
    at = f"@{version}" if version else ""
    date = f" ({file.date})" if file.date else ""
    origin = f", {file.origin}" if file.origin else ""
    return f"{file.repo}{at} {file.path}{date}{origin}"


def _write_source(canvas: Canvas, fact: Evidence) -> None:
    seen = source(fact, canvas.page.verbose)
    how = split(with_sign(fact.method.value, ":"), "dim")
    canvas.field("", [*how, *split(verbatim(seen), "dim")], 2)


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
        plural(releases, "release"), Sentence("digest {digest}", digest=found.digest),
    ]  # fmt: skip
    canvas.flow([atom for part in parts for atom in (dot, *split(part))][1:])
    for vendor in found.vendors:
        canvas.blank()
        _write_vendor(canvas, vendor)
    if found.overlays:
        write_heading(canvas, OVERLAYS, plural(len(found.overlays), "file"), "")
        for overlay in found.overlays:
            what = added(overlay.operators, overlay.conditions)
            head: list[Atom] = [(overlay.origin, "bold"), (f"({overlay.vendor}):", "")]
            canvas.flow([*head, *split(chained([what, verbatim(overlay.reason)], "; "))], 2)
    if found.advisories:
        write_heading(canvas, ADVISORIES, str(len(found.advisories)), "")
        canvas.flow(listed(found.advisories), 2)


def _write_vendor(canvas: Canvas, vendor: VendorStatus) -> None:
    dot: Atom = (canvas.marks.dot, "dim")
    about = [vendor.vendor, plural(len(vendor.targets), "target"), old(vendor.age)]
    atoms = [atom for part in about for atom in (dot, *split(part))]
    canvas.flow([*split(vendor.name, "bold"), *atoms])
    shown = vendor.releases if canvas.page.verbose else vendor.releases[:RELEASES]
    if not shown:
        return
    header: list[Atom] = [(tell(name, COLUMN_CONTEXT), "dim") for name in RELEASE_COLUMNS]
    rows = [header, *(_cells(release) for release in shown)]
    columns = next((n for n in (7, 6) if canvas.has_room([row[:n] for row in rows], 2)), 5)
    canvas.table([row[:columns] for row in rows], 2, left=(0, 1, 2, 5))
    if columns < _KNOWN_AS:
        for release in shown:
            known = split(Sentence("known as {said}", said=methods(release.entries)), "dim")
            canvas.flow([(f"{release.release}:", "dim"), *known], 2)
    for release in shown:
        if release.origin:
            canvas.flow([(f"{release.release}:", ""), *split(release.origin, "dim")], 2)
        if release.edited:
            canvas.flow([(f"{release.release}:", ""), *split(EDITED, "red")], 2)
        if canvas.page.verbose:
            canvas.flow([(f"{release.release}:", "dim"), *split(release.digest, "dim")], 2)
    left_out = len(vendor.releases) - len(shown)
    if left_out:
        canvas.flow(split(more(left_out, "release"), "dim"), 2)


def _cells(release: ReleaseStatus) -> list[Atom]:
    return [
        (release.release, "bold"),
        (tell(span(release.torch_versions)) if release.torch_versions else "", ""),
        (release.date, "dim"),
        (tell(age(release.age)), ""),
        (f"{sum(release.entries.values()):,}", ""),
        (tell(methods(release.entries)), "dim"),
        (f"{release.conditions:,}", ""),
    ]
