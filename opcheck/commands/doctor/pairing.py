"""Which row of a vendor's table stands for what is installed, and which for what is asked."""

from collections.abc import Iterable

from packaging.utils import canonicalize_name

from opcheck.commands.doctor.installation import Distribution, Installation
from opcheck.commands.doctor.versions import Fit, fit, public
from opcheck.db.versions import version_key
from opcheck.errors import UsageError
from opcheck.model.environment import Environment, Pairing, Plugin

_ANY = (".x", ".*")
"""Ends of a version that leave the rest open."""


def found_plugin(here: Installation, plugin: Plugin) -> Distribution | None:
    """The plugin as it is installed."""
    return here.distributions.get(canonicalize_name(plugin.package))


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
    told = dict.fromkeys(_told(vendor, row) for row in rows)
    raise UsageError(
        f"no source pairs {asked or 'anything'} with a torch for {vendor.name}",
        f"known: {', '.join(told)}",
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


def _told(vendor: Environment, row: Pairing) -> str:
    toolkits = _toolkits(vendor, row)
    name = f" ({vendor.toolkit.name} {', '.join(toolkits)})" if vendor.toolkit and toolkits else ""
    return f"{row.release}{name}"
