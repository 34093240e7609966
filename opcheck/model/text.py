"""Text from files that anyone may have written, made safe to show."""


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
