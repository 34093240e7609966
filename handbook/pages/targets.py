"""The targets of the database."""

from handbook.base import Page, code, table
from opcheck.commands.targets.answer import targets

_PAGE = """\
# Targets

What `opcheck targets` lists: a chip, the newest release of its software that the database has, the
torch versions that this release serves, and its other releases. `-t NAME@SDK+torchX.Y` names one.
*Kernels* counts the overloads that the newest release registers a kernel for.

{table}"""


class Targets(Page):
    """``reference/targets.md``."""

    name = "targets"

    def text(self) -> str:
        """One row a target."""
        head = ["target", "device", "newest", "torch", "other releases", "kernels", "as of"]
        rows = (
            [
                code(row.target.name),
                row.device_name,
                code(row.releases[0]),
                ", ".join(row.torch_versions),
                ", ".join(map(code, row.releases[1:])),
                f"{row.registered:,}",
                row.date,
            ]
            for row in targets()
        )
        return _PAGE.format(table=table(head, rows))
