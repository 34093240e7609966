"""``opcheck fleet diff``: what changed from one run to another."""

from pathlib import Path
from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.commands.fleet import group as fleet_options
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.views.formats import command_view

Earlier = Annotated[
    Path,
    typer.Argument(
        parser=Path,
        metavar="STORE",
        help="What opcheck fleet wrote, the earlier one of two.",
        show_default=False,
    ),
]
Later = Annotated[
    Path | None,
    typer.Argument(
        parser=Path, metavar="[LATER]", help="The later one.", show_default="two runs of STORE"
    ),
]
Before = Annotated[
    str,
    typer.Option(
        "--before",
        metavar="RUN",
        help="The earlier run: a number, last or previous.",
        show_default="previous; of two stores the last",
    ),
]
After = Annotated[
    str,
    typer.Option("--after", metavar="RUN", help="The later run: a number, last or previous."),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TARGET",
        help="With --to: hold one target against another, as a release against the one before.",
        show_default="each against that of the same name, else of the same chip",
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to", metavar="TARGET", help="The target to hold against --from.", show_default="none"
    ),
]


def diff(
    store: Earlier,
    later: Later = None,
    before: Before = "",
    after: After = "last",
    target: fleet_options.RunTargets = None,
    from_: From = None,
    to: To = None,
    format: Annotated[str, options.format_of("fleet")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Show what changed from one run to another: newly broken, newly fixed, new, gone, and by what.

    After a new release of the database, of opcheck, of torch or of a vendor, or a change of models.
    """
    from opcheck.commands.fleet.answers.queries import Compared, difference_of
    from opcheck.commands.fleet.store.store import whole

    view, out = command_view("fleet", format), Output(output)
    if (from_ is None) != (to is None):
        raise UsageError(
            Sentence("--from and --to belong together"), Sentence("give both, or none")
        )
    pair = None if from_ is None or to is None else (from_, to)
    compared = Compared(before, after, tuple(target or ()), pair)
    with whole(store, later):
        found = difference_of(later or store, store if later else None, compared)
        out.write(view.render(found, out.page(Detail(verbose))))
