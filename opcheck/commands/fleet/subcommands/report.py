"""``opcheck fleet report``: one model of a run, as if it had been scanned alone."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.outputs import Outputs
from opcheck.app.progress import forward_output
from opcheck.commands.fleet import group as fleet_options
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell

Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="What the run calls it: timm:resnet50.", show_default=False
    ),
]


def report(
    store: fleet_options.Store,
    model: Model,
    target: fleet_options.RunTargets = None,
    run: fleet_options.RunName = "last",
    format: options.ReportFormats = None,
    output: options.OutputFile = None,
    database: options.Databases = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    explain: options.Explain = False,
    top: options.Top = None,
) -> None:
    """Give the whole report of one model of a run.

    Its stored trace is checked against the targets anew: the model is not run, and torch is not
    needed.
    """
    from opcheck.commands.fleet.answers.report import report_of_model
    from opcheck.commands.fleet.store.store import whole

    out = Outputs(format, output, Detail(verbose, quiet, explain, top))
    with whole(store):
        found = report_of_model(store, model, run, tuple(target or ()), tuple(database or ()))
        if found.newer:
            newer = Sentence(
                "the database has newer data of {list} than the run: this is by the newer",
                list=", ".join(found.newer),
            )
            forward_output(tell(newer))
        out.write(found.report)
