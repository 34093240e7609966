"""Moore Threads: what kernels refuse, and what they compute on the host."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.moorethreads.lists import DENSE, FIRST, PORTED, Kernel, code
from opcheck.db.importers.shared import facts
from opcheck.db.versions import nearest, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_CHECKS = Path(__file__).with_name("moorethreads_checks.yaml")
_SCALAR_TYPE = re.compile(r"ScalarType::(\w+)")
_DTYPES = {
    "Float": "float32",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Double": "float64",
    "Int": "int32",
    "Long": "int64",
}
"""ATen's names -> torch's."""
_COMPLEX = ("complex32", "complex64", "complex128")
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})


class Table(Struct, frozen=True):
    """Rows that were read out of the code of one release."""

    release: str
    rows: Sequence[Mapping[str, Any]]


class Release(Struct, frozen=True):
    """What conditions of one release are made from."""

    name: str
    kernels: Mapping[str, Kernel]
    """Overload -> its registration."""
    chips: Mapping[str, str]
    """Chips that the release knows -> compute capability."""
    checks: Table
    """Statements that refuse a dtype or a shape."""
    dispatch: Table
    """Dtypes of kernels."""

    def below(self, arch: str) -> tuple[str, ...]:
        """Chips older than ``arch``."""
        return tuple(chip for chip, own in self.chips.items() if own < arch)

    def ops(self, fact: Mapping[str, Any]) -> tuple[str, ...]:
        """Overloads with a kernel for dense tensors that a fact is about."""
        names = {name if "::" in name else f"aten::{name}" for name in fact["ops"]}
        exact, ported = fact.get("exact", False), fact.get("ported", False)
        return tuple(
            op
            for op, kernel in self.kernels.items()
            if (op in names or (not exact and _base(op) in names))
            and DENSE in kernel.keys
            and (ported or _own(kernel))
        )


def table_of(folder: Path, kind: str, release: str) -> Table:
    """The table of a release, or of the release nearest to it."""
    prefix = f"{kind}@v"
    known = {path.stem.removeprefix(prefix): path for path in sorted(folder.glob(f"{prefix}*"))}
    if not known:
        raise DatabaseError(
            Sentence("{text} has no {kind} of any release", text=folder, kind=kind),
            Sentence("give the folder of sources"),
        )
    chosen = nearest(release, tuple(known))
    return Table(chosen, load_yaml(known[chosen])["rows"])


def conditions(release: Release) -> Iterator[dict[str, Any]]:
    """Lines of the section ``conditions``."""
    yield from _refused(release)
    if release.name == FIRST:
        yield from _lacking(release)
        return
    yield from _bfloat16(release)
    yield from _checked(release)
    yield from _limited(release)
    yield from _dispatched(release)
    yield from _on_host(release)
    yield from _no_mudnn(release)
    stated = (*code()["stated"], *load_yaml(_CHECKS)["facts"])
    yield from facts.conditions(stated, release.name, "code", release.kernels)


def _refused(release: Release) -> Iterator[dict[str, Any]]:
    for fact in code()["refused"]:
        ops = release.ops({"ops": fact["ops"], "exact": True, "ported": True})
        if release.name not in fact["seen"] or not ops:
            continue
        text = f'{{argument}} is {{actual}}, and the kernel raises "{fact["text"]}"'
        line = _line(release, ops, text, f"code:{fact['file']}:{fact['seen'][release.name]}")
        test = {"subject": "dtype", "argument": "self", "none_of": fact["only"]}
        yield {**line, "confidence": "high", "tests": [test]}


def _checked(release: Release) -> Iterator[dict[str, Any]]:
    for fact in code()["checks"]:
        row, ops = _row(release, fact), release.ops(fact)
        if row is None or not ops:
            continue
        only = fact.get("only") or _allowed(row)
        test = {"subject": "dtype", "argument": fact["argument"], "none_of": only}
        line = _line(release, ops, _raised(row), f"checks:{row['file']}:{row['line']}")
        yield {**line, "tests": [test]}


def _limited(release: Release) -> Iterator[dict[str, Any]]:
    for fact in code()["limits"]:
        row, ops = _row(release, fact), release.ops(fact)
        chips = release.below(fact["below"]) if "below" in fact else None
        if row is None or not ops or chips == ():
            continue
        text = f'the kernel raises "{row["message"]}"'
        text = f"{{argument}} is {{actual}}, and {text}" if "test" in fact else text
        line = _line(release, ops, text, f"checks:{row['file']}:{row['line']}")
        line["code"] = fact["code"]
        line |= {"chips": chips} if chips else {}
        yield line | ({"tests": [fact["test"]]} if "test" in fact else {})


def _dispatched(release: Release) -> Iterator[dict[str, Any]]:
    for fact in code()["kernels"]:
        rows = [row for row in release.dispatch.rows if row["label"] == fact["label"]]
        ops = release.ops(fact)
        if not rows or not ops:
            continue
        dtypes = {dtype for row in rows for dtype in row["dtypes"]}
        left_out = _FLOATS - dtypes
        bound = {"one_of": sorted(left_out)} if "floats" in fact else {"none_of": sorted(dtypes)}
        test = {"subject": "dtype", "argument": fact["argument"], **bound}
        text = f"{{argument}} is {{actual}}, which the kernel {fact['label']} is not made for"
        at = [f"kernels:{row['file']}:{row['line']}" for row in rows]
        line = _line(release, ops, text, at[0])
        line["confidence"] = _confidence(release, release.dispatch)
        yield {**line, "at": list(dict.fromkeys(at)), "tests": [test]}


def _on_host(release: Release) -> Iterator[dict[str, Any]]:
    for fact in code()["host"]:
        ops = release.ops(fact)
        if release.name not in fact["seen"] or not ops:
            continue
        what = "computes {actual} on the host" if "tests" in fact else "computes on the host"
        text = f"listed, but its kernel {fact.get('what', what)}"
        line = _line(release, ops, text, f"code:{fact['file']}:{fact['seen'][release.name]}")
        line |= {"code": "computed-on-host", "verdict": "fallback", "confidence": "high"}
        yield line | ({"tests": fact["tests"]} if "tests" in fact else {})


def _no_mudnn(release: Release) -> Iterator[dict[str, Any]]:
    """Kernels that hand their tensors to the vendor's library, which lacks dtypes and ranks."""
    said = code()["mudnn"]
    since = version_key(release.name)
    takes = {n for r, names in said["complex"].items() for n in names if version_key(r) <= since}
    later = {n for names in said["complex"].values() for n in names}
    every = [name for group in said["ops"] for name in group]
    limits = (
        ("dtype", [*every, *sorted(later - takes)], {"subject": "dtype", "one_of": _COMPLEX}),
        ("dtype", [*every, *sorted(later)], {"subject": "dtype", "one_of": _without(said, since)}),
        ("rank", every, {"subject": "rank", "maximum": 8}),
    )
    for subject, names, test in limits:
        line = said[subject]["seen"].get(release.name)
        ops = release.ops({"ops": names})
        if line is None or not ops:
            continue
        text = f"muDNN, which computes this, has no tensors of {_LACKING[subject]}"
        found = _line(release, ops, f"{{argument}} is {{actual}}: {text}", "")
        yield {
            **found,
            "code": f"{subject}-not-supported",
            "confidence": "medium",
            "method": "inferred",
            "at": [f"code:{said[subject]['file']}:{line}"],
            "tests": [{"argument": "*", **test}],
        }


def _without(said: Mapping[str, Any], release: Any) -> list[str]:
    """The dtypes beside complex ones that the library does not have at a release."""
    return [d for d, first in said["lacks"].items() if not first or release < version_key(first)]


_LACKING = {"dtype": "that dtype", "rank": "more than eight dimensions"}


def _lacking(release: Release) -> Iterator[dict[str, Any]]:
    """What the oldest release raises on as soon as a tensor is made."""
    fact = code()["oldest"]
    text = f'{{argument}} is {{actual}}, and the kernel raises "{fact["text"]}"'
    for argument in ("*", "return"):
        found = _line(release, ("*",), text, f"code:{fact['file']}:{fact['seen'][release.name]}")
        test = {"subject": "dtype", "argument": argument, "one_of": fact["dtypes"]}
        yield {**found, "confidence": "high", "tests": [test]}


def _bfloat16(release: Release) -> Iterator[dict[str, Any]]:
    fact = code()["bfloat16"]
    chips, line = release.below(fact["below"]), fact["seen"].get(release.name)
    if line is None or not chips:
        return
    text = "{argument} is bfloat16, which {chip} does not compute in: its kernels start at "
    for argument in ("*", "return"):
        found = _line(release, ("*",), text + fact["below"], f"code:{fact['file']}:{line}")
        test = {"subject": "dtype", "argument": argument, "one_of": ["bfloat16"]}
        yield {**found, "confidence": "medium", "chips": chips, "tests": [test]}


def _line(release: Release, ops: Sequence[str], text: str, at: str) -> dict[str, Any]:
    return {
        "ops": ops,
        "code": "dtype-not-supported",
        "verdict": "unsupported",
        "confidence": _confidence(release, release.checks),
        "method": "registered",
        "text": text,
        "at": [at],
    }


def _confidence(release: Release, table: Table) -> str:
    return "high" if table.release == release.name else "medium"


def _row(release: Release, fact: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The row that a fact is about, if the release has it."""
    if release.name in fact.get("absent", ()):
        return None
    return next(
        (
            row
            for row in release.checks.rows
            if row["function"] == fact["function"] and row["message"].startswith(fact["message"])
        ),
        None,
    )


def _allowed(row: Mapping[str, Any]) -> list[str]:
    """The dtypes that a check lets through."""
    names = _SCALAR_TYPE.findall(row["condition"])
    unknown = sorted(set(names) - set(_DTYPES))
    if unknown or not names:
        where = f"{row['file']}:{row['line']}"
        raise DatabaseError(
            Sentence(
                "cannot read the dtypes of the check at {place}: {text}",
                place=where,
                text=repr(row["condition"]),
            )
        )
    return list(dict.fromkeys(_DTYPES[name] for name in names))


def _raised(row: Mapping[str, Any]) -> str:
    return f'{{argument}} is {{actual}}, and the kernel raises "{row["message"]}"'


def _own(kernel: Kernel) -> bool:
    """Whether the vendor wrote the kernel, which the capital letters of its name tell.

    The others are PyTorch's CUDA kernels, ported, under PyTorch's own names for them.
    """
    return any(not name.islower() and name != PORTED for name in kernel.impl)


def _base(op: str) -> str:
    """The operator of an overload, in place or not."""
    base = op.partition(".")[0]
    return base if base.endswith("__") else base.removesuffix("_")
