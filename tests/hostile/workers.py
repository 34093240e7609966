"""Imported by a process that is copied: has a worker of opcheck with the models' libraries."""

from opcheck.model.request import ModelSpec
from opcheck.model.work import DeviceWork, WorkRequest
from opcheck.sandbox.parent.preloaded import copied_from
from opcheck.sandbox.parent.process import environment
from tests.preloaded.libraries import template

LOADED = template()
KEPT = copied_from(LOADED)
"""Open until the process ends: no copy may close what the others have."""
KEPT.__enter__()
LOADED.load(environment(WorkRequest(ModelSpec(""), ((DeviceWork(""),),))))
