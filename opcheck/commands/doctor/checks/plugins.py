"""Plugins of torch: the torch that they are for, several at once, autoloading, other packages."""

import re
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.installation import Build, Distribution
from opcheck.commands.doctor.pairing import (
    Fit,
    at_least,
    fit,
    found_plugin,
    local,
    others_here,
    public,
    row_here,
    rows_for,
)
from opcheck.commands.doctor.setup import set_up
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.lang.sentence import Sentence
from opcheck.model.environment import Environment, Plugin
from opcheck.model.plugins import PLUGINS

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
            other = next(iter(others_here(ground.here, plugin)), "")
            text = Sentence(
                "{plugin} is not installed: torch does not know the device without it",
                plugin=plugin.package,
            )
            if other:
                text = Sentence(
                    "{plugin} is not installed; {package} brings the module {module} without what"
                    " this target needs",
                    plugin=plugin.package, package=other, module=plugin.module,
                )  # fmt: skip
                mends = (f"pip uninstall {other}", *mends)
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
            text = Sentence(
                "it was built for torch {wanted}; here is torch {version}",
                wanted=built[1],
                version=torch.version,
            )
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
            text = Sentence("no source pairs this release with a torch (known: {list})", list=known)
            yield self.finding(Severity.UNKNOWN, subject, text, (), plugin.evidence)
            return
        cited = tuple(dict.fromkeys(fact for row in rows for fact in row.evidence))
        fits = [fit(public(torch.version), row.torch) for row in rows]
        near = vendor.torch.same == "minor"
        if Fit.SAME in fits or (near and Fit.NEAR in fits):
            if not exact:
                said = ", ".join(dict.fromkeys(row.packages[plugin.package] for row in rows))
                text = Sentence("the vendor's table has {list}, and not this release", list=said)
                yield self.finding(Severity.UNKNOWN, subject, text, (), cited)
            return
        wanted = ", ".join(dict.fromkeys(row.torch for row in rows))
        text = Sentence(
            "the vendor pairs it with torch {list}; here is torch {version}",
            list=wanted,
            version=torch.version,
        )
        yield self.finding(Severity.ERROR, subject, text, mends, cited)


class SameModule(Check):
    """Packages with one module write over each other's files."""

    name = "same-module"
    about = "a package that brings the plugin's module too, such as onnxruntime for onnxruntime-gpu"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Look for packages that are there in place of the plugin."""
        plugin = vendor.plugin
        if plugin is None or found_plugin(ground.here, plugin) is None:
            return
        for other in others_here(ground.here, plugin):
            text = Sentence(
                "it brings the module {module} as {plugin} does: the one installed last counts",
                module=plugin.module, plugin=plugin.package,
            )  # fmt: skip
            mends = (
                f"pip uninstall {other} {plugin.package}",
                *set_up(vendor, ground.torch, ground.chip, ground.here.torch).commands,
            )
            yield self.finding(Severity.ERROR, other, text, mends, plugin.evidence)


_PACKAGES = sorted(module.replace("_", "-") for module in PLUGINS.values())
"""Those that rename PrivateUse1, by their normalised names."""


class SeveralPlugins(Check):
    """torch has one name to give away, once in a process."""

    name = "several-plugins"
    about = "two plugins that both rename torch's one outside device"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Count the plugins that are installed."""
        here = [name for name in _PACKAGES if name in ground.here.distributions]
        if len(here) > 1:
            text = "each renames PrivateUse1, which torch allows once in a process"
            mends = tuple(f"pip uninstall {name}" for name in here[1:])
            yield self.finding(
                Severity.ERROR, ", ".join(here), text, mends, ground.torch.one_backend_evidence
            )


class Autoload(Check):
    """A program that counts on ``import torch`` alone does not find the device then."""

    name = "autoload"
    about = "TORCH_DEVICE_BACKEND_AUTOLOAD=0 beside a plugin"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Look at the variable where a plugin is installed."""
        plugin, torch, said = vendor.plugin, ground.here.torch, ground.torch
        if plugin is None or torch is None or found_plugin(ground.here, plugin) is None:
            return
        variable = "TORCH_DEVICE_BACKEND_AUTOLOAD"
        value = ground.here.environ.get(variable, "1")
        if value != "1" and at_least(torch.version, said.autoload_since):
            text = Sentence(
                "{text} keeps import torch from loading {plugin}: import it yourself",
                text=repr(value),
                plugin=plugin.package,
            )
            mends = (f"unset {variable}",)
            yield self.finding(Severity.WARNING, variable, text, mends, said.autoload_evidence)


class PairedPackages(Check):
    """A library for Python that is of another release than the plugin was built with."""

    name = "paired-package"
    about = "a library that the vendor pairs with the plugin, in another release"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Compare each with the row of the plugin that is here."""
        row = row_here(ground.here, vendor)
        for name in vendor.packages if row else ():
            said = row.packages.get(name, "") if row else ""
            found = ground.here.distributions.get(canonicalize_name(name))
            if not (row and said):
                continue
            mends = (f"pip install {name}=={said}",)
            if found is None:
                text = Sentence(
                    "it is not installed; the vendor pairs {version} with {release}",
                    version=said,
                    release=row.release,
                )
                yield self.finding(Severity.ERROR, name, text, mends, row.evidence)
            elif fit(found.version, said) is Fit.DIFFERENT:
                text = Sentence(
                    "the vendor pairs {version} with {release}", version=said, release=row.release
                )
                subject = f"{name} {found.version}"
                yield self.finding(Severity.ERROR, subject, text, mends, row.evidence)
