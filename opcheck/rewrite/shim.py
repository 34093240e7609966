"""A small Python file that gives a target the kernels it lacks, so that a model runs unchanged."""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from opcheck.db.versions import version_key
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Suggestion
from opcheck.rewrite.refused_uses import EVERY, HELPERS, refused_uses
from opcheck.rewrite.text import Module
from opcheck.rewrite.variants import functional
from opcheck.source.building import torchvision_operators
from opcheck.trace.torch_internals.dispatcher import overload_named

PLUGINS = {"npu": "torch_npu", "mlu": "torch_mlu", "musa": "torch_musa", "rbln": "torch_rbln",
           "supa": "torch_supa"}  # fmt: skip
"""Device type -> the package that brings it."""
_GIVES_KERNELS = version_key("2.9")
"""The first torch that gives a kernel which another takes the place of."""
_REDISPATCHES = version_key("2.4")
"""The first in which a kernel written in Python is given the dispatch keys, and hands a call on."""


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
    if way.replaces not in matrix.entries:
        return ""
    refused = refused_uses(matrix, way.replaces)
    if not refused:
        return Sentence(
            "the target has a kernel for {op}, which refuses this use; what it refuses is nothing "
            "that a shim can ask of a call",
            op=way.replaces,
        )
    if (
        refused != EVERY
        and not _gives_kernels(matrix)
        and not _stays_reachable(matrix, way.replaces)
    ):
        return Sentence(
            "the target has a kernel for {op}, which refuses this use; with this torch a shim "
            "cannot leave all others to it",
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
{beside}

{calls}
'''
_BOXED = '''

def _overload(overload):
    namespace, name = overload.split("::")
    base, _, form = name.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), form or "default")


def _boxed(own, args, kwargs):
    """Tensors for numbers that stand for some: what calls a kernel from Python takes no others."""
    named = {a.name for a in own._schema.arguments if str(a.type) == "Tensor"}

    def boxed(name, value):
        plain = name not in named or isinstance(value, torch.Tensor)
        return value if plain else torch.tensor(value)

    args = [boxed(a.name, value) for a, value in zip(own._schema.arguments, args)]
    return args, {name: boxed(name, value) for name, value in kwargs.items()}


'''
_BESIDE = '''\
def _register_beside(overload, kernel, refuses, *keys):
    """Use a kernel for what the device's own refuses, and that for the rest."""
    namespace, name = overload.split("::")
    library = torch.library.Library(namespace, "IMPL")

    def beside(own):
        def chosen(keys, *args, **kwargs):
            if refuses(*args, **kwargs):
                return kernel(*args, **kwargs)
            args, kwargs = _boxed(_overload(overload), args, kwargs)
            return own.call_boxed(keys, *args, **kwargs)

        return chosen

    for key, own in [(key, torch.library.get_kernel(overload, key)) for key in keys]:
        library.impl(name, beside(own), key, with_keyset=True)
    LIBRARIES.append(library)
'''
_ABOVE = '''\
def _register_beside(overload, kernel, refuses, key):
    """Use a kernel for what the device's own refuses, and that for the rest.

    They are chosen from above the device's key: at autograd's, and at one that every call passes.
    """
    namespace, name = overload.split("::")
    library = torch.library.Library(namespace, "IMPL")
    own, keys = _overload(overload), torch._C.DispatchKey
    other = torch._C.DispatchKeySet(keys.AutogradOther)

    def taken(args, kwargs):
        given = [v for v in (*args, *kwargs.values()) if isinstance(v, torch.Tensor)]
        return any(t.device.type not in ("cpu", "meta") for t in given) and refuses(*args, **kwargs)

    def above(given, *args, **kwargs):
        if taken(args, kwargs):
            return kernel(*args, **kwargs)
        args, kwargs = _boxed(own, args, kwargs)
        return own.redispatch(given.remove(getattr(keys, key)) | other, *args, **kwargs)

    def below(given, *args, **kwargs):
        if taken(args, kwargs):
            return kernel(*args, **kwargs)
        args, kwargs = _boxed(own, args, kwargs)
        return own.redispatch(given.remove(keys.BackendSelect), *args, **kwargs)

    library.impl(name, above, key, with_keyset=True)
    library.impl(name, below, "BackendSelect", with_keyset=True)
    LIBRARIES.append(library)
'''
_TEST = '''\
import torch


{helpers}


def {name}(*args, **kwargs):
    """Whether the device's kernel refuses this use of {op}."""
    given = {{**dict(zip({names}, args)), **kwargs}}
    return (
        {refused}
    )
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

    module = Module()
    calls = [_call(module, matrix, way) for way in ways]
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
    written = [_WRITTEN.rstrip()] if any("_writing(" in call for call in calls) else []
    parts = [module.body, *written, _tail(matrix, calls)]
    return f"{head}\n{imports.strip()}\n\n\n" + "\n\n\n".join(parts) + "\n"


def _call(module: Module, matrix: SupportMatrix, way: Suggestion) -> str:
    """The line that registers the code of a suggestion, which goes into the module."""
    kernel, key, op = module.add(way.code, way.function), matrix.dispatch_key, way.replaces
    keys = f'"{key}", "Autograd{key}"'
    if functional(op) != op:
        keys = f'"{key}"'
        kernel = f"_writing({', '.join([kernel, *map(repr, _written(op))])})"
    refused = refused_uses(matrix, op) if op in matrix.entries else EVERY
    if refused == EVERY:
        return f'_register("{op}", {kernel}, {keys})'
    name = "_refuses_" + re.sub(r"\W+", "_", op.partition("::")[2])
    names = tuple(argument.name for argument in overload_named(op)._schema.arguments)
    test = _TEST.format(helpers=HELPERS.rstrip(), name=name, op=op, names=names, refused=refused)
    name = module.add(test, name)
    if not _gives_kernels(matrix):
        keys = f'"Autograd{key}"'
    return f'_register_beside("{op}", {kernel}, {name}, {keys})'


def _tail(matrix: SupportMatrix, calls: Sequence[str]) -> str:
    beside = ""
    if any(call.startswith("_register_beside(") for call in calls):
        beside = _BOXED + (_BESIDE if _gives_kernels(matrix) else _ABOVE)
    return _TAIL.format(beside=beside, calls="\n".join(calls)).rstrip()


def _stays_reachable(matrix: SupportMatrix, op: str) -> bool:
    """Whether PyTorch's own autograd leads to the target's kernel, beside what a shim registers."""
    own = op in matrix.gradients or any("Autograd" in key for key in matrix.entries[op].keys)
    return version_key(matrix.target.torch) >= _REDISPATCHES and not own


def _gives_kernels(matrix: SupportMatrix) -> bool:
    return version_key(matrix.target.torch) >= _GIVES_KERNELS


def _written(op: str) -> list[str]:
    """Names of the ``out=`` arguments."""
    return [a.name for a in overload_named(op)._schema.arguments if a.is_out]
