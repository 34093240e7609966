"""The emulated device: PyTorch's dispatcher with just one target's kernels.

The package is the function too: ``with opcheck.emulate("ascend-910b") as device:``. torch is
loaded when that is called, not before.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opcheck.model.matrix import SupportMatrix
    from opcheck.model.verdict import Confidence


class _Room(ModuleType):
    def __call__(
        self,
        target: "str | SupportMatrix",
        *,
        values: bool = True,
        stop: bool = True,
        as_cuda: bool = False,
        confidence: "Confidence | str" = "low",
        databases: Sequence[str | Path] = (),
        shims: Sequence[str | Path] = (),
    ) -> Any:
        """Give the context manager that opens the device, an :class:`.session.Emulator`.

        Args:
            target: as on the command line, ``"ascend-910b"`` or ``"ascend-910b@6.0.0"``.
            values: compute on the host; else follow only dtypes, shapes and strides.
            stop: raise where the device refuses a call; else note it and go on.
            as_cuda: take ``cuda`` for the device inside the block.
            confidence: the least sure condition that refuses a call.
            databases: folders of overlays, as ``--db`` takes them; the last one holds.
            shims: files that ``opcheck fix --shim`` wrote.
        """
        from opcheck.emulate.session import Emulator

        return Emulator(
            target, values=values, stop=stop, as_cuda=as_cuda, confidence=confidence,
            databases=databases, shims=shims,
        )  # fmt: skip


sys.modules[__name__].__class__ = _Room
