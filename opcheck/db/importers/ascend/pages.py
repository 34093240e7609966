"""Ascend: what pages of the vendor's kernels say of uses that its native-API tables deny."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.ascend.chips import Socs
from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.shared.operator_list import Function
from opcheck.db.schema.tables import DTYPES

_DATA = Path(__file__).with_name("ascend_pages.yaml")
_OF_RELEASE = "26.1.0"
"""The release of which the pages are."""
_PATH = "op_api"
"""The kernel path that calls the kernels that have pages."""
_ITSELF = "op-plugin hands such a tensor back as it is, without the kernel"
Line = dict[str, Any]


@cache
def _facts() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data


class Pages:
    """The pages, asked about the overloads of one release."""

    def __init__(
        self,
        release: str,
        listed: Mapping[str, tuple[str, ...]],
        socs: Socs,
        known: Mapping[str, Function],
    ) -> None:
        self._release = release
        self._listed = listed
        self._socs = socs
        self._known = known

    def second_sources(self, denied: Iterable[Mapping[str, Any]]) -> Iterator[Line]:
        """What pages say of what lines of the file deny: marks of chips, and lists of dtypes."""
        yield from self._read_by_hand()
        for said in denied:
            if "argument" in said:
                yield from grouped(self._of_dtypes(said))
            elif said.get("code") == "not-supported-on-chip":
                yield from grouped(self._of_chips(said))

    def sources(self, lines: Iterable[Line]) -> dict[str, dict[str, str]]:
        """Entries of the file's table of sources that the lines cite."""
        cited = {at.partition(":")[0] for line in lines for at in line["at"]}
        return {name: dict(source) for name, source in _facts()["sources"].items() if name in cited}

    def _of_chips(self, said: Mapping[str, Any]) -> Iterator[Line]:
        for op in said["ops"]:
            for chip, kernels, _ in self._called(op, said["chips"]):
                line = self._mark(chip, kernels)
                if line:
                    yield {"ops": [op], **line, "chips": [chip]}

    def _mark(self, chip: str, kernels: Sequence[str]) -> Line | None:
        """Whether the kernels run on a chip; None where their pages do not agree, or do not say."""
        for key, runs in (("runs", True), ("runs_not", False)):
            lines = [_kernel(kernel).get(key, {}).get(chip) for kernel in kernels]
            if all(lines) and (not runs or self._release == _OF_RELEASE):
                at = [f"{_page(k)}:{line}" for k, line in zip(kernels, lines, strict=True)]
                verb = "lists {chip}" if runs else "does not list {chip} either"
                return _line(runs, kernels, verb, at)
        return None

    def _of_dtypes(self, said: Mapping[str, Any]) -> Iterator[Line]:
        for op in said["ops"]:
            for chip, kernels, arguments in self._called(op, said["chips"]):
                names = arguments.get(said["argument"])
                if names and all(chip in _kernel(kernel).get("runs", {}) for kernel in kernels):
                    where: Line = {"ops": [op], "chips": [chip], "argument": said["argument"]}
                    for line in self._rows(chip, kernels, names, left_out(said)):
                        yield {**where, **line}

    def _rows(
        self, chip: str, kernels: Sequence[str], names: Sequence[str], left_out: frozenset[str]
    ) -> Iterator[Line]:
        """What the rows of an argument in the kernels' pages list, and what they leave out."""
        rows = [_kernel(k)["arguments"][name] for k, name in zip(kernels, names, strict=True)]
        apart = frozenset(d for k in kernels for d in _kernel(k).get("apart", {}).get(chip, ()))
        at = [f"{_page(k)}:{row['line']}" for k, row in zip(kernels, rows, strict=True)]
        lists = frozenset(DTYPES).intersection(*(row["dtypes"] for row in rows)) - apart
        some = apart.union(*(row["dtypes"] for row in rows))
        if left_out - some:
            line = _line(False, kernels, "leaves it out too", at)
            yield {**line, "others_than": [word for word in DTYPES if word in some]}
        if left_out & lists and self._release == _OF_RELEASE:
            line = _line(True, kernels, "lists it", at)
            yield {**line, "dtypes": [word for word in DTYPES if word in left_out & lists]}

    def _called(
        self, op: str, chips: Iterable[str]
    ) -> Iterator[tuple[str, Sequence[str], Mapping[str, Sequence[str]]]]:
        """Chip, kernels, and what each of them calls an argument, where op_api runs them."""
        served = self._served(op)
        calls = [call for one in served for call in self._calls(one)[:1]]
        if not served or len(calls) < len(served):
            return
        kernels = [kernel for call in calls for kernel in call["kernels"]]
        shared = set(calls[0]["arguments"]).intersection(*(call["arguments"] for call in calls))
        arguments = {name: [n for c in calls for n in c["arguments"][name]] for name in shared}
        for chip in chips:
            if all(self._socs.kernels(chip, self._listed[one]) == _PATH for one in served):
                yield chip, kernels, arguments

    def _calls(self, op: str) -> Sequence[Mapping[str, Any]]:
        return [c for c in _facts()["calls"].get(op, ()) if self._release in c["releases"]]

    def _served(self, op: str) -> Sequence[str]:
        """The registered overloads that do the work of another; none where there is none."""
        function = self._known.get(op.removeprefix("aten::"))
        delegate = f"aten::{function.delegate}" if function and function.delegate else ""
        ways = ([op], [delegate], _facts()["through"].get(op, ()))
        return next((way for way in ways if way and all(one in self._listed for one in way)), ())

    def _read_by_hand(self) -> Iterator[Line]:
        """What a page says in words that no table of it has, and what the vendor's tests run."""
        for said in _facts()["said"] if self._release == _OF_RELEASE else ():
            if "kernel" in said:
                line = _line(True, [said["kernel"]], "lists it", [said["at"]])
            elif "tested" in said:
                at = [said["at"]]
                line = {"runs": True, "method": "tested", "text": said["tested"], "at": at}
            else:
                line = {"runs": True, "method": "registered", "text": _ITSELF, "at": [said["at"]]}
            about = {key: said[key] for key in ("argument", "dtypes") if key in said}
            yield {"ops": said["ops"], "chips": said["chips"], **line, **about}


def _kernel(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = _facts()["kernels"][name]
    return found


def _page(kernel: str) -> str:
    return str(_kernel(kernel)["page"])


def _line(runs: bool, kernels: Sequence[str], says: str, at: list[str]) -> Line:
    one = len(kernels) == 1
    pages = f"the page of {kernels[0]}" if one else f"each page of {', '.join(kernels)}"
    return {"runs": runs, "method": "documented", "text": f"{pages} {says}", "at": at}


def left_out(said: Mapping[str, Any]) -> frozenset[str]:
    """The file's words for the dtypes that a line of the section ``documented`` leaves out."""
    names = {DTYPES[word] for word in said.get("not", ())}
    only = {DTYPES[word] for word in said.get("only", ())}
    return frozenset(
        w for w, name in DTYPES.items() if name in names or (only and name not in only)
    )


def grouped(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, overloads and chips of which the same holds together."""
    chips: dict[str, tuple[Line, list[str]]] = {}
    for line in lines:
        rest = {key: value for key, value in line.items() if key != "chips"}
        chips.setdefault(repr(rest), (rest, []))[1].extend(line["chips"])
    found: dict[str, tuple[Line, list[str]]] = {}
    for rest, here in chips.values():
        same = {**{key: value for key, value in rest.items() if key != "ops"}, "chips": here}
        found.setdefault(repr(same), (same, []))[1].extend(rest["ops"])
    yield from ({"ops": ops, **same} for same, ops in found.values())
