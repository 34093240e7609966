"""Ascend: uses that the aclnn kernels of an overload refuse, by their own pages and code.

A dtype is denied where every kernel that the overload may call on the chip leaves it out: the row
in its page, the page's remarks on the chip, and each list of dtypes in its code. Where the page's
table of return codes says that others are refused, or the code checks the argument's dtype, the
kernel itself denies the use, whatever other documents list; else one document stands against a
registration. Of a release that is older than a CANN, what the kernels of that one deny themselves
is stated as well, as concluded from it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from opcheck.db.importers.ascend.chips import Socs, known
from opcheck.db.importers.ascend.pages import grouped, left_out
from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.shared.operator_list import Function
from opcheck.db.schema.tables import DTYPES

_FOLDER = Path(__file__).with_name("kernels")
_PATH = "op_api"
_ASKED = (
    "bf16", "fp16", "fp32", "fp64", "uint8", "int8", "int16", "int32", "int64", "bool",
    "uint16", "uint32", "uint64", "complex64", "complex128",
)  # fmt: skip
"""The dtypes that models have; of rarer ones nothing is said here."""
_MOST = "most"
_KEYS = ("ops", "arguments", "chips")
Key = tuple[str, str, str]
"""Overload, argument, chip."""
Line = dict[str, Any]
Listed = Callable[[str, str, str], frozenset[str]]
"""Overload, argument, chip -> dtypes, as torch names them, that another document lists."""


@cache
def read_facts(release: str) -> Mapping[str, Any]:
    """What ``kernel_facts`` wrote for a release; of others nothing is known."""
    return _load(_FOLDER / f"{release}.yaml")


@cache
def read_newer_facts(release: str) -> Mapping[str, Any]:
    """What it wrote for a release beside a newer CANN."""
    return _load(min(_FOLDER.glob(f"{release}@*.yaml"), default=_FOLDER / "none.yaml"))


def _load(path: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = load_yaml(path) if path.exists() else {"calls": {}, "kernels": {}}
    return found


class Refusals:
    """What the kernels refuse of the overloads of one release."""

    def __init__(
        self,
        facts: Mapping[str, Any],
        release: str,
        listed: Mapping[str, tuple[str, ...]],
        socs: Socs,
        functions: Mapping[str, Function],
        elsewhere: Listed,
    ) -> None:
        self._facts = facts
        self._chips = known(release)
        self._listed = listed
        self._socs = socs
        self._functions = functions
        self._elsewhere = elsewhere

    def lines(self) -> Iterator[Line]:
        """Lines of the section ``refusals``; what fares alike together."""
        yield from _grouped(
            line
            for op, argument, kernels, ranked in self._reached()
            for chip in self._chips
            for line in self._lines(op, chip, argument, kernels, ranked)
        )

    def inferred(self, own: Iterable[Line]) -> Iterator[Line]:
        """Lines of a newer CANN, of what ``own`` of the release's do not tell already."""
        told: dict[Key, set[str]] = {}
        for line in own:
            for key, words in _told(line):
                told.setdefault(key, set()).update(words)
        yield from _grouped(
            {**line, **left, "inferred": True}
            for op, argument, kernels, ranked in self._reached()
            for chip in self._chips
            for line in self._lines(op, chip, argument, kernels, ranked)
            if "stands" in line
            for (_, words) in _told(_single(line))
            if (left := _left(line, words - told.get((op, argument, chip), set())))
        )

    def listings(self, denied: Iterable[Line], told: Iterable[Line]) -> Iterator[Line]:
        """Lines of ``second_sources``: what kernels take of what a table leaves out.

        ``denied``: lines of the section ``documented``. ``told``: what other pages list of them.
        """
        left = _words(denied, left_out)
        for key, words in _words(told, lambda said: frozenset(said.get("dtypes", ()))).items():
            left[key] = left.get(key, frozenset()) - words
        yield from grouped(
            {**line, "dtypes": [word for word in DTYPES if word in words]}
            for op, argument, kernels, _ in self._reached()
            for chip in self._chips
            for line, taken in self._taken(op, chip, argument, kernels)
            if (words := taken & left.get((op, argument, chip), frozenset()))
        )

    def _taken(
        self, op: str, chip: str, argument: str, kernels: Mapping[str, str]
    ) -> Iterator[tuple[Line, frozenset[str]]]:
        """The dtypes of an argument that each kernel lists that may be called on a chip."""
        pages = [(self._facts["kernels"][kernel], name) for kernel, name in kernels.items()]
        on_chip = self._socs.kernels(chip, self._listed[op]) == _PATH
        if not on_chip or any(chip not in page["runs"] for page, _ in pages):
            return
        rows = [page["arguments"][name] for page, name in pages]
        if any("dtypes" not in row for row in rows):
            return
        one = len(kernels) == 1
        said = f"the page of {next(iter(kernels))}" if one else f"each page of {', '.join(kernels)}"
        at = [f"{page['page']}:{row['line']}" for (page, _), row in zip(pages, rows, strict=True)]
        line: Line = {
            "ops": [op], "chips": [chip], "argument": argument, "runs": True,
            "method": "documented", "text": f"{said} lists it", "at": at,
        }  # fmt: skip
        yield line, frozenset(DTYPES).intersection(*(_listed(*page, chip) for page in pages))

    def sources(self, lines: Iterable[Line]) -> dict[str, dict[str, str]]:
        """Entries of the file's table of sources that the lines cite."""
        cited = {at.partition(":")[0] for line in lines for at in _citations(line)}
        return {n: dict(s) for n, s in self._facts.get("sources", {}).items() if n in cited}

    def _reached(self) -> Iterator[tuple[str, str, Mapping[str, str], bool]]:
        """Overload, argument, what each kernel calls it, and whether they get its own rank."""
        for op, call in self._facts["calls"].items():
            function = self._functions.get(op.removeprefix("aten::"))
            if op in self._listed and function is not None:
                said, only = call["arguments"], len(function.tensors) == 1
                for name, kernels in said.items():
                    # a list may name the one tensor that there is otherwise than PyTorch does
                    argument = function.tensors[0] if only and len(said) == 1 else name
                    if argument in function.tensors:
                        yield op, argument, kernels, name in call.get("ranks", ())

    def _lines(
        self, op: str, chip: str, argument: str, kernels: Mapping[str, str], ranked: bool
    ) -> Iterator[Line]:
        if self._socs.kernels(chip, self._listed[op]) != _PATH:
            return
        said = {kernel: self._facts["kernels"][kernel] for kernel in kernels}
        if any(chip not in (*page["runs"], *page.get("not", ())) for page in said.values()):
            return
        here = {k: name for k, name in kernels.items() if chip in said[k]["runs"]}
        if not here:
            return
        pages = [(said[k], said[k]["arguments"][name]) for k, name in here.items()]
        where = {"ops": op, "kernels": list(here), "arguments": argument, "chips": chip}
        yield from ({**where, **line} for line in self._dtypes(op, chip, argument, here, pages))
        if ranked and all("most" in row for _, row in pages):
            at = [f"{page['page']}:{row['most'][1]}" for page, row in pages]
            code = [row["most"][2] for _, row in pages]
            most = max(row["most"][0] for _, row in pages)
            yield {**where, "most": most, "stands": True, "at": at, "checked": {"at": code}}

    def _dtypes(
        self,
        op: str,
        chip: str,
        argument: str,
        kernels: Mapping[str, str],
        pages: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
    ) -> Iterator[Line]:
        names = zip(kernels.values(), pages, strict=True)
        left_out = frozenset(_ASKED).intersection(
            *(_left_out(page, name, chip) for name, (page, _) in names)
        )
        stands = all("refused" in row and "code" in page for page, row in pages)
        elsewhere = frozenset() if stands else self._elsewhere(op, argument, chip)
        denied = [word for word in _ASKED if word in left_out and DTYPES[word] not in elsewhere]
        if not denied:
            return
        line: Line = {"not": denied}
        if len(self._functions[op.removeprefix("aten::")].tensors) == 1:
            line["scalars"] = True
        if stands:
            refused = [f"{page['page']}:{_refusing(row)}" for page, row in pages]
            checked = (row["refused"] for _, row in pages if isinstance(row["refused"], str))
            code = [*dict.fromkeys([*(page["code"] for page, _ in pages), *checked])]
            yield {**line, "stands": True, "at": refused, "checked": {"at": code}}
        else:
            yield {**line, "at": [f"{page['page']}:{row['line']}" for page, row in pages]}


def _refusing(row: Mapping[str, Any]) -> int:
    """The line of a page that refuses other dtypes: of its return codes, or else the row itself."""
    line: int = row["line"] if isinstance(row["refused"], str) else row["refused"]
    return line


def _single(line: Line) -> Line:
    """A line of one overload, argument and chip, in the form that a group of them has."""
    return {**line, **{key: [line[key]] for key in _KEYS}}


def _told(line: Line) -> Iterator[tuple[Key, set[str]]]:
    """Overload, argument, chip -> the dtypes that a line denies, or that it limits dimensions."""
    if "stands" in line:
        words = {_MOST} if _MOST in line else {*line["not"]}
        for op, argument, chip in product(*(line[key] for key in _KEYS)):
            yield (op, argument, chip), words


def _left(line: Line, words: set[str]) -> Line:
    """What of a line is about these words alone; empty where nothing is."""
    if _MOST in line:
        return {_MOST: line[_MOST]} if words else {}
    denied = [word for word in line["not"] if word in words]
    return {"not": denied} if denied else {}


def _citations(line: Line) -> Iterator[str]:
    yield from line["at"]
    yield from line.get("checked", {}).get("at", ())


def _words(
    lines: Iterable[Line], words: Callable[[Line], frozenset[str]]
) -> dict[Key, frozenset[str]]:
    """Overload, argument, chip -> the dtypes that lines say something of."""
    found: dict[Key, frozenset[str]] = {}
    for line in lines:
        for op, chip in product(line["ops"], line["chips"] if "argument" in line else ()):
            key = (op, line["argument"], chip)
            found[key] = found.get(key, frozenset()) | words(line)
    return found


def _left_out(page: Mapping[str, Any], name: str, chip: str) -> frozenset[str]:
    """The dtypes that a kernel's page and its code leave out of an argument on a chip."""
    if "dtypes" not in page["arguments"][name]:
        return frozenset()
    doubtful = {*page.get("apart", {}).get(chip, ()), *page.get("lists", ())}
    return frozenset(_ASKED) - _taken(page, name, chip) - doubtful


def _listed(page: Mapping[str, Any], name: str, chip: str) -> frozenset[str]:
    """The dtypes that a kernel's page lists for an argument on a chip, as its code does."""
    doubtful = page.get("apart", {}).get(chip, ())
    taken = _taken(page, name, chip).difference(doubtful)
    return taken.intersection(page["lists"]) if "lists" in page else taken


def _taken(page: Mapping[str, Any], name: str, chip: str) -> frozenset[str]:
    """The dtypes in the row of an argument, as the page's remarks on a chip have it."""
    row = page["arguments"][name]
    remarks = [t for t in page.get("taken", {}).get(chip, ()) if t["argument"] in (name, "*")]
    denied = {word for said in remarks for word in said.get("not", ())}
    only = [frozenset(said["only"]) for said in remarks if "only" in said]
    taken = frozenset(row["dtypes"]) - denied
    return taken.intersection(*only) | frozenset[str]().union(*only)


def _grouped(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, with the chips, then the arguments, then the overloads of which the same holds."""
    found = list(lines)
    for key in reversed(_KEYS):
        alike: dict[str, tuple[Line, list[str]]] = {}
        for line in found:
            rest = {name: value for name, value in line.items() if name != key}
            alike.setdefault(repr(rest), (line, []))[1].append(line[key])
        found = [{**line, key: values} for line, values in alike.values()]
    yield from found
