"""A worker that puts its own limits in force, before anything of the model's is read."""

import os
import sys
import tempfile
from pathlib import Path

from opcheck.model.work import Job
from opcheck.sandbox.profile import confine, scratch_environment
from opcheck.worker.refusals import Refusals

_OF_TOOLS = (
    "TMPDIR", "MPLCONFIGDIR", "YOLO_CONFIG_DIR", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"
)  # fmt: skip
"""Folders that libraries write to on import; code of the user's keeps its home and caches."""


def confined(job: Job) -> Refusals:
    """Limit this process to what its job says, for good; gives what takes note of refusals."""
    limits = job.limits
    if limits is None:
        return Refusals("")
    scratch = scratch_environment(str(Path(limits.scratch, "scratch")))
    if job.code:
        scratch = {name: scratch[name] for name in _OF_TOOLS}
    for folder in scratch.values():
        os.makedirs(folder, exist_ok=True)
    os.environ.update(scratch)
    tempfile.tempdir = scratch["TMPDIR"]
    sys.dont_write_bytecode = True
    refusals = Refusals(limits.scratch, *limits.writes)
    if job.code:
        refusals.listen()
    confine(limits)
    return refusals
