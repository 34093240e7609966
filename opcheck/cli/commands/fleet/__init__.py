"""Many models at once: which run, what keeps the others off, what changed."""

from typing import Any

from opcheck.cli.groups import DefaultGroup
from opcheck.cli.guide import write_manifests


class Group(DefaultGroup):
    """Tells in its help what a manifest may be."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the forms of MANIFEST, examples, and exit codes."""
        write_manifests(formatter)
        super().format_epilog(ctx, formatter)
