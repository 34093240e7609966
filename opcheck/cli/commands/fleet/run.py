"""``opcheck fleet MANIFEST``: every model of it held against every target."""

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

from opcheck.cli import fleet_options, model_options, options
from opcheck.cli.detail import Detail
from opcheck.cli.fleet_progress import FleetProgress
from opcheck.cli.output import Output
from opcheck.model.fleet import FleetRequest
from opcheck.report.base import format_named

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
    context: typer.Context,
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
    format: fleet_options.FleetFormat = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Say of many models which run where.

    Each has a process and limits of its own; what stops one stops no other. The store keeps each
    model that is over, and the same command goes on where it was ended. What is known already is
    not done again.
    """
    view, out = format_named(format), Output(output)
    given = {"timeout": timeout, "memory": memory}
    request = FleetRequest(
        manifest, tuple(target or ()), store,
        {name: value for name, value in given.items() if value},
        tuple(database or ()), engine, workers, address, retry, ship, trust,
    )  # fmt: skip
    from opcheck.fleet.store.damage import whole

    rooms: Any = context.obj or importlib.import_module("opcheck.fleet.run")
    with FleetProgress(quiet=quiet) as progress:
        found = rooms.run_fleet(request, progress)
    with whole(Path(store)):
        out.write(view.render_fleet(found, out.page(Detail(verbose, quiet))))
