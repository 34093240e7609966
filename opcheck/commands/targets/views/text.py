"""The targets of the database."""

from collections.abc import Mapping, Sequence

from opcheck.commands.targets.values import TargetRow
from opcheck.lang.speech import tell
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, split

COLUMNS = ("target", "device", "newest", "torch", "kernels", "date")


def render(rows: Sequence[TargetRow], page: Page = PLAIN) -> str:
    """A table of the newest target of every chip, then the releases of every vendor."""
    canvas = Canvas(page)
    if not rows:
        canvas.flow(split(words.NO_TARGETS_KNOWN))
        return canvas.text()
    header: list[Atom] = [(tell(name, COLUMN_CONTEXT), "dim") for name in COLUMNS]
    canvas.table([header, *(_row(row) for row in rows)], indent=0, left=range(4))
    canvas.blank()
    _write_versions(
        canvas, words.RELEASES_OF, {row.target.name: row.releases for row in rows}, rows
    )
    toolkits = {row.target.name: row.toolkits for row in rows if row.toolkits}
    if toolkits:
        canvas.blank()
        _write_versions(canvas, words.TOOLKITS_OF, toolkits, rows)
    opsets = {row.target.name: row.opsets for row in rows if row.opsets}
    if opsets:
        canvas.blank()
        _write_versions(canvas, words.OPSETS_OF, opsets, rows)
    _write_names(canvas, rows)
    canvas.blank()
    canvas.flow(split(words.HOW_TO_NAME, "dim"))
    return canvas.text()


def _write_versions(
    canvas: Canvas, what: str, of: Mapping[str, tuple[str, ...]], rows: Sequence[TargetRow]
) -> None:
    """Versions, and the targets that have the same ones."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, versions in of.items():
        alike.setdefault(versions, []).append(name)
    for versions, names in alike.items():
        whom = [tell(words.EVERY_TARGET)] if len(names) == len(rows) else names
        canvas.flow([*split(what), *listed(whom, end=":")])
        canvas.flow(listed(versions), 2)


def _write_names(canvas: Canvas, rows: Sequence[TargetRow]) -> None:
    """What else vendors and chips are called."""
    called = {row.target.vendor: row.vendor_also for row in rows if row.vendor_also}
    called |= {row.target.name: row.also for row in rows if row.also}
    if called:
        canvas.blank()
        canvas.flow(split(words.ALSO_NAMED))
    for name, also in sorted(called.items()):
        canvas.flow([(f"{name}:", "bold"), *listed(also)], 2)


def _row(row: TargetRow) -> list[Atom]:
    span = tell(words.span(row.torch_versions)) if row.torch_versions else ""
    return [
        (row.target.name, "bold"),
        (row.device_name, ""),
        (row.target.sdk, ""),
        (span, ""),
        (f"{row.registered:,}", ""),
        (row.date, "dim"),
    ]
