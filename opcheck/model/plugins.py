"""The device types that vendors' plugins name, none of which torch knows by itself."""

from collections.abc import Mapping

PLUGINS: Mapping[str, str] = {
    "flagos": "torch_fl", "mlu": "torch_mlu", "musa": "torch_musa", "npu": "torch_npu",
    "rbln": "torch_rbln", "supa": "torch_supa",
}  # fmt: skip
"""Device type -> the module of Python that renames PrivateUse1 to it."""
