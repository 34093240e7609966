"""Ascend's tables of native APIs, in their three forms: what each says of one Python API.

26.1.0: a heading for each API, a small table chip -> mark, then notes; methods of a class follow
inside it. 26.0.0: one table row an API. 7.2.0 and before: one file of rows for torch 2.1.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field

from opcheck.db.importers.ascend_chips import CHIPS

_HEADING = re.compile(r"^#{2,4} (?:<code><i>class</i></code> )?(?P<name>torch\.[\w.]+)$")
_METHOD = re.compile(r'^> <font size="3">(?P<name>\w+)(?:\(\))?</font>$')
_MARK = re.compile(r"^\| (?P<chip>[^|]+?) \| (?P<mark>✔|✘|&#10004;|&#10008;) \|$")
_NOTES = re.compile(r"^(?:\*\*限制与说明\*\*：)?(?P<text>.*)$")
_ROW = re.compile(r"^\|(?P<name>(?:torch|Tensor)\.[\w.]+)\|(?P<mark>[^|]*)\|(?P<notes>[^|]*)\|$")
_TERM = re.compile(r"</?term>")
_BOILERPLATE = ("**支持情况**", "| 硬件", "| ----", "<div", "</div>", ">", "#")


class Api(Struct, frozen=True):
    """What one table says of one Python API."""

    name: str
    """``torch.abs``, ``torch.Tensor.abs``, ``torch.nn.functional.gelu``, ``torch.nn.GELU``."""
    file: str
    line: int
    notes: tuple[str, ...]
    """Restrictions, one statement each, chip terms without their markup."""
    marks: Mapping[str, bool] = field(default_factory=dict)
    """Chip id -> whether the API runs there; empty where the table has no such column."""


def read_headings(folder: Path) -> Iterator[Api]:
    """Read a folder of the 26.1.0 form."""
    for path in sorted(folder.glob("*.md")):
        owner = ""
        for name, line, body in _blocks(path):
            owner = owner if name.startswith(".") else name
            full = owner + name if name.startswith(".") else name
            yield Api(full, path.name, line, tuple(_statements(body)), dict(_marks(body)))


def read_rows(folder: Path) -> Iterator[Api]:
    """Read a folder of the 26.0.0 form, whose marks speak of no chip in particular."""
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for line, row in enumerate(text.splitlines(), 1):
            if match := _ROW.fullmatch(row.strip()):
                notes = (
                    match["notes"].replace("-", "", 1) if match["notes"] == "-" else match["notes"]
                )
                yield Api(
                    _full(match["name"]), path.name, line, tuple(_statements(notes.split("<br>")))
                )


def read_tsv(path: Path) -> Iterator[Api]:
    """Read the file of rows for torch 2.1."""
    for line, row in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        section, name, _, _, notes = (*row.split("\t"), "", "", "", "")[:5]
        if line > 1 and section:
            yield Api(_full(name), path.name, line, tuple(_statements([notes])))


def _full(name: str) -> str:
    return f"torch.{name}" if name.startswith("Tensor.") else name


def _blocks(path: Path) -> Iterator[tuple[str, int, list[str]]]:
    """Name, line and text of every API; a method's name starts with a dot."""
    name, start, body = "", 0, list[str]()
    for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        heading, method = _HEADING.match(text), _METHOD.match(text)
        if heading or method or text.startswith("#"):
            if name:
                yield name, start, body
            name = heading["name"] if heading else f".{method['name']}" if method else ""
            start, body = line, []
        else:
            body.append(text)
    if name:
        yield name, start, body


def _marks(body: Iterable[str]) -> Iterator[tuple[str, bool]]:
    named = {chip.document: chip_id for chip_id, chip in CHIPS.items()}
    for text in body:
        if match := _MARK.match(text):
            chip = named.get(_TERM.sub("", match["chip"]))
            if chip:
                yield chip, match["mark"] in ("✔", "&#10004;")


def _statements(body: Iterable[str]) -> Iterator[str]:
    """Restrictions without list markers, one at a time."""
    for text in body:
        if text.startswith(_BOILERPLATE) or _MARK.match(text):
            continue
        match = _NOTES.match(_TERM.sub("", text).strip())
        bare = match["text"].lstrip("- ").strip() if match else ""
        # one table glues the remark to the list before it
        for part in bare.replace("可能回退至CPU执行", "\n可能回退至CPU执行").split("\n"):
            if part.strip():
                yield part.strip()
