"""The signs and colours of a page, and whether an encoding has the signs."""

from dataclasses import astuple, dataclass

from opcheck.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Marks:
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
    signs = [sign for field in astuple(UNICODE) for sign in field]
    try:
        "".join(signs).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
