"""``opcheck fleet`` by itself is ``opcheck fleet run``."""

from typing import Any

from opcheck.app.direct import DefaultGroup


class Group(DefaultGroup):
    """Tells in its help what a manifest may be."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the forms of MANIFEST, examples, and exit codes."""
        from opcheck.commands.fleet.manifest.read import FORMS

        with formatter.section("Manifests"):
            formatter.write_dl(list(FORMS.items()))
        super().format_epilog(ctx, formatter)
