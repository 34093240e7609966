"""The pictures of a terminal and of a page, drawn of what a command prints now."""

import io
import re

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from tests.console import ROOT, printed

PICTURE = ROOT / "docs" / "pictures" / "scan.svg"
PAGE = ROOT / "docs" / "pictures" / "report.svg"
COMMAND = "opcheck scan examples/rotary_attention.py:model -t ascend-910b --top 1"
OF_PAGE = (
    "opcheck scan examples/rotary_attention.py:model"
    " -t ascend-910b -t nvidia-h100 -t ascend-910a --format html"
)
_SECTIONS = ("verdict", "heat")
"""Of the page, those that need no script."""
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


_FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 740" data-theme="light">
<style><![CDATA[{style}]]></style>
<foreignObject width="1000" height="740">
<body xmlns="http://www.w3.org/1999/xhtml" style="min-height: 740px">
<main style="padding-top: 1.5rem">
{sections}</main></body>
</foreignObject>
</svg>
"""


def page_picture() -> str:
    """An SVG that holds the beginning of a report's page, with the page's own style."""
    page = printed(OF_PAGE, ROOT)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    sections = (
        re.findall(rf'<section id="{name}".*?</section>\n', page, re.DOTALL)[0]
        for name in _SECTIONS
    )
    bars = "".join(sections).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    return _FRAME.format(style=style, sections=bars)
