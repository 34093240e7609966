"""Blocks of output in the README and in docs: what they say, and what the commands say now.

``python -m tests.readme`` writes them anew (``make readme``).
"""

import re
import tempfile
from pathlib import Path

from tests.console import ROOT, printed, shown_now, steps

README = ROOT / "README.md"
TRANSLATED = ROOT / "README.zh-CN.md"
DOCS = ROOT / "docs"
FENCED = re.compile(r"```.*?```", re.DOTALL)


def blocks() -> dict[str, str]:
    """Arguments of every command that the README shows -> the output shown."""
    shown = steps(README.read_text(encoding="utf-8"))
    return {step.command.removeprefix("opcheck "): step.output for step in shown}


def output_of(arguments: str) -> str:
    """What the command prints now, in a terminal of 80 columns without colour."""
    return printed(f"opcheck {arguments}", ROOT)


def pages() -> tuple[Path, ...]:
    """Every page of docs that shows what commands print."""
    every = sorted(DOCS.rglob("*.md"))
    return tuple(page for page in every if steps(page.read_text(encoding="utf-8")))


def page_now(page: Path) -> str:
    """A page of docs as it should be: its commands are run in a folder of its files alone."""
    with tempfile.TemporaryDirectory() as folder:
        return shown_now(page.read_text(encoding="utf-8"), Path(folder))


def in_step(translation: str, original: str) -> str:
    """A translation with the blocks that the original has, in the order that they have there."""
    blocks_there = iter(FENCED.findall(original))
    return FENCED.sub(lambda own: next(blocks_there, own[0]), translation)


if __name__ == "__main__":
    now = shown_now(README.read_text(encoding="utf-8"), ROOT)
    README.write_text(now, encoding="utf-8")
    told = in_step(TRANSLATED.read_text(encoding="utf-8"), now)
    TRANSLATED.write_text(told, encoding="utf-8")
    for one in pages():
        one.write_text(page_now(one), encoding="utf-8")
