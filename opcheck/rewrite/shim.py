"""A small Python file that gives a target the kernels it lacks, so that a model runs unchanged."""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from opcheck.db.versions import version_key
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Suggestion
from opcheck.model.plugins import PLUGINS
from opcheck.model.trace import Composite, OpName
from opcheck.rewrite.refused_uses import EVERY, HELPERS, refused_uses
from opcheck.rewrite.shim_text import (
    ABOVE,
    BESIDE,
    BOXED,
    HEAD,
    ONCE,
    PARTS,
    TAIL,
    TEST,
    WRITTEN,
)
from opcheck.rewrite.text import Module
from opcheck.rewrite.variants import functional
from opcheck.source.building import torchvision_operators
from opcheck.trace.torch_internals.dispatcher import composite_kind, overload_named

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
    op, beside = way.replaces, _can_be_beside(matrix, way.replaces)
    if op not in matrix.entries:
        if beside or not _calls_itself(way):
            return ""
        return Sentence(
            "its code calls {op} itself, which with this torch a shim cannot leave to what was "
            "there",
            op=op,
        )
    refused = refused_uses(matrix, op)
    if not refused:
        return Sentence(
            "the target has a kernel for {op}, which refuses this use; what it refuses is nothing "
            "that a shim can ask of a call",
            op=op,
        )
    if refused != EVERY and not beside:
        return Sentence(
            "the target has a kernel for {op}, which refuses this use; with this torch a shim "
            "cannot leave all others to it",
            op=op,
        )
    return ""


def _text(matrix: SupportMatrix, ways: Sequence[Suggestion]) -> str:
    from opcheck.version import __version__

    module = Module()
    calls = [_call(module, matrix, way) for way in ways]
    head = HEAD.format(
        target=matrix.target,
        version=__version__,
        plugin=PLUGINS.get(matrix.target.device_type, "torch"),
        module="this_file",
        rows="\n".join(_row(matrix, *each) for each in zip(ways, calls, strict=True)),
    )
    imports = module.imports
    if any(way.replaces.startswith("torchvision::") for way in ways):
        imports = f"{imports}\nimport torchvision"
    if any("*_once(" in call for call in calls):
        imports = f"import threading\n{imports}"
    if "import torch" not in imports.splitlines():
        imports = f"import torch\n{imports}"
    written = [WRITTEN.rstrip()] if any("_writing(" in call for call in calls) else []
    parts = [module.body, *written, _tail(matrix, calls)]
    return f"{head}\n{imports.strip()}\n\n\n" + "\n\n\n".join(parts) + "\n"


def _row(matrix: SupportMatrix, way: Suggestion, call: str) -> str:
    parted = call.startswith(_PARTED) and way.replaces in matrix.entries
    others = "; its other calls as PyTorch's own parts" if parted else ""
    return f"{way.replaces}: {way.rule} ({way.label.value}){others}"


_PARTED = "_register_with_parts("


def _call(module: Module, matrix: SupportMatrix, way: Suggestion) -> str:
    """The line that registers the code of a suggestion, which goes into the module."""
    kernel, key, op = module.add(way.code, way.function), matrix.dispatch_key, way.replaces
    keys = f'"{key}", "Autograd{key}"'
    if functional(op) != op:
        keys = f'"{key}"'
        kernel = f"_writing({', '.join([kernel, *map(repr, _written(op))])})"
    if op not in matrix.entries and _calls_itself(way):
        return _beside(matrix, op, f"*_once({kernel})", keys)
    refused = refused_uses(matrix, op) if op in matrix.entries else EVERY
    if refused == EVERY:
        return f'_register("{op}", {kernel}, {keys})'
    name = "_refuses_" + re.sub(r"\W+", "_", op.partition("::")[2])
    names = tuple(argument.name for argument in overload_named(op)._schema.arguments)
    test = TEST.format(helpers=HELPERS.rstrip(), name=name, op=op, names=names, refused=refused)
    return _beside(matrix, op, f"{kernel}, {module.add(test, name)}", keys)


def _beside(matrix: SupportMatrix, op: str, kernel: str, keys: str) -> str:
    """The line for a kernel, and its test, that leave other calls to what was there."""
    if _gives_kernels(matrix):
        return f'_register_beside("{op}", {kernel}, {keys})'
    if _stays_reachable(matrix, op) and (op in matrix.entries or not _has_parts(op)):
        return f'_register_beside("{op}", {kernel}, "Autograd{matrix.dispatch_key}")'
    return f'{_PARTED}"{op}", {kernel}, {keys})'


def _tail(matrix: SupportMatrix, calls: Sequence[str]) -> str:
    found: list[str] = []
    if any(call.startswith("_register_beside(") for call in calls):
        found.append(BESIDE if _gives_kernels(matrix) else ABOVE)
    if any(call.startswith(_PARTED) for call in calls):
        found.append(PARTS)
    if any("*_once(" in call for call in calls):
        found.append(ONCE)
    beside = BOXED + "\n\n".join(found) if found else ""
    return TAIL.format(beside=beside, calls="\n".join(calls)).rstrip()


def _can_be_beside(matrix: SupportMatrix, op: str) -> bool:
    """Whether a kernel can leave calls to what the target runs without it."""
    return _gives_kernels(matrix) or _stays_reachable(matrix, op) or _has_parts(op)


def _calls_itself(way: Suggestion) -> bool:
    """Whether the code for an overload calls that overload, as in another dtype."""
    name = OpName.parse(functional(way.replaces) or way.replaces)
    called = f"torch.ops.{name.namespace}.{name.base}.{name.overload or 'default'}("
    return called in way.code


def _stays_reachable(matrix: SupportMatrix, op: str) -> bool:
    """Whether PyTorch's own autograd leads to the target's kernel, beside what a shim registers."""
    keys = matrix.entries[op].keys if op in matrix.entries else ()
    own = op in matrix.gradients or any("Autograd" in key for key in keys)
    return version_key(matrix.target.torch) >= _REDISPATCHES and not own


def _has_parts(op: str) -> bool:
    """Whether PyTorch itself runs an overload as others, with autograd."""
    return composite_kind(op) is Composite.IMPLICIT


def _gives_kernels(matrix: SupportMatrix) -> bool:
    return version_key(matrix.target.torch) >= _GIVES_KERNELS


def _written(op: str) -> list[str]:
    """Names of the ``out=`` arguments."""
    return [a.name for a in overload_named(op)._schema.arguments if a.is_out]
