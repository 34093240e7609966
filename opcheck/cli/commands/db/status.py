"""``opcheck db status``: how old the database is and what it holds."""

import typer

from opcheck.cli import options
from opcheck.cli.detail import Detail
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms
from opcheck.errors import DatabaseError
from opcheck.report.base import format_named


def status(
    context: typer.Context,
    database: options.Databases = None,
    max_age: options.MaxAge = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Say how old the database is and what it holds.

    Vendors, releases, the torch versions that each serves, kernels by how they are known.
    """
    view, out = format_named(format), Output(output)
    found = rooms(context).database_status(tuple(database or ()))
    out.write(view.render_database(found, out.page(Detail(verbose))))
    old = found.older_than(max_age) if max_age is not None else ()
    if old:
        told = ", ".join(f"{vendor.vendor} (of {vendor.date or 'no date'})" for vendor in old)
        raise DatabaseError(
            f"too old for the policy of {max_age} days: {told}",
            "update opcheck, or bring the vendor's newer files in with opcheck db import",
        )
