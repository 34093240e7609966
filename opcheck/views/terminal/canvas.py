"""Lines on a page: flowed, aligned and coloured; nothing is ever cut inside a word."""

import io
import itertools
import re
import string
from collections.abc import Collection, Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from opcheck.lang.speech import tell, wording
from opcheck.model.text import printable
from opcheck.views.formats import Page
from opcheck.views.terminal.notation import ASCII, UNICODE
from opcheck.views.terminal.wide import closes, pieces, spaced

_LONGEST = 4096
"""Characters of a piece of text: as long as a path may be."""

Atom = tuple[str, str]
"""A piece of text that is never broken over two lines, and its rich style."""
PLACE = "place"
"""In a style: the text names lines of the user's code, as ``FILE:LINE``."""
_CODE = re.compile(r"(?P<file>[^\s,:]+):(?P<line>\d{1,9})(?=[\s,:]|$)")
_LINK = "link="
_OPEN = "\x1b]8;;{}\x1b\\"
"""Begins what terminals take for a link, OSC 8; without an address, ends it. rich would number its
links at random, and leave them out on a page without colour."""


def linked(style: str, address: str) -> str:
    """The style of a text that leads to an address of the web, if there is one."""
    return f"{style} {_LINK}{address}" if address else style


def split(text: str, style: str = "") -> list[Atom]:
    """A sentence, told in the reader's language, as atoms; any run of white space is one space."""
    return [(word, style) for word in tell(text).split()]


def phrase(template: str, style: str = "", **atoms: Sequence[Atom]) -> list[Atom]:
    """A sentence with places for styled atoms, in the order that the reader's language has.

    What is written without a space beside a place is part of the atom there.
    """
    found: list[Atom] = []
    glued = ""
    for literal, name, _, _ in string.Formatter().parse(wording(template)):
        words = split_translated(f"{glued}{literal}", style)
        if found and words and literal[:1] not in ("", " "):
            found[-1] = (f"{found[-1][0]}{words[0][0]}", found[-1][1])
            del words[0]
        glued = words.pop()[0] if words and name and literal[-1:] != " " else ""
        found += words
        if name and atoms[name]:
            (first, look), *rest = atoms[name]
            found += [(f"{glued}{first}", look), *rest]
            glued = ""
    return found


def split_translated(text: str, style: str = "") -> list[Atom]:
    """The same as :func:`split` for a text that is in the reader's language already."""
    return [(word, style) for word in text.split()]


def joined(atoms: Iterable[Atom]) -> str:
    """The text of atoms in a row, as a line of them reads."""
    return "".join(f"{' ' * space}{text}" for text, _, space in _unbroken(atoms)).lstrip()


def listed(names: Iterable[str], style: str = "", end: str = "") -> list[Atom]:
    """Names with commas between them and ``end`` behind the last."""
    parts = list(names)
    return [(f"{part}{end if i == len(parts) else ','}", style) for i, part in enumerate(parts, 1)]


class Canvas:
    """Collects lines top down; the only place that knows rich."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.marks = ASCII if page.ascii else UNICODE
        self._buffer = io.StringIO()
        self._console = _console(self._buffer, page)

    def blank(self) -> None:
        """An empty line."""
        self._buffer.write("\n")

    def flow(self, atoms: Iterable[Atom], indent: int = 0, lead: Sequence[Atom] = ()) -> None:
        """Atoms with spaces between them, wrapped; ``lead`` stands in the first line's indent.

        An atom wider than the page gets a line of its own and runs over.
        """
        line = [*map(_printable, lead)]
        line.append((" " * (indent - _width(line)), ""))
        empty = True
        for text, style, space in _unbroken(map(_printable, atoms)):
            full = _width(line) + space + cell_len(text) > self.page.width
            if full and not empty and not closes(text):
                self._print(line)
                line, empty = [(" " * indent, "")], True
            if space and not empty:
                line.append((" ", style if line[-1][1] == style else ""))
            line.append((text, style))
            empty = False
        self._print(line)

    def field(self, label: str, atoms: Iterable[Atom], indent: int) -> None:
        """A labelled paragraph; the label is dim and ``LABEL`` columns wide."""
        self.flow(atoms, indent + LABEL, [(" " * indent, ""), (tell(label, LABEL_CONTEXT), "dim")])

    def table(
        self, rows: Sequence[Sequence[Atom]], indent: int = 2, left: Collection[int] = (0,)
    ) -> None:
        """Cells in columns as wide as they need, the columns in ``left`` flush left."""
        widths = _widths(rows)
        for row in rows:
            line = [(" " * indent, "")]
            for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
                text, style = _printable(cell)
                room = (" " * (width - cell_len(text)), "")
                line += [(text, style), room] if i in left else [room, (text, style)]
                line.append(("  ", ""))
            self._print(line)

    def has_room(self, rows: Sequence[Sequence[Atom]], indent: int) -> bool:
        """Whether the page is wide enough for these cells as a table."""
        widths = _widths(rows)
        return indent + sum(widths) + 2 * (len(widths) - 1) <= self.page.width

    def text(self) -> str:
        """Everything so far."""
        return self._buffer.getvalue()

    def _print(self, line: Sequence[Atom]) -> None:
        runs = [
            ("".join(text for text, _ in run), style)
            for style, run in itertools.groupby(line, key=lambda atom: atom[1])
        ]
        text = Text.assemble(*map(self._linked, runs))
        text.rstrip()
        at = len(text.plain) - len(text.plain.lstrip())
        if text.plain.startswith("::", at):  # a CI service would take the line for a command
            text = Text.assemble(text[:at], r"\x3a", text[at + 1 :])
        self._console.print(text, soft_wrap=True)

    def _linked(self, run: Atom) -> Atom:
        """The run as rich takes it: its links written out where the page may have them."""
        text, style = run
        if PLACE not in style and _LINK not in style:
            return run
        words = style.split()
        plain = " ".join(word for word in words if word != PLACE and not word.startswith(_LINK))
        locate = self.page.locate
        if locate is None:
            return text, plain
        if PLACE in words:
            return _CODE.sub(
                lambda at: _leading(at[0], locate(at["file"], int(at["line"]))), text
            ), plain
        address = next(word for word in words if word.startswith(_LINK)).removeprefix(_LINK)
        return _leading(text, address), plain


def _leading(text: str, address: str) -> str:
    return f"{_OPEN.format(address)}{text}{_OPEN.format('')}" if address else text


LABEL = 10
"""Columns that a field's label takes."""
LABEL_CONTEXT, COLUMN_CONTEXT = "label", "column"
"""Where a catalogue has another word than for the same word in a sentence."""


def _unbroken(atoms: Iterable[Atom]) -> Iterator[tuple[str, str, bool]]:
    """What stays on one line, its style, and whether a space stands before it."""
    before = ""
    for text, style in atoms:
        space = spaced(before, text)
        for piece in pieces(text) or [text]:
            yield piece, style, space
            space = False
        before = text


def _width(line: Iterable[Atom]) -> int:
    return sum(cell_len(text) for text, _ in line)


def _widths(rows: Sequence[Sequence[Atom]]) -> list[int]:
    columns = zip(*rows, strict=True)
    return [max(cell_len(_printable(cell)[0]) for cell in column) for column in columns]


def _console(buffer: io.StringIO, page: Page) -> Console:
    """A console that is told everything, so that it asks the environment nothing."""
    return Console(
        file=buffer,
        width=page.width,
        height=25,
        color_system="standard" if page.color else None,
        force_terminal=page.color,
        force_jupyter=False,
        force_interactive=False,
        no_color=not page.color,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        _environ={},
    )


def _printable(atom: Atom) -> Atom:
    """The atom with control characters spelled out, and cut where no sentence is as long.

    Names and texts come from files that anyone wrote.
    """
    text, style = atom
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    return printable(text, kept=""), style
