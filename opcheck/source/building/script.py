"""What TorchScript says of a module: its parameters, and the inputs it was traced with."""

from typing import Any

import torch

from opcheck.source.building.example import Inputs, example
from opcheck.source.building.signature import Signature


def script_signature(module: Any) -> Signature:
    """Give the parameters of a TorchScript module's forward."""
    arguments = module.forward.schema.arguments[1:]
    names = tuple(argument.name for argument in arguments)
    required = tuple(argument.name for argument in arguments if not argument.has_default_value())
    return Signature(names, required)


def traced_inputs(module: Any) -> Inputs | None:
    """Make inputs of the shapes that the module was traced with; None if any is not known."""
    args = []
    for value in list(module.forward.graph.inputs())[1:]:
        kind = value.type()
        known = isinstance(kind, torch._C.TensorType) and kind.sizes() and kind.dtype()
        if not known:
            return None
        args.append(example(value.debugName(), tuple(kind.sizes()), kind.dtype()))
    return (tuple(args), {}) if args else None
