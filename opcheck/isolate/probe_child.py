"""One process that tries a device, as its parent sees it: started, heard line by line, ended."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opcheck.isolate.ends import signal_name
from opcheck.model.codec import to_json
from opcheck.model.probe import ProbeJob

PYTHON = (sys.executable, "-P")
"""A file of the user's named like a library must not be taken for it."""
_EMULATED = {"CUDA_VISIBLE_DEVICES": "-1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}


class Child:
    """The process, heard line by line."""

    def __init__(self, job: ProbeJob, program: Sequence[str] = PYTHON) -> None:
        """``program``: what runs a module, as Python does."""
        package = str(Path(__file__).resolve().parents[2])
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        self._heard: queue.Queue[dict[str, Any]] = queue.Queue()
        self._popen = subprocess.Popen(
            [*program, "-m", "opcheck.worker.probing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={
                **os.environ,
                **(_EMULATED if job.emulated else {}),
                "PYTHONPATH": os.pathsep.join([*paths, package]),
                "PYTHONUTF8": "1",
            },
            start_new_session=True,
        )
        assert self._popen.stdin is not None  # asked for above
        with contextlib.suppress(BrokenPipeError), self._popen.stdin as pipe:
            pipe.write(json.dumps(to_json(job)))
        threading.Thread(target=self._listen, daemon=True).start()

    def next(self, seconds: float) -> dict[str, Any] | None:
        """The next message; None where there is none for so long."""
        try:
            return self._heard.get(timeout=seconds)
        except queue.Empty:
            return None

    def kill(self) -> None:
        """End the process and what it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.kill()
        self._popen.wait()

    def _listen(self) -> None:
        assert self._popen.stdout is not None  # asked for above
        for line in self._popen.stdout:
            with contextlib.suppress(ValueError):  # a line that was cut short
                message = json.loads(line)
                if isinstance(message, dict):
                    self._heard.put(message)
        self._heard.put({"ended": _how(self._popen.wait())})


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal_name(-code)
