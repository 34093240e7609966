"""``opcheck fix --better``: what was fused, and what that brings."""

from msgspec import Struct

from opcheck.model.fusing import FusedCalls, LeftCalls, ModelCheck
from opcheck.model.report import ModelInfo

SCHEMA = "opcheck.better/1"


class Better(Struct, frozen=True):
    """A model with calls fused into kernels that its target has."""

    opcheck_version: str
    torch_version: str
    model: ModelInfo
    target: str
    files: tuple[str, ...]
    """What was written; empty where that was not asked for, or the proof failed."""
    fused: tuple[FusedCalls, ...]
    left: tuple[LeftCalls, ...]
    check: ModelCheck | None
    """None where nothing was fused."""
    newly_off: tuple[str, ...]
    """Overloads that leave the device, or are refused there, since calls were fused."""
    calls: int
    """Of the program as it was that do work on a device."""
    moved: int
    """Bytes that these read and write."""
    text: str = ""
    """What goes to stdout instead of a file: a unified diff."""
    layers: tuple[str, ...] = ()
    """``file:line Class`` of the classes whose forward was written anew."""
    product: str = ""
    """What the chip is sold as, whose bandwidth seconds are by; "" where none is known."""

    @property
    def holds(self) -> bool:
        """Whether all that was tried is as near as it may be."""
        near = all(check.holds for one in self.fused for check in one.checks)
        return near and not self.newly_off and (self.check is None or self.check.holds)

    @property
    def calls_saved(self) -> int:
        """How many calls fewer there are."""
        return sum(one.calls_before - one.calls_after for one in self.fused)

    @property
    def bytes_saved(self) -> int:
        """How many bytes fewer are read and written."""
        return sum(one.bytes_before - one.bytes_after for one in self.fused)
