"""Imported by a process that is copied: has one worker of opcheck loaded for all of its copies."""

from opcheck.model.request import ModelSpec
from opcheck.model.work import DeviceWork, WorkRequest
from opcheck.sandbox.parent.preloaded import Template, copied_from
from opcheck.sandbox.parent.process import environment
from tests.preloaded.libraries import OF_RUNS

LOADED = Template(OF_RUNS)
KEPT = copied_from(LOADED)
"""Open until the process ends: no copy may close what the others have."""
KEPT.__enter__()
LOADED.load(environment(WorkRequest(ModelSpec(""), ((DeviceWork(""),),))))
