"""Where the answer goes: stdout, or a file that is written whole; and links in a terminal."""

import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from io import UnsupportedOperation
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.sandbox import command_line

if TYPE_CHECKING:
    from opcheck.app.options import Detail
    from opcheck.views.formats import Page


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


_LONGEST_TIME = 11
"""Digits of a time that has four digits of a year."""
WIDEST = 120
"""Longer lines are hard to read, however wide the terminal is."""
NARROWEST = 40


class Output:
    """A destination that is known to be writable before any work starts."""

    def __init__(self, path: Path | None) -> None:
        self._started = _now(os.environ)
        with _failing_as(Sentence("cannot write {text}", text=path)):
            self._path = None if path is None else _checked(path)
        if self._path is not None:
            command_line.current().will_write(self._path, _write_file)
        if path is None and sys.stdout is None:
            raise UsageError(
                Sentence("cannot write to stdout: it is closed"), Sentence("give a file with -o")
            )

    def page(self, detail: "Detail | None" = None) -> "Page":
        """What a format may use here: a file gets neither colour nor a terminal's width."""
        from msgspec.structs import replace

        from opcheck.app.options import Detail
        from opcheck.views.formats import Page
        from opcheck.views.terminal.notation import encodable

        detail = detail or Detail()
        page = Page(
            verbose=detail.verbose,
            quiet=detail.quiet,
            explain=detail.explain,
            top=detail.top,
            waived=detail.waived,
            started=self._started,
        )
        if self._path is not None:
            return page
        return replace(
            page,
            width=min(max(shutil.get_terminal_size().columns, NARROWEST), WIDEST),
            color=_wants_color(),
            ascii=not encodable(_encoding(sys.stdout)),
            locate=locate if takes_links(os.environ, sys.stdout.isatty()) else None,
        )

    def write(self, text: str) -> None:
        """Write it all; a reader that went away early has what it wanted."""
        if self._path is not None:
            with _failing_as(Sentence("cannot write {text}", text=self._path)):
                data = text.encode("utf-8", "backslashreplace")
                command_line.current().write(self._path, data, _write_file)
            return
        with _failing_as(Sentence("cannot write to stdout")):
            _write_stdout(text)


def _now(environment: Mapping[str, str]) -> str:
    """The time in UTC; what ``SOURCE_DATE_EPOCH`` says instead, for files that are to be alike."""
    told = environment.get("SOURCE_DATE_EPOCH", "")
    known = told.isdecimal() and len(told) <= _LONGEST_TIME
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(told) if known else None))


def _checked(path: Path) -> Path:
    hint = Sentence("-o takes the path of a file in a folder that exists and can be written to")
    if not path.name or path.is_dir():
        raise UsageError(
            Sentence("cannot write the report to {text}: it is a folder", text=repr(str(path))),
            hint,
        )
    path = path.resolve()
    if not path.parent.is_dir():
        raise UsageError(
            Sentence(
                "cannot write {text_file}: there is no folder {text}",
                text_file=path,
                text=path.parent,
            ),
            hint,
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(Sentence("cannot write {text}: permission denied", text=path), hint)
    return path


@contextmanager
def _failing_as(what: Sentence) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            Sentence("{said}: {text}", said=what, text=error.strerror or error)
        ) from error


def _write_file(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a device or a pipe: replacing it would not be writing to it
        return
    draft = path.with_name(f".opcheck-{os.getpid()}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(data)
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _write_stdout(text: str) -> None:
    out = sys.stdout
    try:
        encoding = _encoding(out)
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        out.flush()
    except BrokenPipeError:
        # what is still buffered goes nowhere, so that the interpreter ends without complaint
        with suppress(AttributeError, UnsupportedOperation):  # what stands in for it is no file
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def _encoding(out: TextIO) -> str:
    """What a stream can hold: any text where it has no encoding, as ``io.StringIO`` has none."""
    return getattr(out, "encoding", None) or "utf-8"


def _wants_color() -> bool:
    """NO_COLOR and dumb terminals are respected; a pipe gets colour only by FORCE_COLOR."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))
