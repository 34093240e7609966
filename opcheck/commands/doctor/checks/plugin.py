"""The plugin, and the torch that it is for."""

import re
from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.installation import Build, Distribution
from opcheck.commands.doctor.pairing import found_plugin, rows_for
from opcheck.commands.doctor.setup import set_up
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.commands.doctor.versions import Fit, fit, local, public
from opcheck.model.environment import Environment, Plugin

_BUILT_FOR = re.compile(r"(?:^|[._])(?:torch|pt)(\d+(?:\.\d+)+)")


class PluginPairing(Check):
    """A plugin that is missing, that is for another torch, or that no table has."""

    name = "plugin"
    about = "a plugin that is missing, or that the vendor pairs with another torch"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Look the plugin and torch up in the vendor's table."""
        plugin, torch = vendor.plugin, ground.here.torch
        if plugin is None:
            return
        found = found_plugin(ground.here, plugin)
        mends = set_up(vendor, ground.torch, ground.chip, torch).commands
        if found is None:
            text = f"{plugin.package} is not installed: torch does not know the device without it"
            yield self.finding(Severity.ERROR, plugin.package, text, mends, plugin.evidence)
        elif torch is not None:
            yield from self._paired(vendor, plugin, found, torch, mends)

    def _paired(
        self,
        vendor: Environment,
        plugin: Plugin,
        found: Distribution,
        torch: Build,
        mends: tuple[str, ...],
    ) -> Iterator[DoctorFinding]:
        subject = f"{plugin.package} {found.version}"
        built = _BUILT_FOR.search(local(found.version))
        if built and fit(torch.version, built[1]) is not Fit.SAME:
            text = f"it was built for torch {built[1]}; here is torch {torch.version}"
            yield self.finding(Severity.ERROR, subject, text, mends, plugin.evidence)
            return
        rows, exact = rows_for(vendor, plugin, found.version)
        if not rows:
            known = ", ".join(
                dict.fromkeys(
                    row.packages[plugin.package]
                    for row in vendor.pairings
                    if plugin.package in row.packages
                )
            )
            text = f"no source pairs this release with a torch (known: {known})"
            yield self.finding(Severity.UNKNOWN, subject, text, (), plugin.evidence)
            return
        cited = tuple(dict.fromkeys(fact for row in rows for fact in row.evidence))
        fits = [fit(public(torch.version), row.torch) for row in rows]
        near = vendor.torch.same == "minor"
        if Fit.SAME in fits or (near and Fit.NEAR in fits):
            if not exact:
                said = ", ".join(dict.fromkeys(row.packages[plugin.package] for row in rows))
                text = f"the vendor's table has {said}, and not this release"
                yield self.finding(Severity.UNKNOWN, subject, text, (), cited)
            return
        wanted = ", ".join(dict.fromkeys(row.torch for row in rows))
        text = f"the vendor pairs it with torch {wanted}; here is torch {torch.version}"
        yield self.finding(Severity.ERROR, subject, text, mends, cited)
