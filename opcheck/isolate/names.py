"""The models that a library knows by name, asked of it in a process of its own."""

import json
import subprocess
import sys

from opcheck.errors import SourceError
from opcheck.isolate.process import environment


def names_of(kind: str) -> tuple[str, ...]:
    """Every name of a source kind that has a list of them, in the library's own order.

    Raises:
        SourceError: the library is not installed, or fails.
    """
    done = subprocess.run(
        [sys.executable, "-P", "-m", "opcheck.worker.names", kind],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**environment(None)},
        check=False,
    )
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise SourceError(f"{kind} cannot tell which models it has: {last}") from error
    if "error" in found:
        message, hint = found["error"]
        raise SourceError(message, hint)
    return tuple(found["names"])
