"""``opcheck convert``: a saved report in other formats."""

import typer

from opcheck.cli import options
from opcheck.cli.detail import Detail
from opcheck.cli.outputs import Outputs
from opcheck.cli.saved import saved_report


def convert(
    context: typer.Context,
    report: options.ReportFile,
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
