"""Which release a target's name means: by its own number, or by its toolkit's, as CANN 8.3.RC1."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from opcheck.db.by_hand.target_names import ToolkitNames, VendorNames
from opcheck.db.vendor import Vendor
from opcheck.db.versions import completed, major_minor, version_key
from opcheck.errors import DatabaseError, UsageError
from opcheck.lang.sentence import Sentence, chained, from_data
from opcheck.model.target import TargetSpec

_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[.-]?(?:rc|post|alpha|beta)\d+(?:\.\d+)*)?", re.IGNORECASE)
_OR_NEWER = "or newer"
_BUILT = re.compile(r"cu(\d+)(\d)|rocm([\d.]+)")
Builds = Callable[[], Mapping[str, Sequence[str]]]
"""Releases of torch, with the builds that pytorch.org has of each."""


class Pair(Struct, frozen=True):
    """One version of a toolkit, and what goes with it."""

    toolkit: ToolkitNames
    version: str
    release: str
    torch: str
    newer: bool = False
    """Whether any newer version does as well."""


def release_named(vendor: Vendor, chip: str, spec: TargetSpec) -> tuple[str, str]:
    """The release and the torch version of a target; the newest where it names none.

    Raises:
        UsageError: a release that is not known, or a torch that it does not serve.
    """
    releases = vendor.releases(chip)
    if not releases:
        folder = vendor.document.path.parent
        raise DatabaseError(
            Sentence("no release of {target} in {text}", target=spec.name, text=folder)
        )
    release = completed(spec.sdk, releases) if spec.sdk else releases[-1]
    if release not in releases:
        raise _unknown(vendor, chip, spec, release)
    torch = major_minor(spec.torch) if spec.torch else vendor.served(release)[-1]
    if torch not in vendor.listed(release):
        raise UsageError(
            Sentence(
                "{target}@{release} does not serve torch {version}",
                target=spec.name, release=release, version=spec.torch,
            ),
            Sentence("it serves: {list}", list=", ".join(reversed(vendor.listed(release)))),
        )  # fmt: skip
    return release, torch


def _unknown(vendor: Vendor, chip: str, spec: TargetSpec, release: str) -> UsageError:
    """That a release is none of a chip; why, where it is one of the vendor and the chip says so."""
    message = Sentence("unknown release {text} of {target}", text=repr(release), target=spec.name)
    why = str(vendor.chips[chip].get("note", ""))
    if why and release in vendor.files:
        message = chained((message, from_data(why)), ": ")
    known = ", ".join(reversed(vendor.releases(chip)))
    return UsageError(message, Sentence("known: {text}", text=known))


class Paired(Struct, frozen=True):
    """What a version of a toolkit stands for."""

    toolkit: str
    release: str
    torch: str
    others: tuple[str, ...]
    """Other torch versions that go with it, the newest first."""


class Meaning(Struct, frozen=True):
    """What a target's name as it was written is taken for."""

    spec: TargetSpec
    paired: Paired | None = None
    """What its toolkit goes with; None where it names none."""


def paired(
    vendor: Vendor, chip: str, names: VendorNames, builds: Builds, spec: TargetSpec
) -> Paired | None:
    """The release that a target's toolkit goes with; None where its release names no toolkit.

    Of several, that with the newest torch.

    Raises:
        UsageError: it is a version of a toolkit that goes with no release.
    """
    if completed(spec.sdk, releases := vendor.releases(chip)) in releases:
        return None
    toolkit, version = _read(names, chip, spec.sdk)
    if toolkit is None:
        return None
    known = [pair for pair in pairs(vendor, chip, names, builds) if pair.toolkit == toolkit]
    torch = major_minor(spec.torch)
    found = [pair for pair in known if _fits(version, pair) and torch in ("", pair.torch)]
    if not found:
        shown = ", ".join(dict.fromkeys(f"{toolkit.word}{pair.version}" for pair in known))
        with_torch = f" and torch {torch}" if torch else ""
        raise UsageError(
            Sentence(
                "no release of {target} is known to go with {name}",
                target=spec.name, name=f"{toolkit.name} {version}{with_torch}",
            ),
            Sentence("known: {text}", text=shown or "none"),
        )  # fmt: skip
    first, *rest = found
    others = dict.fromkeys(pair.torch for pair in rest if pair.torch != first.torch)
    return Paired(f"{toolkit.name} {first.version}", first.release, first.torch, tuple(others))


def pairs(vendor: Vendor, chip: str, names: VendorNames, builds: Builds) -> Sequence[Pair]:
    """Every version of a toolkit that goes with a release of a chip, the newest torch first."""
    found = {
        pair: None
        for toolkit in names.toolkits
        if not toolkit.chips or chip in toolkit.chips
        for pair in _named(vendor, toolkit, builds)
        if pair.release in vendor.releases(chip) and pair.torch in vendor.listed(pair.release)
    }

    def age(pair: Pair) -> tuple[tuple[int, ...], ...]:
        return tuple(map(version_key, (pair.torch, pair.release, pair.version)))

    return sorted(found, key=age, reverse=True)


def toolkit_names(found: Sequence[Pair]) -> tuple[str, ...]:
    """How releases are named by toolkits, as short as each may be: ``cuda12.4``, newest first."""
    kept: dict[str, list[str]] = {}
    for pair in found:
        kept.setdefault(pair.toolkit.word, []).append(pair.version)
    return tuple(
        f"{word}{version}"
        for word, versions in sorted(kept.items())
        for version in sorted(dict.fromkeys(versions), key=version_key, reverse=True)
        if not any(version.startswith(f"{other}.") for other in versions)
    )


def _read(names: VendorNames, chip: str, sdk: str) -> tuple[ToolkitNames | None, str]:
    """The toolkit that a release names, and its version."""
    plain = sdk.casefold()
    for toolkit in sorted(names.toolkits, key=lambda one: -len(one.word)):
        rest = plain.removeprefix(toolkit.word)
        version = re.sub(r"^[-_=]?v?(?=(rc)?\d)", "", rest)
        is_one = rest != plain and re.match(r"(rc)?\d", version)
        if is_one and (not toolkit.chips or chip in toolkit.chips):
            return toolkit, version
    return None, ""


def _named(vendor: Vendor, toolkit: ToolkitNames, builds: Builds) -> Iterator[Pair]:
    """Pairs of every table that speaks of a toolkit."""
    yield from _of_table(vendor, toolkit)
    yield from _of_builds(vendor, toolkit, builds)
    yield from _own(vendor, toolkit)


def _of_table(vendor: Vendor, toolkit: ToolkitNames) -> Iterator[Pair]:
    """What the vendor's own table says."""
    for row in vendor.document.data["pairing"] if toolkit.package else ():
        text = str({**row, **row.get("packages", {})}.get(toolkit.package, ""))
        release = row.get("release") or row.get("branch", "").removeprefix(f"v{row['torch']}-")
        torch = major_minor(row["torch"])
        kept = re.findall(toolkit.pattern, text) if toolkit.pattern else [text]
        for version in (found for part in kept for found in _VERSION.findall(part)):
            yield Pair(toolkit, version, release, torch, newer=_OR_NEWER in text)


def _of_builds(vendor: Vendor, toolkit: ToolkitNames, builds: Builds) -> Iterator[Pair]:
    """What torch is built for, where the vendor's releases are those of torch."""
    for release, named in builds().items() if toolkit.build else ():
        for build in named:
            match = _BUILT.fullmatch(build)
            if match is not None and build.startswith(toolkit.build):
                version = match[3] or f"{match[1]}.{match[2]}"
                yield from _on(vendor, toolkit, version, release)


def _own(vendor: Vendor, toolkit: ToolkitNames) -> Iterator[Pair]:
    """What the vendor says elsewhere."""
    for version, releases in toolkit.pairs:
        for release in releases:
            yield from _on(vendor, toolkit, version, release)


def _on(vendor: Vendor, toolkit: ToolkitNames, version: str, torch: str) -> Iterator[Pair]:
    for release in vendor.files:
        if major_minor(release) == major_minor(torch):
            yield Pair(toolkit, version, release, major_minor(torch))


def _fits(wanted: str, pair: Pair) -> bool:
    """Whether a version is the one that was asked for, as far as both go."""
    if pair.newer and version_key(wanted) >= version_key(pair.version):
        return True
    asked, said = _parts(wanted), _parts(pair.version)
    return all(a == b for a, b in zip(asked, said, strict=False))


def _parts(version: str) -> list[str]:
    plain = version.casefold().removeprefix("rc")
    return [part for part in re.split(r"[.\-]|(?<=\d)(?=rc|post)", plain) if part]
