"""The picture of a terminal in the README, drawn of what a command prints now."""

import io
import re

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from tests.console import ROOT, printed

PICTURE = ROOT / "docs" / "pictures" / "scan.svg"
COMMAND = "opcheck scan examples/rotary_attention.py:model -t ascend-910b --top 1"
_WIDTH = 84
_FONTS = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
_FORMAT = _FONTS.sub("", CONSOLE_SVG_FORMAT).replace(
    "Fira Code,", "Menlo, Consolas, Noto Sans Mono,"
)


def picture() -> str:
    """An SVG of the command and its answer, in colour; it asks no server for a font."""
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {COMMAND}", style="bold"))
    console.print(Text.from_ansi(printed(COMMAND, ROOT, colour=True)))
    return console.export_svg(title="opcheck", code_format=_FORMAT, unique_id="opcheck")
