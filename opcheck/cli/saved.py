"""Reports that were saved as JSON, read back."""

import sys
from pathlib import Path

from opcheck.errors import UsageError
from opcheck.model.report import Report
from opcheck.report.reader import HINT, from_json

STDIN = "-"


def saved_report(path: str) -> Report:
    """The report in a file, or on stdin for ``-``.

    Raises:
        UsageError: it cannot be read, or is no report.
    """
    name = "stdin" if path == STDIN else path
    if path == STDIN and sys.stdin is None:
        raise UsageError("cannot read stdin: it is closed", "give the path of a file")
    try:
        data = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"cannot read {name}: {told}", HINT) from error
    return from_json(text, name)
