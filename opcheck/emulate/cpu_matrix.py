"""A matrix whose device takes everything as the CPU does, for a run to compare others with.

The device keeps its name, so that a script that names it runs. It has a kernel for each overload
that the CPU computes, all dtypes, and none of the vendor's casts, conditions and gradients.
"""

import torch

from opcheck.emulate.registration import aten_overloads
from opcheck.model.matrix import Entry, Fallback, SupportMatrix
from opcheck.model.trace import Composite
from opcheck.trace.torch_internals.dispatcher import (
    RAISING,
    SHALLOW_COPY,
    facts,
    overload_named,
)

CHIP = "CPU"
"""What such a device says it is called."""
_ATTENTION = "aten::scaled_dot_product_attention"
"""Whole, as PyTorch chooses another kernel for it on the CPU than on any other device."""
_CHOOSES = "aten::_fused_sdp_choice"


def cpu_matrix(matrix: SupportMatrix) -> SupportMatrix:
    """Give the matrix of a device that has the name of the target's, and computes as the CPU."""
    return SupportMatrix(
        target=matrix.target,
        entries={
            **{name: Entry(name, ()) for name in sorted(aten_overloads()) if _computed(name)},
            _ATTENTION: Entry(_ATTENTION, (), keys=("PrivateUse1", "AutogradPrivateUse1")),
            SHALLOW_COPY: Entry(SHALLOW_COPY, ()),  # a module that moves keeps its parameters
        },
        conditions={},
        fallback=Fallback(to_cpu=True, text="", evidence=()),
        history=matrix.history,
        extensions=matrix.extensions,
        database_digest=matrix.database_digest,
        collectives=matrix.collectives,
        libraries=matrix.libraries,
        chip_name=CHIP,
        capability=matrix.capability,
    )


def _computed(name: str) -> bool:
    """Whether the CPU has a kernel of its own, or nothing else would compute the overload."""
    if name in RAISING:
        return True
    func = overload_named(name)
    if func is None or name == _CHOOSES:
        return False
    known = facts(func)
    if known.composite is None:
        return True
    own = torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU")
    return own and known.composite is not Composite.IMPLICIT
