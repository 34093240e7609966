"""The emulated device: PyTorch's dispatcher with just one target's kernels.

The package is the function too: ``with opcheck.emulate("ascend-910b") as device:``. torch is
loaded when that is called, not before.
"""

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    def __call__(self, target: str, **options: Any) -> Any:
        """Give the context manager that opens the device, an :class:`.session.Emulator`."""
        from opcheck.emulate.session import Emulator

        return Emulator(target, **options)


sys.modules[__name__].__class__ = _Room
