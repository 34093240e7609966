"""Lets any Python of the development environment import torchvision, and timm with it.

The package index has torchvision's binary for CUDA only, and that does not load beside a CPU
torch. ``make setup`` puts this beside a ``.pth`` file that imports it at start-up. It costs nothing
until torchvision is imported; opcheck itself does the same when it loads a model.
"""

import sys


class _BeforeTorchvision:
    """A finder that finds nothing, but is asked first."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Define torchvision's operators, then leave its import to the other finders."""
        if name == "torchvision":
            sys.meta_path.remove(self)
            from opcheck.source.building import torchvision_operators

            torchvision_operators.prepare()


sys.meta_path.insert(0, _BeforeTorchvision())
