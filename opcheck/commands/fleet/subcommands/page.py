"""``opcheck fleet page``: a run as a web page."""

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from msgspec import Struct

from opcheck.app import options
from opcheck.app.output import Output
from opcheck.app.progress import Progress
from opcheck.commands.fleet import group as fleet_options
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import Language, speaking, spoken
from opcheck.model.report import Report
from opcheck.views.formats import report_view

ReportsFolder = Annotated[
    Path | None,
    typer.Option(
        "--reports",
        parser=Path,
        metavar="FOLDER",
        help="Write the report of each model there too, for the page to lead to.",
        show_default="the page says how to write each",
    ),
]


def page(
    store: fleet_options.Store,
    run: fleet_options.RunName = "last",
    output: options.OutputFile = None,
    reports: ReportsFolder = None,
    database: options.Databases = None,
) -> None:
    """Write a run as a web page: every model on every target, and what would unblock most.

    One file that needs no network: models and targets to sort, filter and search, what is in the
    way of each, and the ranking of each vendor.
    """
    from opcheck.commands.fleet.answers.summary import page_of
    from opcheck.commands.fleet.html.page import fleet_page
    from opcheck.commands.fleet.store.store import whole

    out = Output(output)
    written = {}
    if reports is not None:
        written = _written(store, run, reports, output, tuple(database or ()))
    with whole(store):
        out.write(fleet_page(page_of(store, run, written)))


def _written(
    store: Path, run: str, folder: Path, output: Path | None, databases: tuple[str, ...]
) -> dict[str, str]:
    """Write the reports; gives their addresses, as the page has to name them."""
    from opcheck.commands.fleet.answers.report import write_reports

    if output is None:
        raise UsageError(Sentence("--reports wants a page in a file"), Sentence("give it with -o"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            Sentence(
                "cannot write {text}: {text_why}", text=folder, text_why=error.strerror or error
            )
        ) from error
    found = {}
    with Progress() as progress:
        for name, file in write_reports(store, run, folder, _Writing(spoken()), databases):
            progress(Sentence("writing the report of {name}", name=name))
            found[name] = quote(os.path.relpath(file, output.parent).replace(os.sep, "/"))
    return found


class _Writing(Struct, frozen=True):
    """Writes a report in the language of this run, in whatever process that is."""

    language: Language

    def __call__(self, path: Path, report: Report) -> None:
        with speaking(self.language):
            Output(path).write(report_view("html").render(report))
