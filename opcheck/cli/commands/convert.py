"""``opcheck convert``: a saved report in other formats."""

from typing import Annotated

import typer

from opcheck.cli import options
from opcheck.cli.detail import Detail
from opcheck.cli.outputs import Outputs
from opcheck.cli.saved import saved_report

ReportFile = Annotated[
    str,
    typer.Argument(
        metavar="REPORT.json",
        help="What --format json wrote; - reads it from stdin.",
        show_default=False,
    ),
]


def convert(
    context: typer.Context,
    report: ReportFile,
    format: options.ReportFormats = None,
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    explain: options.Explain = False,
    top: options.Top = None,
) -> None:
    """Write a saved report in other formats.

    The model is not run again: the report that opcheck scan or opcheck plan wrote as JSON has all
    that any format shows. Several are written at once, as in --format sarif=a.sarif
    --format junit=b.xml.
    """
    out = Outputs(format, output, Detail(verbose, quiet, explain, top))
    out.write(saved_report(report))
