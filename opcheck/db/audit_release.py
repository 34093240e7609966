"""What a vendor's and a release's file must say beyond their form."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcheck.db.spans import within
from opcheck.db.versions import version_key

Told = Iterator[tuple[str, str]]
"""Code and sentence of each problem."""
_ATEN = "aten::"


def vendor(data: Mapping[str, Any], path: Path) -> Told:
    """Problems of a ``vendor.yaml``."""
    if data["vendor"] != path.parent.name:
        yield "name", f"it names the vendor {data['vendor']}, its folder is {path.parent.name}"
    yield from _sources(data["sources"])
    sections = ("chips", "messages", "compat_layer", "notes", "pairing")
    items = [item for key in sections for item in _items(data.get(key, ()))]
    yield from _evidence([data["fallback"], *items], {*data["sources"]})
    releases = {file.stem for file in path.parent.glob("*.yaml")} - {path.stem}
    for chip, said in data["chips"].items():
        for bound in ("since", "until"):
            if bound in said and said[bound] not in releases:
                yield "span", f"chip {chip!r} is known {bound} {said[bound]}, which is no release"


def release(
    data: Mapping[str, Any],
    common: Mapping[str, Any] | None,
    path: Path,
    names: frozenset[str],
) -> Told:
    """Problems of a release's file; ``common`` is its ``vendor.yaml``, if that can be read."""
    if data["release"] != path.stem:
        yield "name", f"it names the release {data['release']}"
    if data["vendor"] != path.parent.name:
        yield "name", f"it names the vendor {data['vendor']}, its folder is {path.parent.name}"
    yield from _sources(data["sources"])
    if list(data["torch"]) != sorted(set(data["torch"]), key=version_key):
        yield "span", "its torch versions are not in order, or one stands twice"
    said = list(_said(data))
    known = {*data["sources"], *(common["sources"] if common else ())}
    yield from _evidence([item for _, item in said], known)
    named = {op for ops, _ in said for op in ops}
    yield from unknown(named - set(data.get("own_names", ())), names)
    for ops, item in said:
        yield from _where(", ".join(ops[:2]), item, data, common)
    yield from _variants(data)
    yield from _twice(data)


def unknown(ops: Iterable[str], names: frozenset[str]) -> Told:
    """Overloads of aten that PyTorch never had."""
    if not names:
        return
    for op in sorted({op for op in ops if op.startswith(_ATEN)} - names):
        yield "unknown-name", f"PyTorch never had {op}"


def _said(data: Mapping[str, Any]) -> Iterator[tuple[Sequence[str], Mapping[str, Any]]]:
    """Everything that cites a source, with the overloads that it is about."""
    for section in ("operators", "gradients"):
        for op, said in data.get(section, {}).items():
            yield from (((op,), variant) for variant in _items(said))
    for section in ("conditions", "documented"):
        yield from ((said["ops"], said) for said in data.get(section, ()))
    yield from (((), said) for said in data.get("advisories", ()))


def _items(said: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(said, Mapping):
        return said.values() if said and "at" not in said else (said,)
    return tuple(said)


def _sources(sources: Mapping[str, Mapping[str, str]]) -> Told:
    for name, source in sources.items():
        if not (source["repo"] and source["path"]):
            yield "no-evidence", f"the source {name!r} names no file"
        elif not (source["commit"] or source.get("date") or source["ref"]):
            yield "no-evidence", f"the source {name!r} has no commit, release or date"


def _evidence(items: Iterable[Mapping[str, Any]], known: set[str]) -> Told:
    cited = Counter(text for item in items for text in _citations(item))
    for text in cited:
        if not text:
            yield "no-evidence", "something cites no source"
        elif text.partition(":")[0] not in known:
            yield "no-evidence", f"{text!r} cites no source of the file"


def _citations(item: Mapping[str, Any]) -> Sequence[str]:
    at = item["at"]
    return [at] if isinstance(at, str) else at or [""]


def _where(
    what: str, item: Mapping[str, Any], data: Mapping[str, Any], common: Mapping[str, Any] | None
) -> Told:
    """Spans and chips that cannot be."""
    for span in item["torch"].split(", ") if "torch" in item else ():
        first, _, last = span.partition("..")
        ends = [first, last or first]
        if not set(ends) <= set(data["torch"]):
            yield "span", f"{what}: {span} is not among the file's torch versions"
        elif version_key(ends[0]) > version_key(ends[1]):
            yield "span", f"{what}: {span} ends before it begins"
    strangers = set(item.get("chips", ())) - set(common["chips"]) if common else set()
    if strangers:
        yield "unknown-name", f"{what}: no chip of the vendor is {', '.join(sorted(strangers))}"


def _variants(data: Mapping[str, Any]) -> Told:
    """Entries of one overload that hold for the same torch version and key: one is never read."""
    for op, said in data["operators"].items():
        taken: set[tuple[str, str]] = set()
        for variant in said if isinstance(said, list) else ():
            keys = variant.get("keys", ("",))
            held = {(torch, key) for torch in _versions(variant, data) for key in keys}
            if held & taken:
                torch = min(torch for torch, _ in held & taken)
                yield "duplicate", f"{op} has two entries for torch {torch}"
            taken |= held


def _versions(variant: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    spans = variant.get("torch")
    return (v for v in data["torch"] if spans is None or within(v, spans, data["torch"]))


def _twice(data: Mapping[str, Any]) -> Told:
    """Conditions that stand in the file word for word twice."""
    for section in ("conditions", "documented", "advisories"):
        for text, count in Counter(map(repr, data.get(section, ()))).items():
            if count > 1:
                yield "duplicate", f"one of the {section} stands {count} times: {text[:80]}…"
