"""``opcheck convert``: a saved report, read back, in other formats."""

import io
import sys
from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.outputs import Outputs
from opcheck.errors import UsageError
from opcheck.files import MOST_REPORT_BYTES, in_words, read_bytes, read_stream
from opcheck.lang.sentence import Sentence
from opcheck.model.report import Report
from opcheck.views.document.report import HINT, report_in

STDIN = "-"


def saved_report(path: str) -> Report:
    """The report in a file, or on stdin for ``-``.

    Raises:
        UsageError: it cannot be read, or is no report.
    """
    name = "stdin" if path == STDIN else path
    try:
        data = _stdin() if path == STDIN else read_bytes(path, MOST_REPORT_BYTES)
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(
            Sentence("cannot read {text_file}: {text}", text_file=name, text=told), HINT
        ) from error
    return report_in(text, name)


def _stdin() -> bytes:
    if sys.stdin is None:
        raise UsageError(
            Sentence("cannot read stdin: it is closed"), Sentence("give the path of a file")
        )
    # a program that runs this one may have put text in its place
    stream = getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode())
    found = read_stream(stream, MOST_REPORT_BYTES)
    if found is None:
        raise ValueError(f"it is larger than {in_words(MOST_REPORT_BYTES)}")
    return found


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
