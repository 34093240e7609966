"""Text made safe to show, and figures as sentences have them."""

from opcheck.lang.sentence import Sentence


def printable(text: str, kept: str = "\n\t") -> str:
    """The text with control, direction and other invisible characters spelled out.

    A terminal obeys them, and reads what follows otherwise than it stands; ``kept`` stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else repr(c)[1:-1] for c in text)


def is_text(name: str) -> bool:
    """Whether it is text at all: a name of a file may have bytes that are no UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


_TIMES = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))
_UNITS = ("", "K", "M", "G", "T", "P", "E")


def operations(count: float) -> str:
    """``8.18 GFLOP``."""
    return f"{_scaled(count)}FLOP"


def rate(each_second: float, of: str = "FLOP") -> str:
    """``312 TFLOP/s``; of integers ``624 TOP/s``."""
    return f"{_scaled(each_second)}{of}/s"


def number(count: float) -> str:
    """``27.1 M``."""
    return _scaled(count).strip()


def size(nbytes: float) -> str:
    """Bytes in decimal units, as chips are sold by: ``80 GB``."""
    return f"{_scaled(nbytes)}B"


def duration(seconds: float) -> str:
    """``1.2 ms``."""
    units = ((unit, each) for unit, each in _TIMES if seconds >= each * 0.9995)
    unit, each = next(units, _TIMES[-1])
    value = seconds / each
    return f"{value:.3g} {unit}" if value >= 0.0995 else f"under 0.1 {unit}"


def percent(share: float) -> str:
    """``17%``; ``0.4%`` or ``<0.1%`` where it is little."""
    figure = share * 100
    if figure and figure < 0.05:
        return "<0.1%"
    return f"{figure:.0f}%" if figure >= 9.95 else f"{figure:.1f}%"


def plural(count: int, noun: str) -> Sentence:
    """``1 call``, ``1,200 calls``."""
    several = "" if count == 1 else "s"
    return Sentence(f"{{count}} {noun}{several}", count=f"{count:,}")


def _scaled(value: float) -> str:
    unit = 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.3g} {_UNITS[unit]}"
