"""What torch itself makes of a program: loaded and run by torch.export, in a process of its own."""

import io
import os
import signal
import sys
from collections.abc import Sequence

from tests.hostile.case import Case
from tests.hostile.place import Place

_SECONDS = 30


def runs(cases: Sequence[Case], place: Place) -> dict[str, bool]:
    """Which programs torch loads and runs; only for files that do no harm."""
    return {case.key: _runs(case, place) for case in cases}


def _runs(case: Case, place: Place) -> bool:
    assert case.harmless, case.name
    content = case.make(place)
    assert isinstance(content, bytes)
    pid = os.fork()
    if not pid:
        signal.alarm(_SECONDS)
        os._exit(0 if _ran(content) else 1)
    _, status = os.waitpid(pid, 0)
    return status == 0


def _ran(content: bytes) -> bool:
    import torch

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, sys.stdout.fileno())
    os.dup2(quiet, sys.stderr.fileno())
    try:
        program = torch.export.load(io.BytesIO(content))
        program.module()(torch.ones(2, 3))
    except BaseException:  # whatever it is: it does not run
        return False
    return True
