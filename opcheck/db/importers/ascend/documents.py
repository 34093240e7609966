"""Ascend's tables of native APIs, in three forms, and the dtypes and ranks that notes allow."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field

from opcheck.db.importers.ascend.chips import CHIPS

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


DTYPES = {
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "fp64": "float64",
    "double": "float64",
    "float": "float32",
    "uint8": "uint8",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "uint16": "uint16",
    "bool": "bool",
    "complex64": "complex64",
    "complex128": "complex128",
}
"""The documents' words -> torch's names."""
ON_HOST = "可能回退至CPU执行"
"""May fall back to the CPU."""

_WORD = "|".join(sorted(DTYPES, key=len, reverse=True))
_LIST = rf"(?:{_WORD})(?:\s*(?:，|、|,|和)\s*(?:{_WORD}))*"
_NAME = r"[A-Za-z_]\w*"
_NAMES = rf"(?:`?(?P<names>{_NAME}(?:`?、`?{_NAME})*)`?)?"
_ALLOWED = re.compile(
    rf"(?:Only support |{_NAMES}(?:仅|只)?支持)(?P<allowed>{_LIST})(?:数据类型)?"
    rf"(?:，不支持(?P<denied>{_LIST})(?:数据类型)?)?(?:[，。].*)?",
    re.ASCII,
)
_DENIED = re.compile(rf"{_NAMES}不支持(?P<denied>{_LIST})(?:数据类型)?", re.ASCII)
_CASE = re.compile(r"属性`?\w+`?[为非]\w+时，")
"""Which case a list is for; what one case allows is allowed."""
_EXTRA = re.compile(rf"(?P<chip>.+)额外支持(?P<allowed>{_LIST})")
_CHIP = re.compile(r"(?P<chips>[^：]+)：(?P<text>.+)")
_RANK_RANGE = re.compile(rf"(?:`?(?P<name>{_NAME})`?)?[仅只]?支持\d-(?P<high>\d)维.*", re.ASCII)
_RANK_MOST = re.compile(r"输入最大支持(?P<high>\d)维")
_ONLY_VALUE = re.compile(rf"当前`?(?P<name>{_NAME})`?参数仅支持(?P<value>True|False)", re.ASCII)
_DENIED_VALUE = re.compile(rf"不支持`?(?P<name>{_NAME})=(?P<value>True|False)`?场景", re.ASCII)
_RANK_BELOW = re.compile(r"不支持(?P<above>\d)维度及以上输入")


class DtypeNote(Struct, frozen=True):
    """A list of dtypes that an argument may have, or may not."""

    argument: str
    """As the document names it; ``input`` where it names none."""
    dtypes: frozenset[str]
    allowed: bool
    chips: frozenset[str]
    """Chips that the statement is about; empty: all that the table is about."""


class RankNote(Struct, frozen=True):
    """How many dimensions an argument may have."""

    argument: str
    """As the document names it; ``*`` for every input."""
    maximum: int


class ValueNote(Struct, frozen=True):
    """A truth value that an argument may not have."""

    argument: str
    denied: str
    """``True`` or ``False``."""


Note = DtypeNote | RankNote | ValueNote


def read_notes(statements: Iterable[str]) -> Iterator[Note]:
    """Every plain restriction in an API's statements."""
    for statement in statements:
        chips, text = _scope(statement)
        yield from _dtypes(text, chips)
        if not chips:
            yield from _rank(text)
            yield from _value(text)


def mentions_dtype(statement: str) -> bool:
    """Whether a statement has a dtype's name in it."""
    return re.search(rf"(?<![A-Za-z]){'(?:' + _WORD + ')'}(?![A-Za-z])", statement) is not None


def _scope(statement: str) -> tuple[frozenset[str], str]:
    """The chips that a statement begins with, and the rest of it."""
    statement = _CASE.sub("", statement, count=1)
    if extra := _EXTRA.fullmatch(statement):
        statement = f"{extra['chip']}：支持{extra['allowed']}"
    match = _CHIP.fullmatch(statement)
    if match is None:
        return frozenset(), statement
    named = {chip.document: chip_id for chip_id, chip in CHIPS.items()}
    words = [word.strip() for word in re.split(r"[/、]", match["chips"])]
    chips = frozenset(named[word] for word in words if word in named)
    return (chips, match["text"]) if chips else (frozenset(), statement)


def _dtypes(text: str, chips: frozenset[str]) -> Iterator[DtypeNote]:
    allowed, denied = _ALLOWED.fullmatch(text), _DENIED.fullmatch(text)
    match = allowed or denied
    if match is None:
        return
    for name in re.split(r"`?、`?", match["names"] or "input"):
        if allowed:
            yield DtypeNote(name, _parse(allowed["allowed"]), True, chips)
        if match["denied"]:
            yield DtypeNote(name, _parse(match["denied"]), False, chips)


def _parse(words: str) -> frozenset[str]:
    return frozenset(DTYPES[word] for word in re.findall(_WORD, words))


def _rank(text: str) -> Iterator[RankNote]:
    if match := _RANK_RANGE.fullmatch(text):
        yield RankNote(match["name"] or "input", int(match["high"]))
    elif match := _RANK_MOST.fullmatch(text):
        yield RankNote("*", int(match["high"]))
    elif match := _RANK_BELOW.fullmatch(text):
        yield RankNote("*", int(match["above"]) - 1)


def _value(text: str) -> Iterator[ValueNote]:
    if match := _ONLY_VALUE.fullmatch(text):
        yield ValueNote(match["name"], "False" if match["value"] == "True" else "True")
    elif match := _DENIED_VALUE.fullmatch(text):
        yield ValueNote(match["name"], match["value"])
