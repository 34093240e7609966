"""Whether a terminal takes hyperlinks, and where lines of code are on this machine."""

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

KNOWN_PROGRAMS = frozenset(
    {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "WarpTerminal", "mintty"}
)
"""``TERM_PROGRAM`` of terminals that show OSC 8 links."""
KNOWN_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "contour", "wezterm")
"""How ``TERM`` begins in others."""
OWN_VARIABLES = (
    "WT_SESSION",
    "KITTY_WINDOW_ID",
    "KONSOLE_VERSION",
    "DOMTERM",
    "ALACRITTY_WINDOW_ID",
)
"""Set by others alone."""
FIRST_VTE = 5000
"""``VTE_VERSION`` of the first GNOME terminals that show them, 0.50."""


def takes_links(environment: Mapping[str, str], is_terminal: bool) -> bool:
    """Whether hyperlinks may be written: where they are forced, or known to be shown.

    ``FORCE_HYPERLINK`` is ``0`` for never; any other value is for always.
    """
    forced = environment.get("FORCE_HYPERLINK", "")
    if forced:
        return forced != "0"
    plain = environment.get("NO_COLOR") or environment.get("CI")
    if not is_terminal or plain or environment.get("TERM") == "dumb":
        return False
    vte = environment.get("VTE_VERSION", "")
    return (
        environment.get("TERM_PROGRAM") in KNOWN_PROGRAMS
        or environment.get("TERM", "").startswith(KNOWN_TERMS)
        or any(environment.get(name) for name in OWN_VARIABLES)
        or (vte.isdecimal() and int(vte) >= FIRST_VTE)
    )


def locate(file: str, line: int) -> str:
    """The address of a line of code; "" where the file is not on this machine."""
    path = _path(file)
    return "" if path is None else f"{path.as_uri()}#{line}"


@cache
def _path(file: str) -> Path | None:
    """A file as reports name it: from the working directory, or from where packages are."""
    for folder in ("", *sys.path):
        path = Path(folder or os.curdir, file)
        if os.path.isfile(path):  # false as well of a name that no file can have
            return path.resolve()
    return None
