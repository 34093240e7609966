"""Operators of vendors where no plugin brings them: by what they compute, also as a module."""

import inspect
from collections.abc import Iterable, Sequence
from textwrap import indent

import torch
from torch.library import Library

from opcheck.rewrite.fusing.base import Fusion, VendorOperator

_LIBRARIES: list[Library] = []  # registrations live as long as their Library


def declare(fusions: Iterable[Fusion]) -> None:
    """Have torch know the operators that fusions call, and compute them on the host."""
    for fusion in fusions:
        for one in fusion.operators:
            namespace, _, name = one.name.partition("::")
            packet = getattr(getattr(torch.ops, namespace), name, None)
            library = Library(namespace, "FRAGMENT")
            if packet is None:
                library.define(f"{name}{one.signature}")
                library.impl(name, one.reference, "CompositeExplicitAutograd")
            elif not _computes(one.name):
                library.impl(name, one.reference, "CPU")
            _LIBRARIES.append(library)


def _computes(name: str) -> bool:
    """Whether the host has a kernel for an operator, be it a composite's."""
    has = torch._C._dispatch_has_computed_kernel_for_dispatch_key  # private, checked on 2.13.0
    return bool(has(name, "CPU"))


def module_text(operators: Sequence[VendorOperator], target: str) -> str:
    """A module whose import makes programs with these operators loadable and runnable anywhere.

    Where the vendor's plugin is installed it has the operators, and nothing is defined.
    """
    (plugin,) = {one.plugin for one in operators}
    functions = "\n\n\n".join(inspect.getsource(one.reference).rstrip() for one in operators)
    lines: list[str] = []
    for one in operators:
        namespace, _, name = one.name.partition("::")
        lines += [
            f'_library = torch.library.Library("{namespace}", "FRAGMENT")',
            f'_library.define("{name}{one.signature}")',
            f'_library.impl("{name}", {one.reference.__name__}, "CompositeExplicitAutograd")',
            "_LIBRARIES.append(_library)",
        ]
    return _TEMPLATE.format(
        plugin=plugin, target=target, functions=functions, lines=indent("\n".join(lines), "    ")
    )


_TEMPLATE = '''"""Operators of {plugin} where it is not installed: import this, then load a program.

Written by opcheck fix --better for {target}. With {plugin} nothing is defined here, and
the vendor's kernels run; without it the same is computed by PyTorch's own calls.
"""

import torch
from torch import Tensor


{functions}


_LIBRARIES = []
try:
    import {plugin}  # noqa: F401  # brings the operators
except ImportError:
{lines}
'''
