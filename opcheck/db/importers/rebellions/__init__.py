"""Rebellions: the plugin torch-rbln, whose kernels compute in float16 alone."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, ClassVar

from opcheck.db.importers.rebellions import extract
from opcheck.db.importers.shared import facts, plugins

_ON_HOST = "registered, and its kernel hands every call to the host CPU"


class RebellionsImporter(plugins.PluginImporter):
    """Reads what torch-rbln registers; what its code says lies beside this module."""

    name = "rebellions"
    title = "torch-rbln"
    vendor_name = "Rebellions"
    device_type = "rbln"
    repo = "RBLN-SW/torch-rbln"
    paths: ClassVar = {plugins.LIST: extract.LIST, plugins.CODE: extract.CODE}
    code_file = Path(__file__).with_name("rebellions_code.yaml")
    operators_file = Path(__file__).with_name("rebellions_operators.yaml")

    def conditions(self, release: str, operators: Collection[str]) -> Iterator[dict[str, Any]]:
        """A condition for each operator whose kernel is the fallback itself, and the facts."""
        for name, said in sorted(self.listed(release).items()):
            if "host" in said and f"aten::{name}" in operators:
                yield {
                    "ops": [f"aten::{name}"],
                    "code": "computed-on-host",
                    "verdict": "fallback",
                    "text": _ON_HOST,
                    "at": [f"{plugins.CODE}:{said['at']}"],
                }
        yield from super().conditions(release, operators)

    def advisories(self, release: str) -> Iterator[dict[str, Any]]:
        """What its code says of every call."""
        for said in self.code["advisories"]:
            if at := facts.citation(said["seen"], release, plugins.LIST):
                chips = list(self.code["chips"])
                yield {"code": said["code"], "text": said["text"], "at": [at], "chips": chips}
