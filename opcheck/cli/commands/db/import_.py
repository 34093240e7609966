"""``opcheck db import``: a vendor's own files into the database."""

import typer

from opcheck.cli import options
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms
from opcheck.report.base import format_named


def import_(
    context: typer.Context,
    vendor: options.Vendor,
    path: options.SourcesFolder,
    release: options.Releases = None,
    into: options.Into = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
) -> None:
    """Bring a vendor's own files into the database.

    The same files give the same bytes. Digests are noted, so that later edits are noticed.
    """
    view, out = format_named(format), Output(output)
    found = rooms(context).database_import(vendor, path, tuple(release or ()), into)
    out.write(view.render_database(found, out.page()))
