"""The plugins that the code names, held against what the database says of each vendor."""

from opcheck.db.store import Database
from opcheck.model.plugins import PLUGINS
from opcheck.model.target import TargetKind


def test_plugins_are_those_of_the_database() -> None:
    database, found = Database.open(), dict[str, str]()
    devices = [one for one in database.vendors.values() if one.kind is TargetKind.DEVICE]
    for vendor in devices:
        environment = database.environment(vendor.name)
        key = vendor.document.data.get("dispatch_key", "PrivateUse1")
        if key == "PrivateUse1" and environment is not None and environment.plugin is not None:
            found[environment.device_type] = environment.plugin.module
    assert found == PLUGINS
