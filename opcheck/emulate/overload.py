"""What is fixed about one overload on the emulated device, whatever it is called with."""

from typing import Any

import torch
from msgspec import Struct

from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.trace import Composite, OpName
from opcheck.trace.dispatcher import OverloadFacts, facts

CAST = frozenset(
    {"aten::_to_copy", "aten::to.dtype", "aten::to.device", "aten::to.dtype_layout",
     "aten::to.other", "aten::type_as"}
)  # fmt: skip
"""Overloads that change a tensor's dtype."""


class Overload(Struct, frozen=True):
    """One overload of torch as the target has it."""

    func: Any
    """``torch._ops.OpOverload``."""
    name: str
    """Schema spelling."""
    op: OpName
    facts: OverloadFacts
    native: bool
    """The target registers a kernel."""
    on_host: bool
    """No kernel, but the vendor's fallback and a CPU kernel, which need not be installed here."""
    conditions: tuple[Condition, ...]
    random: bool
    """Draws random numbers."""

    @property
    def composite(self) -> Composite | None:
        """The alias-key kernel that runs where the target has none."""
        return self.facts.composite

    @property
    def leaves(self) -> bool:
        """Whether every call runs on the host."""
        return self.on_host and not self.native and self.composite is None

    @classmethod
    def of(cls, func: Any, matrix: SupportMatrix) -> "Overload":
        """Look one overload up in the dispatcher and in the target's matrix."""
        known = facts(func)
        name = str(known.name)
        native = name in matrix.entries
        inside = known.composite is not None and not native
        on_cpu = matrix.extensions.get(name, known.cpu_kernel)
        return cls(
            func=func,
            name=name,
            op=known.name,
            facts=known,
            native=native,
            on_host=matrix.fallback.to_cpu and on_cpu,
            # what holds everywhere is looked at where the device is asked
            conditions=matrix.conditions.get(name, ()) if inside else matrix.conditions_for(name),
            random=torch.Tag.nondeterministic_seeded in func.tags,
        )
