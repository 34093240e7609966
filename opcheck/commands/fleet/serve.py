"""A worker of the local engine, a process: a job a line on stdin, what came of it on stdout.

``python -m opcheck.commands.fleet.serve``: the first line is the setup. It ends with its parent.
"""

import json
import os
import signal
import sys
import time

from opcheck.commands.fleet.engine import Setup
from opcheck.commands.fleet.values import Done, Job
from opcheck.commands.fleet.worker import Worker
from opcheck.model.codec import from_json, to_json
from opcheck.sandbox.reaper import end_with_parent


def main() -> None:
    """Do jobs until there are no more."""
    end_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what anything prints is no answer
    name = str(os.getpid())
    with Worker(from_json(Setup, json.loads(sys.stdin.readline()))) as worker:
        for line in sys.stdin:
            job = from_json(Job, json.loads(line))
            begun = time.monotonic()
            outcome = worker.outcome(job)
            done = Done(job.position, outcome, time.monotonic() - begun, name)
            out.write(json.dumps(to_json(done), separators=(",", ":")) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
