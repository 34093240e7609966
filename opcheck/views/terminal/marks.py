"""The signs and colours of a page, and whether an encoding has the signs."""

from msgspec import Struct

from opcheck.model.verdict import Verdict


class Marks(Struct, frozen=True):
    """The signs that are not letters."""

    good: str
    bad: str
    open: str
    part: str
    bar: tuple[str, str, str]
    """On the device, on the host, nowhere."""
    dot: str
    times: str
    arrow: str
    dash: str
    ellipsis: str


UNICODE = Marks("✔", "✘", "?", "◐", ("█", "▒", "░"), "·", "×", "→", "—", "…")
ASCII = Marks("+", "x", "?", "~", ("#", "=", "."), "-", "x", "->", "-", "...")

STYLES = {
    Verdict.NATIVE: "green",
    Verdict.DECOMPOSED: "green",
    Verdict.FALLBACK: "yellow",
    Verdict.UNSUPPORTED: "red",
    Verdict.UNKNOWN: "magenta",
}
"""One colour a verdict, everywhere."""


def encodable(encoding: str) -> bool:
    """Whether every sign of the page can be written in ``encoding``."""
    signs = [sign for name in UNICODE.__struct_fields__ for sign in getattr(UNICODE, name)]
    try:
        "".join(signs).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
