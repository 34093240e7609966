"""A TorchScript module, loaded, and what it says: its parameters, and its inputs as traced."""

from pathlib import Path
from typing import Any

import torch
from torch.jit._recursive import wrap_cpp_module

from opcheck.source.archive import open_archive
from opcheck.source.building.example import Inputs, example
from opcheck.source.building.script_check import check_code, check_graphs
from opcheck.source.building.signature import Signature


def load_script(path: Path, *, trust: bool) -> Any:
    """Load what ``torch.jit.save`` wrote; unless trusted, nothing in it does more than compute.

    Raises:
        SourceError: its code or a graph of it would do more.
    """
    with open_archive(path) as archive:
        traced = any(member.endswith("/traced_inputs.pkl") for member in archive.members)
        if not trust:
            check_code(path, archive)
    # private, and what torch.jit.load does; checked with torch 2.13
    compiled = torch._C.CompilationUnit()
    module = torch._C.import_ir_module(  # type: ignore[call-arg]  # the stub lacks the last one
        compiled, str(path), torch.device("cpu"), {}, traced
    )
    if not trust:
        check_graphs(path, compiled)
    return wrap_cpp_module(module)


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
