"""What tables and files kept by hand must say beyond their form - citations and names."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opcheck.db.by_hand.overlays import ADVISORIES
from opcheck.db.schema.checks import Path as Where
from opcheck.db.versions import version_key

_ATEN = "aten::"


class FileProblem(Struct, frozen=True):
    """A problem, and where in the file; () for the file as a whole."""

    code: str
    text: str
    where: Where = ()


class Known(Struct, frozen=True):
    """What files may name."""

    overloads: frozenset[str]
    """Every overload that PyTorch ever had; empty where its table is damaged."""
    chips: Mapping[str, Collection[str]]
    """Vendor -> its chips."""


def evidence(
    data: Any, sources: Collection[str], *, everywhere: bool = True
) -> Iterator[FileProblem]:
    """Citations of what is no source and, where all must cite, what cites nothing; each once."""
    told = set() if everywhere else {""}
    for text, where in _citations(data, ()):
        if text in told or text.partition(":")[0] in sources:
            continue
        told.add(text)
        what = f"{text!r} cites no source of the file" if text else "something cites no source"
        yield FileProblem("no-evidence", what, where)


def _citations(data: Any, where: Where) -> Iterator[tuple[str, Where]]:
    """Every citation below a value: under ``at``, and by name under ``cited``."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            place = (*where, key)
            if key == "at":
                yield from ((text, place) for text in _texts(value) or [""])
            elif key == "cited":
                yield from ((text, (*place, k)) for k, at in value.items() for text in _texts(at))
            else:
                yield from _citations(value, place)
    elif isinstance(data, list):
        for number, item in enumerate(data):
            yield from _citations(item, (*where, number))


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else value


def overloads(named: Iterable[tuple[str, Where]], known: Known) -> Iterator[FileProblem]:
    """Overloads of aten that PyTorch never had; each once."""
    if not known.overloads:
        return
    strangers = {op: where for op, where in named if op.startswith(_ATEN)}
    for op, where in strangers.items():
        if op not in known.overloads:
            yield FileProblem("unknown-name", f"PyTorch never had {op}", where)


def listed(data: Any, where: Where = ()) -> Iterator[tuple[str, Where]]:
    """Every overload below a value that stands in a list, ``ops`` or ``asks``."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key in ("ops", "asks"):
                yield from ((op, (*where, key)) for op in value)
            else:
                yield from listed(value, (*where, key))
    elif isinstance(data, list):
        for number, item in enumerate(data):
            yield from listed(item, (*where, number))


def keyed(data: Mapping[str, Any], section: str) -> Iterator[tuple[str, Where]]:
    """Every overload for which a section of a file has a key."""
    return ((op, (section, op)) for op in data.get(section, ()))


def vendors(
    named: Iterable[tuple[Mapping[str, Any], Where]], known: Known
) -> Iterator[FileProblem]:
    """Vendors and chips that the database has not."""
    for said, where in named:
        vendor = said["vendor"]
        if vendor not in known.chips:
            yield FileProblem("unknown-name", f"there is no vendor {vendor!r}", where)
            continue
        for chip in said.get("chips", ()):
            if chip not in known.chips[vendor]:
                yield FileProblem("unknown-name", f"no chip of {vendor} is {chip}", where)


def name(data: Mapping[str, Any], key: str, wanted: str) -> Iterator[FileProblem]:
    """A file that calls itself otherwise than it is called."""
    if data[key] != wanted:
        yield FileProblem("name", f"its {key} is {data[key]}, and it is named {wanted}", (key,))


def table(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of any of the tables."""
    _, _, versions = path.stem.partition("@")
    if versions:
        torch, _, device = versions.partition("-")
        yield from name(data, "torch", torch)
        if "device" in data:
            yield from name(data, "device", device)
    if "sources" in data:
        yield from evidence(data, data["sources"])
    yield from overloads(_overloads(data), known)


def _overloads(data: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Every overload that a table says something about; what C++ alone defines has no history."""
    yield from listed(data)
    for section in ("choices", "earlier"):
        yield from keyed(data, section)
    for op, branches in data.get("composites", {}).items():
        where = ("composites", op)
        yield op.partition("|")[0], where
        yield from ((asked.partition("|")[0], where) for branch in branches for asked in branch)


def history(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of the history: spans that end before they begin, or reach out of it."""
    first, last = map(version_key, (data["torch"][0], data["torch"][-1]))
    for op, span in data["overloads"].items():
        begins, ends = version_key(span[0]), version_key(span[-1])
        told, where = "..".join(span), ("overloads", op)
        if begins > ends:
            yield FileProblem("span", f"{op}: {told} ends before it begins", where)
        elif begins < first or ends > last:
            yield FileProblem("span", f"{op}: {told} is not among the file's torch versions", where)


def names(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of the table of Python names: a torch that was not looked at."""
    for module, listed_names in data["names"].items():
        for one, since in listed_names.items():
            if since not in data["torch"]:
                text = f"{module}.{one}: {since} is not among the file's torch versions"
                yield FileProblem("span", text, ("names", module, one))


def collectives(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of the table of collectives: vendors, and methods that nothing calls."""
    yield from evidence(data, data["sources"])
    backends = list(enumerate(data["backends"]))
    methods = set(data["calls"].values())
    for number, said in backends:
        for key in ("has", "lacks"):
            for method in sorted(set(said[key]) - methods):
                text = f"{said['name']}: nothing in calls is handed to {method!r}"
                yield FileProblem("unknown-name", text, ("backends", number, key))
        for method in sorted(set(said["has"]) & set(said["lacks"])):
            text = f"{said['name']} both has and lacks {method!r}"
            yield FileProblem("duplicate", text, ("backends", number))
    yield from vendors(((said, ("backends", number)) for number, said in backends), known)
    yield from _reductions(data, {said["name"] for _, said in backends}, methods)


def _reductions(
    data: Mapping[str, Any], backends: Collection[str], methods: Collection[str]
) -> Iterator[FileProblem]:
    """Rows of reductions, or of dtypes, that are about nothing or say nothing."""
    rows: list[tuple[Mapping[str, Any], Where]]
    rows = [(row, ("reductions", number)) for number, row in enumerate(data["reductions"])]
    for row, where in rows:
        if ("has" in row) == ("lacks" in row):
            yield FileProblem("form", "expected either has or lacks", where)
        if row["backend"] not in backends:
            text = f"no backend is called {row['backend']!r}"
            yield FileProblem("unknown-name", text, (*where, "backend"))
    for name, listed in data["dtypes"].items():
        rows += [(row, ("dtypes", name, number)) for number, row in enumerate(listed)]
    for row, where in rows:
        for method in sorted(set(row.get("methods", ())) - set(methods)):
            text = f"nothing in calls is handed to {method!r}"
            yield FileProblem("unknown-name", text, (*where, "methods"))


def compilers(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of the table of compilers: vendors, and a back end that two entries tell of."""
    yield from evidence(data, data["sources"])
    owned = ((name, ("owned", name), owner) for name, owner in data["owned"].items())
    for _, where, owner in owned:
        yield from vendors((({"vendor": vendor}, where) for vendor in owner["vendors"]), known)
    backends = list(enumerate(data["backends"]))
    yield from vendors(((said, ("backends", number)) for number, said in backends), known)
    for number, said in backends:
        for before, other in backends[:number]:
            if name := _told_twice(said, other):
                text = f"{said['vendor']}: entry {before} tells of {name} there as well"
                yield FileProblem("duplicate", text, ("backends", number, "releases"))


def _told_twice(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """A back end that two entries tell of for the same target; "" where there is none."""
    for key in ("releases", "torch", "chips"):
        if key in one and key in other and not set(one[key]) & set(other[key]):
            return ""
    both = set(one["names"]) & set(other["names"]) if one["vendor"] == other["vendor"] else set()
    return min(both, default="")


def deterministic(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of the table of kernels that deterministic mode refuses: names and citations."""
    yield from evidence(data, data["sources"])
    entries: list[tuple[Where, Mapping[str, Any]]] = [
        ((section, number), said)
        for section in ("raises", "once")
        for number, said in enumerate(data[section])
    ]
    yield from overloads(
        ((op, (*where, "ops")) for where, said in entries for op in said["ops"]), known
    )
    for where, said in entries:
        yield from vendors((({"vendor": vendor}, where) for vendor in said["vendors"]), known)


def triton(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of the table of Triton's compilers: vendors, sources, languages that it lacks."""
    yield from evidence(data, data["sources"])
    compilers = list(enumerate(data["compilers"]))
    yield from vendors(((said, ("compilers", number)) for number, said in compilers), known)
    built = data["cuda_sources"]
    yield from vendors((({"vendor": name}, ("cuda_sources", name)) for name in built), known)
    asked = (
        ({"vendor": vendor}, ("limits", number, "vendors"))
        for number, said in enumerate(data["limits"])
        for vendor in said["vendors"]
    )
    yield from vendors(asked, known)
    for number, said in compilers:
        for name in sorted({*said.get("languages", ())} - {*data["languages"]}):
            text = f"{said['vendor']}: there is no language {name!r}"
            yield FileProblem("unknown-name", text, ("compilers", number, "languages"))
        both = "package" in said and "error" in said
        if (both and "chips" not in said) or not said.keys() & {"package", "error"}:
            text = f"{said['vendor']}: it has either a package or an error"
            yield FileProblem("duplicate", text, ("compilers", number, "package"))


def sparse(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of the table of kernels for sparse tensors: lists, versions and overloads."""
    sources, looked_at = data["sources"], data["torch"]
    for key, lists in looked_at.items():
        for torch, name in lists.items():
            if name not in sources:
                text = f"{name!r} cites no source of the file"
                yield FileProblem("no-evidence", text, ("torch", key, torch))
    for op, by_key in data["kernels"].items():
        for key, said in by_key.items():
            since, _, at = said.partition(" ")
            where = ("kernels", op, key)
            if at.partition(":")[0] not in sources:
                yield FileProblem("no-evidence", f"{at!r} cites no source of the file", where)
            if since not in looked_at.get(key, {}):
                yield FileProblem("span", f"no list of {key} of torch {since} was looked at", where)
    yield from evidence({key: data[key] for key in ("targets", "inside")}, sources)
    rows = list(enumerate(data["targets"]))
    yield from vendors(((said, ("targets", number)) for number, said in rows), known)
    asked = (
        (name, ("inside", op, key))
        for op, by_key in data["inside"].items()
        for key, said in by_key.items()
        for name in (*said.get("asks", ()), *said.get("both", ()))
    )
    yield from overloads((*keyed(data, "kernels"), *keyed(data, "inside"), *asked), known)


def overlay(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of an overlay; of which vendor it is may be anyone's."""
    yield from evidence(data, data["sources"])
    yield from overloads((*keyed(data, "operators"), *listed(data)), known)
    yield from vendors(_targeted(data), known)


def _targeted(data: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Where]]:
    """Everything in an overlay that may name chips."""
    yield data, ("vendor",)
    of = {"vendor": data["vendor"]}
    for op, said in data.get("operators", {}).items():
        for variant in said if isinstance(said, list) else [said]:
            yield {**variant, **of}, ("operators", op)
    for section in ("conditions", "withdrawn"):
        for number, said in enumerate(data.get(section, ())):
            yield {**said, **of}, (section, number)


def advisory(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of an advisory, which may be about vendors to come."""
    yield from name(data, "id", path.stem)
    folder = path.parent.name
    for number, affected in enumerate(data["affects"] if folder != ADVISORIES else ()):
        for each in name(affected, "vendor", folder):
            yield replace(each, where=("affects", number, *each.where))
    yield from overloads(listed(data), known)


def remedy(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of a remedy."""
    yield from _for_targets(data, path, known)


def size_rules(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of a file on sizes that are not always the same."""
    yield from _for_targets(data, path, known)


def _for_targets(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    yield from name(data, "id", path.stem)
    yield from evidence(data, data["sources"])
    yield from overloads(listed(data), known)
    named = ((said, ("for", number)) for number, said in enumerate(data["for"]))
    yield from vendors(named, known)


def porting(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of what is said of a vendor: words for what CUDA has, what a machine must have."""
    yield from name(data, "vendor", path.stem)
    yield from vendors([(data, ("vendor",))], known)
    yield from evidence(data, data.get("sources", {}))


def chips(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of a file on what a vendor's chips have."""
    yield from porting(data, path, known)
    yield from vendors([({**data, "chips": tuple(data["chips"])}, ("chips",))], known)


def target_names(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of a file on what users call a vendor's chips."""
    yield from porting({**data, "chips": ()}, path, known)
    named = (({"vendor": data["vendor"], "chips": (c,)}, ("chips", c)) for c in data["chips"])
    yield from vendors(named, known)


def other_vendors(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of the file on vendors that the database has nothing of."""
    seen: dict[str, str] = {}
    for key, said in data["vendors"].items():
        for word in (key, *said["also"]):
            if (other := seen.setdefault(word, key)) != key:
                text = f"{word!r} is a name of {other} too"
                yield FileProblem("name", text, ("vendors", key))


def cuda_names(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of the file on what every other device than CUDA shares.

    That a package is made for CUDA is known to all, so that not each cites a source.
    """
    yield from evidence(data, data["sources"], everywhere=False)
    for package, said in data["packages"].items():
        named = ({"vendor": vendor} for vendor in said["vendors"])
        yield from vendors(((v, ("packages", package)) for v in named), known)


def torch_environment(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of the file on what releases of torch go with."""
    yield from evidence(data, data["sources"])


def library(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of a file on a library that is not installed."""
    yield from name(data, "library", path.stem)
    for op, said in data.get("operators", {}).items():
        where = ("operators", op)
        if not said.get("at"):
            yield FileProblem("no-evidence", f"{op} cites no place in the library", where)
        kernels = said.get("kernels", {}).items()
        named = (({"vendor": v, **kernel}, (*where, "kernels", v)) for v, kernel in kernels)
        yield from vendors(named, known)
