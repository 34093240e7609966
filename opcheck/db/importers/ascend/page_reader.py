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
    "Atlas 200I/500 A2 推理产品": "310b",
    "Atlas 推理系列产品": "310p",
    "Atlas 训练系列产品": "910a",
}
"""What a page calls a product -> the chip of the database."""
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


class Row(Struct, frozen=True):
    """What a page says of one tensor argument."""

    line: int
    """Where its dtypes stand; 1-based."""
    dtypes: tuple[str, ...]


class Page(Struct):
    """What was read of one page; chips and arguments by name."""

    runs: dict[str, int] = field(default_factory=dict)
    """Chip -> the line that says so."""
    runs_not: dict[str, int] = field(default_factory=dict)
    arguments: dict[str, dict[str, Row]] = field(default_factory=dict)
    """Kernel -> argument -> its row; a remark below a table may take chips apart."""


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
    return page


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
