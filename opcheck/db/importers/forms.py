"""Overloads that a list leaves out because another form of the same operation serves them.

Where a backend functionalises, it sees the functional form of an in-place or ``out=`` overload,
and the copying form of a view; its list then names only those.
"""

from collections.abc import Collection, Mapping

from opcheck.db.importers.upstream import IMPLICIT, Function


def written_forms(listed: Collection[str], known: Mapping[str, Function]) -> dict[str, str]:
    """In-place and ``out=`` overloads that are not listed -> the listed functional one."""
    functional = {
        known[name].signature: name
        for name in listed
        if name in known and known[name].signature and not known[name].writes
    }
    return {
        name: functional[function.signature]
        for name, function in known.items()
        if function.writes and name not in listed and function.signature in functional
    }


def view_forms(listed: Collection[str], known: Mapping[str, Function]) -> dict[str, str]:
    """Views, in place too, that are not listed -> the listed overload that copies instead."""
    return {
        name: _copy(name)
        for name, function in known.items()
        if name not in listed
        and function.kind != IMPLICIT
        and (function.view or function.base.endswith("_"))
        and _copy(name) in listed
    }


def _copy(name: str) -> str:
    """``squeeze_copy.dim`` of ``squeeze.dim`` and of ``squeeze_.dim``."""
    base, dot, overload = name.partition(".")
    return f"{base.removesuffix('_')}_copy{dot}{overload}"
