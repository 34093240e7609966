"""A small Python file that gives a target the kernels it lacks, so that a model runs unchanged."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Suggestion
from opcheck.rewrite.text import Module
from opcheck.rewrite.variants import functional
from opcheck.source.building import torchvision_operators
from opcheck.trace.torch_internals.dispatcher import overload_named

PLUGINS = {"npu": "torch_npu", "mlu": "torch_mlu", "musa": "torch_musa"}
"""Device type -> the package that brings it."""


class Skipped(Struct, frozen=True):
    """A suggestion that a shim cannot follow, and why."""

    suggestion: Suggestion
    reason: str


class Shim(Struct, frozen=True):
    """A file to import beside the vendor's plugin."""

    text: str
    """"" where there is nothing to register."""
    registered: tuple[Suggestion, ...]
    """One for each overload, sorted by it."""
    skipped: tuple[Skipped, ...]


def shim(matrix: SupportMatrix, suggestions: Iterable[Suggestion]) -> Shim:
    """Register the code of suggestions at the target's dispatch key, with autograd.

    Args:
        matrix: of the target; an overload that it has a kernel for keeps that kernel.
        suggestions: the first one for an overload counts.
    """
    torchvision_operators.prepare()
    chosen: dict[str, Suggestion] = {}
    skipped: list[Skipped] = []
    for way in suggestions:
        reason = _not_for_a_shim(way, matrix)
        if reason:
            skipped.append(Skipped(way, reason))
        elif way.replaces not in chosen:
            chosen[way.replaces] = way
    ways = tuple(chosen[op] for op in sorted(chosen))
    return Shim(_text(matrix, ways) if ways else "", ways, tuple(skipped))


def _not_for_a_shim(way: Suggestion, matrix: SupportMatrix) -> str:
    if not way.code:
        return "it is nothing that code could stand for"
    if way.whole:
        return "it changes what calls hand to each other, which no kernel can"
    if way.replaces in matrix.entries:
        return Sentence(
            "the target has a kernel for {op}, which refuses this use; a shim would take its "
            "place for every other use as well",
            op=way.replaces,
        )
    return ""


_HEAD = '''\
"""Kernels that {target} lacks, from what it has; written by opcheck {version}.

Import it once, after {plugin}:

    import {plugin}
    import {module}

{rows}
"""
'''
_TAIL = '''\
LIBRARIES = []
"""Dropping them takes the kernels away again."""


def _register(overload, kernel, *keys):
    namespace, name = overload.split("::")
    library = torch.library.Library(namespace, "IMPL")
    for key in keys:
        library.impl(name, kernel, key)
    LIBRARIES.append(library)


{calls}
'''
_WRITTEN = '''\
def _writing(kernel, *names):
    """Let a kernel that gives new tensors write them where the caller says."""

    def written(*args, **kwargs):
        places = [kwargs.pop(name) for name in names] or args[:1]
        results = kernel(*args, **kwargs)
        results = results if isinstance(results, (tuple, list)) else (results,)
        for place, result in zip(places, results):
            if place.shape != result.shape:
                place.resize_(result.shape)
            place.copy_(result)
        return places[0] if len(places) == 1 else tuple(places)

    return written
'''


def _text(matrix: SupportMatrix, ways: Sequence[Suggestion]) -> str:
    from opcheck.version import __version__

    module, key = Module(), matrix.dispatch_key
    calls, writing = [], False
    for way in ways:
        kernel = module.add(way.code, way.function)
        outs = _written(way.replaces)
        if functional(way.replaces) != way.replaces:
            writing = True
            kernel = f"_writing({', '.join([kernel, *map(repr, outs)])})"
            calls.append(f'_register("{way.replaces}", {kernel}, "{key}")')
        else:
            calls.append(f'_register("{way.replaces}", {kernel}, "{key}", "Autograd{key}")')
    head = _HEAD.format(
        target=matrix.target,
        version=__version__,
        plugin=PLUGINS.get(matrix.target.device_type, "torch"),
        module="this_file",
        rows="\n".join(f"{way.replaces}: {way.rule} ({way.label.value})" for way in ways),
    )
    imports = module.imports
    if any(way.replaces.startswith("torchvision::") for way in ways):
        imports = f"{imports}\nimport torchvision"
    if "import torch" not in imports.splitlines():
        imports = f"import torch\n{imports}"
    parts = [module.body, *([_WRITTEN.rstrip()] if writing else []), _tail(calls)]
    return f"{head}\n{imports.strip()}\n\n\n" + "\n\n\n".join(parts) + "\n"


def _tail(calls: Sequence[str]) -> str:
    return _TAIL.format(calls="\n".join(calls)).rstrip()


def _written(op: str) -> list[str]:
    """Names of the ``out=`` arguments."""
    return [a.name for a in overload_named(op)._schema.arguments if a.is_out]
