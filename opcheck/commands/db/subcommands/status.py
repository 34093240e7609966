"""``opcheck db status``: how old the database is and what it holds."""

from typing import Annotated

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence
from opcheck.views.formats import command_view


def status(
    database: options.Databases = None,
    max_age: options.MaxAge = None,
    format: Annotated[str, options.format_of("db")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Show how old the database is and what it holds.

    Vendors, releases, the torch versions that each serves, kernels by how they are known.
    """
    from opcheck.commands.db import answer

    view, out = command_view("db", format), Output(output)
    found = answer.database_status(tuple(database or ()))
    out.write(view.render(found, out.page(Detail(verbose))))
    old = found.older_than(max_age) if max_age is not None else ()
    if old:
        told = ", ".join(f"{vendor.vendor} (of {vendor.date or 'no date'})" for vendor in old)
        raise DatabaseError(
            Sentence("too old for the policy of {count} days: {text}", count=max_age, text=told),
            Sentence("update opcheck, or bring the vendor's newer files in with opcheck db import"),
        )
