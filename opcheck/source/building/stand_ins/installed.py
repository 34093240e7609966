"""The package of the device's own plugin, as far as code asks pip's records of it."""

import os
import re
from importlib.metadata import Distribution
from typing import NoReturn

from opcheck.model.environment import Environment
from opcheck.model.target import Target


class Installed(Distribution):
    """A package that is there in name alone: its module is stood in for."""

    def __init__(self, package: str, module: str, version: str) -> None:
        self.package, self.module = package, module
        self._version = version

    def is_named(self, name: str | None) -> bool:
        """Whether ``name`` is the package's, in any spelling; no name is that of all packages."""
        return name is None or _plain(name) == _plain(self.package)

    def read_text(self, filename: str) -> str | None:
        """Its metadata, and nothing else."""
        match filename:
            case "METADATA":
                return f"Metadata-Version: 2.1\nName: {self.package}\nVersion: {self._version}\n"
            case "top_level.txt":
                return f"{self.module}\n"
        return None

    def locate_file(self, path: str | os.PathLike[str]) -> NoReturn:
        """No file of it lies anywhere."""
        raise FileNotFoundError(path)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def plugin_of(environment: Environment | None, target: Target) -> Installed | None:
    """The plugin that a target's device needs; None where PyTorch itself brings the device.

    Args:
        environment: what the vendor's devices ask of a machine.
        target: it says the plugin's release, and the version of torch that it is for.
    """
    if environment is None or environment.plugin is None:
        return None
    package = environment.plugin.package
    paired = (
        row.packages[package]
        for row in environment.pairings
        if row.release.startswith(target.sdk)
        and row.torch.startswith(target.torch)
        and package in row.packages
    )
    return Installed(package, environment.plugin.module, next(paired, target.sdk))
