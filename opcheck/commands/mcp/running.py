"""A command line run in a process of its own, as a user would run it.

So a call confines itself as any run of opcheck does, what it prints cannot end up between the
protocol's messages, and nothing of it is left in a server that runs for days.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

import anyio
from anyio.abc import Process
from msgspec.structs import replace

from opcheck.commands.mcp.values import SHIM, Ran
from opcheck.lang.speech import spoken

MOST_BYTES = 64 << 20
"""Of what a command writes; the rest is not kept."""
_GRACE = 10.0
"""Seconds that a command has to end what it began."""
_PAGE = {"COLUMNS": "100", "NO_COLOR": "1", "FORCE_HYPERLINK": "0", "PYTHONUTF8": "1"}
"""A page as in a file, and as wide as one reads well."""


async def run_command(words: Sequence[str]) -> Ran:
    """Run one command line to its end; where the caller gives up, it is ended."""
    command = [sys.executable, "-P", "-m", "opcheck", *words[:1], f"--lang={spoken()}", *words[1:]]
    with TemporaryFile() as out, TemporaryFile() as err:
        process = await anyio.open_process(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=_environment(os.environ)
        )
        try:
            code = await process.wait()
        except anyio.get_cancelled_exc_class():
            await _end(process)
            raise
        return Ran(code, _text(out), _text(err))


async def run_shim(words: Sequence[str]) -> Ran:
    """Run ``opcheck fix`` for a shim whose text follows the page; no file is left."""
    with TemporaryDirectory(prefix="opcheck-") as folder:
        file = Path(folder, SHIM)
        ran = await run_command([*words[:1], f"--shim={file}", *words[1:]])
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        page = ran.out.replace(f"{folder}/", "")
        return replace(ran, out=f"{page}\n{text}" if text else page)


async def _end(process: Process) -> None:
    with anyio.CancelScope(shield=True):
        process.terminate()
        with anyio.move_on_after(_GRACE):
            await process.wait()
            return
        process.kill()
        await process.wait()


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in given.items() if name != "FORCE_COLOR"} | _PAGE


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MOST_BYTES).decode("utf-8", "replace")
