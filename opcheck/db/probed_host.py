"""The host as a vendor of its own, so that a probe of it can be read as a target's."""

from collections.abc import Mapping

from opcheck.db.importers.yamltext import end, flow, scalar

HOST = "cpu"
"""The vendor that stands for the host, which is none of the database."""
_LIST = "aten/src/ATen/native/native_functions.yaml"


def host_files(torch_version: str, day: str) -> Mapping[str, str]:
    """A vendor's two files for the host, so that what was run on it can be read as a target's."""
    release = ".".join(torch_version.partition("+")[0].split(".")[:3])
    torch = ".".join(release.split(".")[:2])
    source = flow({"repo": "pytorch/pytorch", "ref": f"v{release}", "commit": "", "path": _LIST})
    reason = scalar("The host, that a probe of it can be read.")
    vendor = [
        "schema: opcheck.vendor/1",
        f"vendor: {HOST}",
        "name: The host",
        f"reason: {reason}",
        f"device_type: {HOST}",
        "dispatch_key: CPU",
        "sources:",
        f"  torch: {source}",
        "chips:",
        '  "": {name: The host, at: [torch]}',
        "fallback:",
        "  to_cpu: false",
        "  text: \"Could not run '{op}'\"",
        "  at: [torch]",
        "pairing: []",
        *end(),
    ]
    matrix = [
        "schema: opcheck.matrix/1",
        f"vendor: {HOST}",
        f"release: {scalar(release)}",
        f"reason: {reason}",
        f"date: {scalar(day)}",
        f'torch: ["{torch}"]',
        "sources:",
        f"  torch: {source}",
        "operators: {}",
        *end(),
    ]
    return {
        f"{HOST}/vendor.yaml": "".join(f"{line}\n" for line in vendor),
        f"{HOST}/{release}.yaml": "".join(f"{line}\n" for line in matrix),
    }
