"""Enflame: what the plugin Torch-FL registers in its build for the GCU."""

from pathlib import Path
from typing import ClassVar

from opcheck.db.importers.enflame import extract
from opcheck.db.importers.shared import plugins


class EnflameImporter(plugins.PluginImporter):
    """Reads what Torch-FL registers; what its code says lies beside this module."""

    name = "enflame"
    title = "Torch-FL"
    vendor_name = "Enflame"
    device_type = "flagos"
    repo = "flagos-ai/Torch-FL"
    paths: ClassVar = {plugins.LIST: extract.LIST, plugins.CODE: extract.CODE}
    code_file = Path(__file__).with_name("enflame_code.yaml")
    operators_file = Path(__file__).with_name("enflame_operators.yaml")

    def sources_of(self, release: str) -> dict[str, dict[str, str]]:
        """Torch-FL's own files, and that of its autocast."""
        return {**super().sources_of(release), "amp": self.code["sources"]["amp"]}
