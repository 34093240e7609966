"""What a vendor's and a release's file must say beyond their form."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcheck.db.audit import content as words
from opcheck.db.audit.content import FileProblem, Known
from opcheck.db.schema.checks import Path as Where
from opcheck.db.versions import version_key, within

_SECTIONS = ("conditions", "documented", "refusals", "second_sources", "advisories")


def vendor(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of a ``vendor.yaml``."""
    if data["vendor"] != path.parent.name:
        text = f"it names the vendor {data['vendor']}, its folder is {path.parent.name}"
        yield FileProblem("name", text, ("vendor",))
    yield from _sources(data["sources"])
    yield from words.evidence(data, data["sources"])
    releases = {file.stem for file in path.parent.glob("*.yaml")} - {path.stem}
    for chip, said in data["chips"].items():
        for bound in ("since", "until"):
            if bound in said and said[bound] not in releases:
                text = f"chip {chip!r} is known {bound} {said[bound]}, which is no release"
                yield FileProblem("span", text, ("chips", chip))


def release(
    data: Mapping[str, Any], path: Path, known: Known, common: Mapping[str, Any] | None
) -> Iterator[FileProblem]:
    """Problems of a release's file; ``common`` is its ``vendor.yaml``, if that can be read."""
    if data["release"] != path.stem:
        yield FileProblem("name", f"it names the release {data['release']}", ("release",))
    if data["vendor"] != path.parent.name:
        text = f"it names the vendor {data['vendor']}, its folder is {path.parent.name}"
        yield FileProblem("name", text, ("vendor",))
    yield from _sources(data["sources"])
    if list(data["torch"]) != sorted(set(data["torch"]), key=version_key):
        text = "its torch versions are not in order, or one stands twice"
        yield FileProblem("span", text, ("torch",))
    yield from words.evidence(data, {*data["sources"], *(common["sources"] if common else ())})
    said = list(_statements(data))
    own = set(data.get("own_names", ()))
    named = ((op, where) for ops, _, where in said for op in ops if op not in own)
    yield from words.overloads(named, known)
    for ops, item, where in said:
        yield from _where(", ".join(ops[:2]), item, where, data, common)
    yield from _variants(data)
    yield from _twice(data)


def _statements(
    data: Mapping[str, Any],
) -> Iterator[tuple[Sequence[str], Mapping[str, Any], Where]]:
    """Everything that holds somewhere: the overloads that it is about, and where it stands."""
    for section in ("operators", "gradients"):
        for op, said in data.get(section, {}).items():
            variants = said if isinstance(said, list) else (said,)
            yield from (((op,), variant, (section, op)) for variant in variants)
    for section in _SECTIONS:
        for number, said in enumerate(data.get(section, ())):
            yield said.get("ops", ()), said, (section, number)


def _sources(sources: Mapping[str, Mapping[str, str]]) -> Iterator[FileProblem]:
    for name, source in sources.items():
        where = ("sources", name)
        if not (source["repo"] and source["path"]):
            yield FileProblem("no-evidence", f"the source {name!r} names no file", where)
        elif not (source["commit"] or source.get("date") or source["ref"]):
            text = f"the source {name!r} has no commit, release or date"
            yield FileProblem("no-evidence", text, where)


def _where(
    what: str,
    item: Mapping[str, Any],
    where: Where,
    data: Mapping[str, Any],
    common: Mapping[str, Any] | None,
) -> Iterator[FileProblem]:
    """Spans and chips that cannot be."""
    for span in item["torch"].split(", ") if "torch" in item else ():
        first, _, last = span.partition("..")
        ends = [first, last or first]
        if not set(ends) <= set(data["torch"]):
            yield FileProblem(
                "span", f"{what}: {span} is not among the file's torch versions", where
            )
        elif version_key(ends[0]) > version_key(ends[1]):
            yield FileProblem("span", f"{what}: {span} ends before it begins", where)
    strangers = set(item.get("chips", ())) - set(common["chips"]) if common else set()
    if strangers:
        text = f"{what}: no chip of the vendor is {', '.join(sorted(strangers))}"
        yield FileProblem("unknown-name", text, where)


def _variants(data: Mapping[str, Any]) -> Iterator[FileProblem]:
    """Entries of one overload that hold for the same torch version and key: one is never read."""
    for op, said in data["operators"].items():
        taken: set[tuple[str, str]] = set()
        for variant in said if isinstance(said, list) else ():
            keys = variant.get("keys", ("",))
            held = {(torch, key) for torch in _versions(variant, data) for key in keys}
            if held & taken:
                torch = min(torch for torch, _ in held & taken)
                text = f"{op} has two entries for torch {torch}"
                yield FileProblem("duplicate", text, ("operators", op))
            taken |= held


def _versions(variant: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    spans = variant.get("torch")
    return (v for v in data["torch"] if spans is None or within(v, spans, data["torch"]))


def _twice(data: Mapping[str, Any]) -> Iterator[FileProblem]:
    """Conditions that stand in the file word for word twice."""
    for section in _SECTIONS:
        written = list(map(repr, data.get(section, ())))
        for text, count in Counter(written).items():
            if count > 1:
                where = (section, len(written) - 1 - written[::-1].index(text))
                told = f"one of the {section} stands {count} times: {text[:80]}…"
                yield FileProblem("duplicate", told, where)
