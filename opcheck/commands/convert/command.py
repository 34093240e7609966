"""``opcheck convert``: a saved report in other formats."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.detail import Detail
from opcheck.app.outputs import Outputs
from opcheck.app.saved import saved_report

ReportFile = Annotated[
    str,
    typer.Argument(
        metavar="REPORT.json",
        help="What --format json wrote; - reads it from stdin.",
        show_default=False,
    ),
]


def convert(
    report: ReportFile,
    format: options.ReportFormats = None,
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    explain: options.Explain = False,
    top: options.Top = None,
) -> None:
    out = Outputs(format, output, Detail(verbose, quiet, explain, top))
    out.write(saved_report(report))
