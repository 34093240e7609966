"""Scans one after the other with torch loaded once, as a fleet's are checked against.

``python -m benchmarks.bare_scans TARGET SOURCE…``: each in a process of its own, with nothing kept.
"""

import sys

from opcheck.commands.fleet.keys import libraries_of
from opcheck.commands.scan.answer import scan
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.work import DeviceWork, WorkRequest
from opcheck.sandbox.parent.preloaded import Template, copied_from
from opcheck.sandbox.parent.process import environment

if __name__ == "__main__":
    target, *sources = sys.argv[1:]
    requests = [ScanRequest(ModelSpec(source), (TargetSpec.parse(target),)) for source in sources]
    template = Template(libraries_of(requests))
    with copied_from(template):
        template.load(environment(WorkRequest(ModelSpec(""), ((DeviceWork(""),),))))
        for request in requests:
            scan(request)
    template.close()
