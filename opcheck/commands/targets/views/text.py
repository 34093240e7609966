"""The targets of the database."""

from collections.abc import Sequence

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
    releases: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        releases.setdefault(row.releases, []).append(row.target.name)
    canvas.blank()
    for versions, names in releases.items():
        whom = [tell(words.EVERY_TARGET)] if len(names) == len(rows) else names
        canvas.flow([*split(words.RELEASES_OF), *listed(whom, end=":")])
        canvas.flow(listed(versions), 2)
    canvas.blank()
    canvas.flow(split(words.HOW_TO_NAME, "dim"))
    return canvas.text()


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
