"""Environment variables that the vendor's software needs."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.model.environment import Environment


class Settings(Check):
    """``set_env.sh`` that was not sourced, a library folder that is not on the loader's path."""

    name = "environment"
    about = "an environment variable that is not set, or leaves out what it must hold"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Look at each variable that the vendor names."""
        found = ground.here.toolkits.get(vendor.vendor)
        usual = vendor.toolkit.places if vendor.toolkit else ()
        home = found.home if found else next(iter(usual), "")
        for setting in vendor.settings:
            value = ground.here.environ.get(setting.variable, "")
            wanted = setting.contains.format(home=home)
            if not value:
                text = f"it is not set: {setting.text}"
            elif wanted and wanted not in value:
                text = f"{wanted} is not in it: {setting.text}"
            else:
                continue
            yield self.finding(
                Severity.ERROR, setting.variable, text, (setting.command,), setting.evidence
            )
