"""What PyTorch's dispatcher says about one overload.

Private torch API used here, checked on 2.13.0: ``torch._C._dispatch_dump`` (for alias keys, which
not every torch answers for otherwise), ``torch._C._dispatch_has_kernel_for_dispatch_key``,
``torch._C._dispatch_has_computed_kernel_for_dispatch_key``,
``torch._C._functorch.peek_interpreter_stack`` and
``torch._functorch.pyfunctorch.temporarily_clear_interpreter_stack``.
``OpOverload.has_kernel_for_dispatch_key`` is no substitute: it counts Python decompositions, which
the dispatcher never runs.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

from opcheck.model.names import OpName
from opcheck.model.trace import Composite

_ALIAS = re.compile(r"^(Composite\w+)\[alias\]:", re.MULTILINE)
_ORDER = (Composite.IMPLICIT, Composite.EXPLICIT, Composite.NON_FUNCTIONAL)


ALIASES = frozenset((torch.ops.aten.detach.default, torch.ops.aten.alias.default))
"""Composites that only make another view of a tensor, without any device work.

They are not taken apart: under a mode, C++ asks Python for ``detach`` from inside them.
"""


@dataclass(frozen=True, slots=True)
class OverloadFacts:
    """The registrations of one overload in the running torch."""

    name: OpName
    composite: Composite | None
    cpu_kernel: bool
    """A CPU tensor reaches some kernel, its own or a composite."""
    backend_select: bool
    """A ``device`` argument decides where it runs although no tensor is there."""
    argument_names: tuple[str, ...]
    defaults: tuple[Any, ...]
    """Default of each argument; an unset one is ``...``."""


@cache
def facts(func: Any) -> OverloadFacts:
    """Look one ``torch._ops.OpOverload`` up in the dispatcher."""
    name = func.name()
    arguments = func._schema.arguments
    return OverloadFacts(
        name=OpName.parse(name),
        composite=composite_kind(name),
        cpu_kernel=torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "CPU"),
        backend_select=torch._C._dispatch_has_kernel_for_dispatch_key(name, "BackendSelect"),
        argument_names=tuple(a.name for a in arguments),
        defaults=tuple(a.default_value if a.has_default_value() else ... for a in arguments),
    )


def overload_named(name: str) -> Any:
    """The ``torch._ops.OpOverload`` of a schema name; None where the running torch has none."""
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    return None if packet is None else getattr(packet, overload or "default", None)


def composite_kind(name: str) -> Composite | None:
    """Which alias-key kernel the overload has; the implicit one wins, as in the dispatcher."""
    kinds = set(_ALIAS.findall(torch._C._dispatch_dump(name)))
    return next((kind for kind in _ORDER if kind.value in kinds), None)


def run_composite(func: Any, kind: Composite, args: Any, kwargs: Any) -> Any:
    """Run the composite kernel itself; what it calls goes through the dispatcher as usual."""
    key = getattr(torch._C.DispatchKey, kind.value)
    if torch._C._functorch.peek_interpreter_stack() is None:
        return func._op_dk(key, *args, **kwargs)
    # Inside vmap the tensors here are plain already; its layers would batch the inner calls again.
    with temporarily_clear_interpreter_stack():
        return func._op_dk(key, *args, **kwargs)
