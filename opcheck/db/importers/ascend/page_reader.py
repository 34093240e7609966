"""Reads the pages of Ascend's kernels: on which chips each runs, and which dtypes it takes.

``python -m opcheck.db.importers.ascend.page_reader SOURCE GIT-DIR`` holds ``ascend_pages.yaml``
against the pages of one of its sources (``ops-nn``), in a clone of its repository at the commit
that the file names, and tells what differs.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from opcheck.db.importers.base import load_yaml

_FACTS = Path(__file__).with_name("ascend_pages.yaml")
CHIPS: Mapping[str, str] = {
    "Ascend 950PR/Ascend 950DT": "950",
    "Atlas A3 训练系列产品/Atlas A3 推理系列产品": "910c",
    "Atlas A2 训练系列产品/Atlas A2 推理系列产品": "910b",
    "Atlas A2 训练系列产品/Atlas 800I A2 推理产品/A200I A2 Box 异构组件": "910b",
    "Atlas A2 训练系列产品/Atlas 800I A2 推理产品": "910b",
    "Atlas 200I/500 A2 推理产品": "310b",
    "Atlas 推理系列产品": "310p",
    "Atlas 训练系列产品": "910a",
}
"""What a page calls a product -> the chip of the database; the A2 has older names besides."""
_FAMILIES = {
    "Ascend 950": "950", "Atlas A3": "910c", "Atlas A2": "910b", "Atlas 200I/500 A2": "310b",
    "Atlas 推理": "310p", "Atlas 训练": "910a",
}  # fmt: skip
"""How a product's name begins, as remarks write it -> the chip."""
_DTYPES: Mapping[str, str] = {
    "FLOAT": "fp32", "FLOAT32": "fp32", "FLOAT16": "fp16", "BFLOAT16": "bf16", "DOUBLE": "fp64",
    "FLOAT64": "fp64", "INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64",
    "UINT8": "uint8", "UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64", "BOOL": "bool",
    "COMPLEX32": "complex32", "COMPLEX64": "complex64", "COMPLEX128": "complex128",
    "FLOAT8_E5M2": "float8_e5m2", "FLOAT8_E4M3FN": "float8_e4m3fn",
    "FLOAT8_E8M0": "float8_e8m0fnu",
}  # fmt: skip
"""ACL's names -> the facts file's; types that PyTorch does not have are left out."""
_PRODUCT = re.compile(r"\s*[-*|]?\s*<term>(.*?)</term>\s*(?:：|:|\|)\s*(支持|不支持|√|×)")
_SECTION = re.compile(r"##\s+(aclnn\w+)GetWorkspaceSize")
_BULLET = re.compile(r"\s*[-*] (\w+)\s*[（(]aclTensor\s*\\?\*.*?(?:数据类型支持)([^，。；;]*)")
_NO_TAG = re.compile(r"<(?!/?(?:table|thead|tbody|tr|th|td)\b)")
"""Of a formula, say: it would swallow what follows."""
_NAME = re.compile(r"\w+")
_WORD = re.compile(r"[A-Z][A-Z0-9_]*")
_ARGUMENT, _DTYPE = "参数名", "数据类型"
_PROTOTYPE = re.compile(r"aclnnStatus\s+(aclnn\w+)GetWorkspaceSize\s*\(([^()]*)\)")
_TAG = re.compile(r"</?[a-zA-Z][^>]*>|</?\w+ ")
_TERM = re.compile(r"<term>(.*?)</term>")
_UNLESS_EMPTY = re.compile(r"[（(]非空时?[）)]")
_ITEM = re.compile(r"\s*(?:<\w+>)*\s*(?:[-*+]|\d+[.、])\s")
_CODE = re.compile(r"(?<!\d)(161\d{3}|561\d{3}|361\d{3})(?!\d)")
_REFUSED = "161002"
"""ACLNN_ERR_PARAM_INVALID: the kernel checks, and refuses."""
_ID = r"[A-Za-z]\w*"
_WHO = rf"(?P<who>`?{_ID}`?(?:\s*(?:、|，|,|/|和|或|与|及|以及|或者)\s*`?{_ID}`?)*)"
_ALL = r"(?P<all>输入(?:[和或、与]输出)?)"
_OUT_OF_RANGE = re.compile(
    rf"(?:^|[\s：:.、])(?:传入的?|参数|入参)*\s*(?:{_WHO}|{_ALL})\s*的?，?\s*"
    r"(?:数据格式[和或、/与])?数据类型(?:\s*(?:和|或|或者|、|/|及|与)\s*(?:数据)?(?:格式|维度|shape))*"
    r"\s*不在支持的?范围",
    re.ASCII,
)
_TOO_MANY = re.compile(
    rf"(?:^|[\s：:.、])(?:传入的?|参数|入参)*\s*{_WHO}\s*的?\s*(?:shape|数据)?的?(?:维度|维数)数?"
    r"\s*(?:大于|超过了?)\s*(?P<most>\d+)\s*维?\s*[。；;]?\s*$",
    re.ASCII,
)
_LIST = r"(?P<list>[A-Z][A-Z0-9_]*(?:\s*(?:、|，|,|/|和|或)\s*[A-Z][A-Z0-9_]*)*)"
_TAKEN = re.compile(
    rf"[：:]?\s*(?:(?:参数|入参)?\s*{_WHO}\s*的?\s*)?(?:数据类型)?(?P<verb>不支持|仅支持|只支持|支持)\s*"
    rf"{_LIST}(?:数据类型)?\s*[。；;]?\s*",
    re.ASCII,
)
_ONLY_DTYPES = re.compile(r"[A-Z0-9_、，,/\s()（）-]*。?\s*")


class Row(Struct, frozen=True):
    """What a page says of one tensor argument."""

    line: int
    """Where its dtypes stand; 1-based."""
    dtypes: tuple[str, ...]


class Taken(Struct, frozen=True):
    """What a remark says of the dtypes of one argument on one chip."""

    argument: str
    """``*``: all of them."""
    dtypes: tuple[str, ...]
    denied: bool
    """Whether these are not taken, rather than these alone."""


class Kernel(Struct):
    """What the section of one kernel says beside its rows."""

    parameters: tuple[str, ...] = ()
    """Of its prototype, in order, those that are no tensors as ``""``; without the workspace."""
    closed: set[str] = field(default_factory=set)
    """Arguments whose dtypes are a bare list, with nothing that widens it."""
    refuses: dict[str, int] = field(default_factory=dict)
    """Arguments, or ``*``, whose other dtypes a return code stands for -> the line."""
    most: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Arguments that are refused with more dimensions -> the number, and the line."""
    taken: dict[str, list[Taken]] = field(default_factory=dict)
    """Chip -> remarks on its dtypes that were understood."""
    apart: dict[str, set[str]] = field(default_factory=dict)
    """Chip -> dtypes in other remarks on it: of these the rows do not tell."""


class Page(Struct):
    """What was read of one page; chips and arguments by name."""

    runs: dict[str, int] = field(default_factory=dict)
    """Chip -> the line that says so."""
    runs_not: dict[str, int] = field(default_factory=dict)
    arguments: dict[str, dict[str, Row]] = field(default_factory=dict)
    """Kernel -> argument -> its row; a remark below a table may take chips apart."""
    kernels: dict[str, Kernel] = field(default_factory=dict)


def read_page(text: str) -> Page:
    """Read a page, whose kernels have a section each."""
    page, lines = Page(), text.splitlines()
    for number, line in enumerate(lines, 1):
        if (match := _PRODUCT.match(line)) and match[1].strip() in CHIPS:
            found = page.runs if match[2] in ("支持", "√") else page.runs_not
            found.setdefault(CHIPS[match[1].strip()], number)
        elif line.startswith("## 功能"):
            break
    sections = [(n, m[1]) for n, line in enumerate(lines, 1) if (m := _SECTION.match(line))]
    for line_number, name, row in (*_of_tables(text), *_of_bullets(lines)):
        kernel = next((kernel for at, kernel in reversed(sections) if at < line_number), "")
        if kernel and row.dtypes:
            page.arguments.setdefault(kernel, {}).setdefault(name, row)
    prototypes = {m[1]: tuple(_parameters(m[2])) for m in _PROTOTYPE.finditer(text)}
    common = _between(lines, "## 约束", "## 调用")
    for at, name in sections:
        kernel = page.kernels.setdefault(name, Kernel(prototypes.get(name, ())))
        _read_section(kernel, [*enumerate(lines, 1)][at : _end(lines, at)])
        _read_remarks(kernel, common)
        rows = page.arguments.get(name, {})
        kernel.closed = {argument for argument, row in rows.items() if _is_closed(lines, row)}
    return page


def _parameters(text: str) -> Iterator[str]:
    """The parameters of a prototype."""
    for part in re.sub(r"//[^\n]*|/\*.*?\*/", "", text).split(","):
        words = re.findall(r"\w+", part)
        if words and words[-1] not in ("workspaceSize", "executor"):
            yield words[-1] if "aclTensor" in words else ""


def _end(lines: Sequence[str], at: int) -> int:
    """Where the section that begins before a line ends."""
    later = (n for n in range(at, len(lines)) if lines[n].startswith("## "))
    return next(later, len(lines))


def _between(lines: Sequence[str], first: str, last: str) -> list[tuple[int, str]]:
    start = next((n for n, line in enumerate(lines) if line.startswith(first)), len(lines))
    end = next((n for n in range(start, len(lines)) if lines[n].startswith(last)), len(lines))
    return [*enumerate(lines, 1)][start:end]


def _read_section(kernel: Kernel, lines: Sequence[tuple[int, str]]) -> None:
    """What the return codes of a section refuse; what is before them are remarks."""
    code, before = "", []
    for number, line in lines:
        codes = _CODE.findall(line)
        text = _UNLESS_EMPTY.sub("", _TAG.sub(" ", line))
        for word in codes[:1]:
            code, text = word, text.partition(word)[2]
        if not code:
            before.append((number, line))
        elif code == _REFUSED:
            for match in _OUT_OF_RANGE.finditer(text):
                names = _names(match["who"]) or ["*"]
                for name in names:
                    kernel.refuses.setdefault(name, number)
            for match in _TOO_MANY.finditer(text):
                for name in _names(match["who"]):
                    kernel.most.setdefault(name, (int(match["most"]), number))
        code = codes[-1] if codes else code
    _read_remarks(kernel, before)


def _read_remarks(kernel: Kernel, lines: Sequence[tuple[int, str]]) -> None:
    """What lines that name products say of dtypes, and those that belong to such a line."""
    chips, depth, cell = frozenset[str](), 0, False
    for _, line in lines:
        indent = len(line) - len(line.lstrip())
        terms = _TERM.findall(line)
        if terms:
            chips, depth = frozenset(c for term in terms for c in _chips(term)), indent
            cell = "<td" in line or (cell and "</td" not in line)
            _read_remark(kernel, chips, line.rpartition("</term>")[2], line)
        elif chips and (cell or indent > depth or not line.strip()):
            _read_remark(kernel, chips, _ITEM.sub("", line, count=1), line)
        else:
            chips = frozenset()
        if "</td" in line and "<td" not in line.rpartition("</td")[2]:
            cell = False


def _names(who: str | None) -> list[str]:
    return re.findall(_ID, who or "", re.ASCII)


def _chips(term: str) -> Sequence[str]:
    """The chips of a product's name; all of them where it is none of those that are known."""
    name = term.strip()
    found = [chip for family, chip in _FAMILIES.items() if name.startswith(family)]
    return found or tuple(CHIPS.values())


def _read_remark(kernel: Kernel, chips: frozenset[str], text: str, line: str) -> None:
    words = dtypes(line)
    if not words:
        return
    match = _TAKEN.fullmatch(_TAG.sub(" ", text).strip())
    # what a chip "supports" may come on top of the row
    understood = match and (match["verb"] == "不支持" or (match["who"] and match["verb"] != "支持"))
    for chip in chips:
        if match and understood:
            names = _names(match["who"]) or ["*"]
            denied = match["verb"] == "不支持"
            found = [Taken(name, dtypes(match["list"]), denied) for name in names]
            kernel.taken.setdefault(chip, []).extend(found)
        else:
            kernel.apart.setdefault(chip, set()).update(words)


def _is_closed(lines: Sequence[str], row: Row) -> bool:
    """Whether the dtypes of a row are a bare list: in a cell of one line, or up to a stop."""
    line = lines[row.line - 1]
    if match := _BULLET.match(line):
        return bool(_ONLY_DTYPES.fullmatch(match[2])) and "<term>" not in line
    return bool(_ONLY_DTYPES.fullmatch(_TAG.sub(" ", line)))


def dtypes(text: str) -> tuple[str, ...]:
    """The dtypes that a text of a page names, sorted."""
    return tuple(sorted({_DTYPES[word] for word in _WORD.findall(text) if word in _DTYPES}))


def _of_tables(text: str) -> Iterator[tuple[int, str, Row]]:
    """Line of the table, argument and row, for every table of arguments."""
    reader = _Tables()
    reader.feed(_NO_TAG.sub(" ", text))
    for at, rows in reader.tables:
        head = [cell for cell, _ in rows[0]] if rows else []
        place = next((i for i, cell in enumerate(head) if _DTYPE in cell), None)
        if place is None or _ARGUMENT not in head[0]:
            continue
        for row in rows[1:]:
            if len(row) > place and (name := _NAME.match(row[0][0])):
                yield at, name[0], Row(row[place][1], dtypes(row[place][0]))


def _of_bullets(lines: Sequence[str]) -> Iterator[tuple[int, str, Row]]:
    """The same of a list, which older pages have."""
    for number, line in enumerate(lines, 1):
        if match := _BULLET.match(line):
            yield number, match[1], Row(number, dtypes(match[2]))


class _Tables(HTMLParser):
    """The tables of a page: the line where each begins, and the cells of its rows with theirs."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[tuple[int, list[list[tuple[str, int]]]]] = []
        self._row: list[tuple[str, int]] | None = None
        self._cell: list[str] | None = None
        self._line = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append((self.getpos()[0], []))
        elif tag == "tr" and self.tables:
            self._row = []
            self.tables[-1][1].append(self._row)
        elif tag in ("td", "th") and self._row is not None:
            self._cell, self._line = [], self.getpos()[0]

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None and self._row is not None:
            self._row.append(("".join(self._cell).strip(), self._line))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)


def differences(source: str, folder: str) -> Iterator[str]:
    """What the facts file says otherwise than the pages of one of its sources."""
    facts = load_yaml(_FACTS)
    commit = facts["sources"][source]["commit"]
    for kernel, said in facts["kernels"].items():
        place, _, path = said["page"].partition(":")
        if place == source:
            command = ["git", "-C", folder, "show", f"{commit}:{path}"]
            text = subprocess.run(command, capture_output=True, check=True).stdout.decode()
            yield from (f"{kernel}: {what}" for what in _different(said, read_page(text), kernel))


def _different(said: Mapping[str, Any], page: Page, kernel: str) -> Iterator[str]:
    for key, found in (("runs", page.runs), ("runs_not", page.runs_not)):
        if said.get(key, {}) != found:
            yield f"{key} is {said.get(key, {})}, not {found}"
    rows = page.arguments.get(kernel, {})
    for name, row in said.get("arguments", {}).items():
        if not row["dtypes"]:
            continue
        if name not in rows:
            yield f"{name} has no row"
        elif tuple(sorted(row["dtypes"])) != rows[name].dtypes:
            yield f"{name} lists {', '.join(rows[name].dtypes)}"


if __name__ == "__main__":
    told = [*differences(*sys.argv[1:])]
    print("\n".join(told))
    sys.exit(1 if told else 0)
