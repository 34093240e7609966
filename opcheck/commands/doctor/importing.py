"""Imports of packages that may crash, hang or print, each in a process of its own.

``python -m opcheck.commands.doctor.importing MODULE [DEVICE]`` is that process.
"""

import importlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from opcheck.commands.doctor.installation import Imported, Outcome
from opcheck.commands.doctor.machine import Machine

_ANSWER = "opcheck-imported "
"""What stands before the answer, since packages print what they like."""
_OWN = Path(__file__).parents[3]
"""Where this package itself is imported from."""
_WORDS = 300


def import_all(
    machine: Machine, modules: Mapping[str, str], seconds: float
) -> Mapping[str, Imported]:
    """Import each module after torch; ``modules`` -> the device type to count, or ""."""
    return {name: _import(machine, name, device, seconds) for name, device in modules.items()}


def _import(machine: Machine, module: str, device: str, seconds: float) -> Imported:
    """One import; torch itself does not load plugins meanwhile, so that each is told apart."""
    paths = [*machine.packages, str(_OWN)]
    environ = {
        **machine.environ,
        "PYTHONPATH": ":".join(paths) if sys.platform != "win32" else ";".join(paths),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }
    command = [machine.interpreter, "-m", __name__, module, device]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds,
            check=False, stdin=subprocess.DEVNULL, env=environ,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Imported(module, Outcome.HUNG, f"no answer within {seconds:g} s")
    except OSError as error:
        return Imported(module, Outcome.FAILED, f"cannot run Python: {error.strerror}")
    for line in done.stdout.splitlines():
        if line.startswith(_ANSWER):
            said = json.loads(line.removeprefix(_ANSWER))
            return Imported(module, Outcome(said["outcome"]), said["text"], said["devices"])
    words = done.stderr.strip().splitlines()
    last = words[-1][:_WORDS] if words else "it said nothing"
    return Imported(module, Outcome.CRASHED, f"exit code {done.returncode}: {last}")


def answer(module: str, device: str) -> Imported:
    """Import torch and a module in this process, and count devices of a type."""
    try:
        torch = importlib.import_module("torch")
        importlib.import_module(module)
    except Exception as error:  # whatever a package raises is what is to be told
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Imported(module, Outcome.FAILED, text[:_WORDS])
    counted = device or ("cuda" if module == "torch" else "")
    try:
        devices = int(getattr(torch, counted).device_count()) if counted else None
    except Exception:  # a device that cannot be counted is none that is known of
        devices = None
    return Imported(module, Outcome.LOADED, "", devices)


def main(module: str, device: str = "") -> None:
    """Import, and write what became of it on a line of its own."""
    found = answer(module, device)
    said = {"outcome": found.outcome, "text": found.text, "devices": found.devices}
    sys.stdout.write(f"\n{_ANSWER}{json.dumps(said)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
