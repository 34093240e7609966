"""``opcheck fleet MANIFEST``: every model of it held against every target."""

from pathlib import Path
from typing import Annotated

import typer

from opcheck.app import model_options, options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.commands.fleet.progress import FleetProgress
from opcheck.commands.fleet.values import FleetRequest
from opcheck.views.formats import command_view

TIMEOUT = 600.0

STORE = "opcheck-fleet.db"

Manifest = Annotated[
    str,
    typer.Argument(
        metavar="MANIFEST", help="Models, in one of the forms below.", show_default=False
    ),
]
StoreFile = Annotated[
    str,
    typer.Option("--store", metavar="FILE", help="The SQLite file that keeps what is found."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        parser=options.workers,
        metavar="N",
        help="How many models are scanned at a time.",
        show_default="one for each processor",
    ),
]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="What scans them: local or ray.")
]
Address = Annotated[
    str,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Where the Ray cluster is.",
        show_default="the one that this machine is a node of",
    ),
]
Ship = Annotated[
    bool,
    typer.Option(
        "--ship",
        help="Send the working directory to the nodes of the cluster, where they do not see it.",
    ),
]
Retry = Annotated[
    bool,
    typer.Option(
        "--retry",
        help="Scan models again whose scan did not end well.",
        show_default="only where a limit was raised",
    ),
]


def run(
    manifest: Manifest,
    target: options.Targets = None,
    store: StoreFile = STORE,
    workers: Workers = None,
    timeout: model_options.Timeout = TIMEOUT,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    retry: Retry = False,
    engine: EngineName = "local",
    address: Address = "",
    ship: Ship = False,
    database: options.Databases = None,
    format: Annotated[str, options.format_of("fleet")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Say of many models which run where.

    Each has a process and limits of its own; what stops one stops no other. The store keeps each
    model that is over, and the same command goes on where it was ended. What is known already is
    not done again.
    """
    view, out = command_view("fleet", format), Output(output)
    given = {"timeout": timeout, "memory": memory}
    request = FleetRequest(
        manifest, tuple(target or ()), store,
        {name: value for name, value in given.items() if value},
        tuple(database or ()), engine, workers, address, retry, ship, trust,
    )  # fmt: skip
    from opcheck.commands.fleet import run as answer
    from opcheck.commands.fleet.store.damage import whole

    with FleetProgress(quiet=quiet) as progress:
        found = answer.run_fleet(request, progress)
    with whole(Path(store)):
        out.write(view.render(found, out.page(Detail(verbose, quiet))))
