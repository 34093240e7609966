"""The README's blocks of output: what they say, and what the commands say now.

``python -m tests.readme`` writes them anew (``make readme``).
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
_BLOCK = re.compile(r"```console\n\$ opcheck (?P<arguments>[^\n]*)\n(?P<output>.*?)```", re.DOTALL)


def blocks() -> dict[str, str]:
    """Arguments of every command that the README shows -> the output shown."""
    return {found["arguments"]: found["output"] for found in _BLOCK.finditer(_text())}


def output_of(arguments: str) -> str:
    """What the command prints now, in a terminal of 80 columns without colour."""
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "opcheck", *arguments.split()]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip().splitlines())


def _text() -> str:
    return README.read_text(encoding="utf-8")


def _written_anew(found: re.Match[str]) -> str:
    arguments = found["arguments"]
    return f"```console\n$ opcheck {arguments}\n{output_of(arguments)}```"


if __name__ == "__main__":
    README.write_text(_BLOCK.sub(_written_anew, _text()), encoding="utf-8")
