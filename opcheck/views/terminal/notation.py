"""The signs and colours of a page, and figures in the form people read them in."""

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.model.verdict import Evidence, Verdict


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


def percent(rate: float) -> str:
    """``0.9996`` as ``99.9%``: only all is 100%."""
    return "100%" if rate == 1 else f"{min(rate * 100, 99.9):.1f}%"


def size(count: int) -> str:
    """Bytes in binary units: ``12.5 MiB``."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1023.95:
            return f"{value:.1f} {unit}"
    return f"{value:.1f} TiB"


def plural(count: int, noun: str) -> Sentence:
    """``1 call``, ``1,200 calls``."""
    several = "" if count == 1 else "s"
    return Sentence(f"{{count}} {noun}{several}", count=f"{count:,}")


def source(evidence: Evidence, verbose: bool) -> str:
    """Where a fact was seen: ``Ascend/op-plugin@cd46cfb op_plugin_functions.yaml:123``."""
    commit = evidence.commit if verbose else evidence.commit[:7]
    path = evidence.path if verbose else evidence.path.rpartition("/")[2]
    line = "" if evidence.line is None else f":{evidence.line}"
    at = f"@{commit}" if commit else ""
    origin = f" ({evidence.origin})" if evidence.origin else ""
    return f"{evidence.source}{at}{f' {path}{line}' if path else ''}{origin}"
