"""How versions compare, which row of a vendor's table fits them, and which vendors are here."""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from opcheck.commands.doctor.installation import Distribution, FoundDriver, Installation
from opcheck.db.versions import version_key
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.environment import Environment, Pairing, Plugin

_READABLE = re.compile(r"v?\d+(?:[._-]?(?:rc|post|dev|alpha|beta|a|b)?\d+)*", re.IGNORECASE)
_RELEASE = re.compile(r"v?(?P<release>\d+(?:\.\d+)*)(?P<tail>.*)", re.IGNORECASE)
_NEAR = 2
"""How many numbers must agree for two versions to be near."""
_OR_NEWER = re.compile(r"(\S+) or newer")
_PACKAGING = re.compile(r"-\d+")
"""The number of a build behind a version: ``4.0.1-1``."""


class Fit(StrEnum):
    """How a version that was found goes with what is said, best first."""

    SAME = "same"
    NEAR = "near"
    """The first two numbers agree."""
    DIFFERENT = "different"
    UNREADABLE = "unreadable"
    """One of them is no version."""


_ORDER = tuple(Fit)


def fit(found: str, said: str) -> Fit:
    """Compare ``found`` with ``said``: a version, several of them, or one ``or newer``.

    As far as both go: ``6.3`` is said of ``6.3.2`` too, and found it may be it.
    """
    return min((_fit(found, each.strip()) for each in said.split(",")), key=_ORDER.index)


def public(version: str) -> str:
    """A version without its local part and the number of its packaging: ``2.7.1``."""
    plain = version.strip().partition("+")[0]
    return _PACKAGING.sub("", plain) if _PACKAGING.search(plain) else plain


def local(version: str) -> str:
    """The local part of a version: ``cpu`` of ``2.7.1+cpu``."""
    return version.partition("+")[2]


def readable(version: str) -> bool:
    """Whether a text is a version."""
    return bool(_READABLE.fullmatch(public(version)))


def older(found: str, least: str) -> bool:
    """Whether a version is older than another, both being readable."""
    ours, theirs = _numbers(found), _numbers(least)
    return ours[: len(theirs)] < theirs


def at_least(version: str, since: str) -> bool:
    """Whether a version is ``since`` or newer, in the order of packages of Python."""
    try:
        return Version(public(version)) >= Version(since)
    except InvalidVersion:
        return not older(version, since)


def _fit(found: str, said: str) -> Fit:
    if newer := _OR_NEWER.fullmatch(said):
        if not (readable(found) and readable(newer[1])):
            return Fit.UNREADABLE
        return Fit.DIFFERENT if older(found, newer[1]) else Fit.SAME
    if not (readable(found) and readable(said)):
        return Fit.UNREADABLE
    (ours, tail), (theirs, other) = _parts(found), _parts(said)
    common = min(len(ours), len(theirs))
    if ours[:common] == theirs[:common] and tail == other:
        return Fit.SAME
    same = min(common, _NEAR)
    return Fit.NEAR if ours[:same] == theirs[:same] else Fit.DIFFERENT


def _parts(version: str) -> tuple[tuple[int, ...], str]:
    """The numbers of a release, and what comes behind: ``rc3``, ``post8``."""
    match = _RELEASE.match(public(version))
    assert match is not None, version  # every caller asks whether it is readable
    tail = re.sub(r"[._-]", "", match["tail"]).lower()
    return tuple(map(int, match["release"].split("."))), tail


def _numbers(version: str) -> tuple[int, ...]:
    return version_key(public(version))


_ANY = (".x", ".*")
"""Ends of a version that leave the rest open."""


def found_plugin(here: Installation, plugin: Plugin) -> Distribution | None:
    """The plugin as it is installed."""
    return here.distributions.get(canonicalize_name(plugin.package))


def others_here(here: Installation, plugin: Plugin) -> tuple[str, ...]:
    """Packages that are installed and bring the plugin's module in its place."""
    return tuple(name for name in plugin.others if canonicalize_name(name) in here.distributions)


def rows_for(vendor: Environment, plugin: Plugin, version: str) -> tuple[tuple[Pairing, ...], bool]:
    """The rows of a release of the plugin, and whether they are of exactly this one."""
    judged = [
        (row, fit(public(version), said))
        for row in vendor.pairings
        if (said := row.packages.get(plugin.package))
    ]
    same = tuple(row for row, how in judged if how is Fit.SAME)
    return (same, True) if same else (tuple(r for r, how in judged if how is Fit.NEAR), False)


def rows_here(here: Installation, vendor: Environment) -> tuple[Pairing, ...]:
    """The rows of the plugin and the torch that are here; () where none is of both."""
    rows = vendor.pairings
    if vendor.plugin is not None:
        found = found_plugin(here, vendor.plugin)
        rows = rows_for(vendor, vendor.plugin, found.version)[0] if found else ()
    torch = here.torch
    if torch is None:
        return rows if vendor.plugin is not None else ()
    return tuple(row for row in rows if _of_torch(vendor, row, torch.version))


def row_here(here: Installation, vendor: Environment) -> Pairing | None:
    """The newest of these rows."""
    return next(iter(rows_here(here, vendor)), None)


def rows_planned(
    vendor: Environment, releases: Iterable[str], sdk: str = "", torch: str = ""
) -> tuple[Pairing, ...]:
    """The rows that a target names, by its release or by its toolkit, the newest first.

    ``releases`` are those that the chip is known to; ``sdk`` may leave its end open: ``8.x``.

    Raises:
        UsageError: there are rows, and none that the target names.
    """
    rows = [row for row in vendor.pairings if _knows(row, tuple(releases))]
    found = [row for row in rows if _named(vendor, row, sdk) and _of(torch, row.torch)]
    if found or not vendor.pairings:
        return tuple(found)
    asked = " and ".join(filter(None, (sdk, torch and f"torch {torch}")))
    told = dict.fromkeys(_row_name(vendor, row) for row in rows)
    raise UsageError(
        Sentence(
            "no source pairs {text} with a torch for {text2}",
            text=asked or "anything",
            text2=vendor.name,
        ),
        Sentence("known: {text}", text=", ".join(told)),
    )


def _knows(row: Pairing, releases: tuple[str, ...]) -> bool:
    """Whether a row lies between the oldest and the newest release that a chip is known to."""
    if not releases:
        return True
    keys = sorted(map(version_key, releases))
    key = version_key(row.release)
    return keys[0] <= key and key[: len(keys[-1])] <= keys[-1]


def _of_torch(vendor: Environment, row: Pairing, torch: str) -> bool:
    how = fit(public(torch), row.torch)
    return how is Fit.SAME or (vendor.torch.same == "minor" and how is Fit.NEAR)


def _named(vendor: Environment, row: Pairing, sdk: str) -> bool:
    names = [row.release, *_toolkits(vendor, row)]
    return not sdk or any(_of(sdk, name) for name in names)


def _toolkits(vendor: Environment, row: Pairing) -> list[str]:
    said = row.packages.get(vendor.toolkit.package, "") if vendor.toolkit else ""
    return [each.strip() for each in said.split(",") if each.strip()]


def _of(asked: str, version: str) -> bool:
    """Whether a version is the one that was asked for: in full, or as far as it goes."""
    for end in _ANY:
        asked = asked.removesuffix(end)
    wanted, here = asked.lower(), version.lower()
    return not wanted or here == wanted or here.startswith(f"{wanted}.")


def _row_name(vendor: Environment, row: Pairing) -> str:
    toolkits = _toolkits(vendor, row)
    name = f" ({vendor.toolkit.name} {', '.join(toolkits)})" if vendor.toolkit and toolkits else ""
    return f"{row.release}{name}"


_TELLING = frozenset({"cuda", "rocm", "xpu"})
"""Builds of torch that are for one kind of device."""


def present(here: Installation, vendor: Environment) -> bool:
    """Whether a plugin, a toolkit, a driver or a build of torch of this vendor's is here."""
    return _owned(here, vendor) or _built(here, vendor)


def present_vendors(here: Installation, vendors: Mapping[str, Environment]) -> Iterator[str]:
    """The vendors of which something is here, by name.

    A build of torch alone counts only where nothing else tells whose it is: DTK's is for ROCm too.
    """
    owned = [name for name in sorted(vendors) if _owned(here, vendors[name])]
    built = [name for name in sorted(vendors) if _built(here, vendors[name])]
    told = {vendors[name].torch.build for name in owned}
    yield from owned
    for name in built:
        build = vendors[name].torch.build
        if name not in owned and build not in told and vendors[name].plugin is None:
            told.add(build)
            yield name


def _owned(here: Installation, vendor: Environment) -> bool:
    if vendor.plugin is not None:
        if found_plugin(here, vendor.plugin) is not None or others_here(here, vendor.plugin):
            return True
        if vendor.torch.build in _TELLING:
            return False  # the driver and the toolkit are those of another vendor's name
    if vendor.systems.names == ("Darwin",):
        return here.system == "Darwin"
    own = here.drivers.get(vendor.vendor)
    toolkit = here.toolkits.get(vendor.vendor)
    return toolkit is not None or (own is not None and _is_own(own))


def _is_own(driver: FoundDriver) -> bool:
    """Whether a driver was told by more than a device file that vendors share."""
    return bool(driver.version or driver.chips) or driver.devices != ("/dev/kfd",)


def _built(here: Installation, vendor: Environment) -> bool:
    torch = here.torch
    return torch is not None and torch.kind in _TELLING and torch.kind == vendor.torch.build
