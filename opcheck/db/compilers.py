"""Which back ends of ``torch.compile`` a target has, from the table of all vendors'."""

from collections.abc import Mapping
from typing import Any

from opcheck.db.reading import Citations
from opcheck.db.versions import major_minor
from opcheck.lang.sentence import from_data
from opcheck.model.matrix import Compiler, CompilerDoes
from opcheck.model.target import Target
from opcheck.model.verdict import Method


def compilers_of(target: Target, said: Mapping[str, Any]) -> Mapping[str, Compiler]:
    """By name of the back end; nothing of those that nobody has said anything about."""
    cited = Citations(said["sources"])
    known = {
        name: Compiler(CompilerDoes.RUNS, cited.all(said["everywhere"]["at"], Method.REGISTERED))
        for name in said["everywhere"]["names"]
    }
    for name, owner in said["owned"].items():
        if target.vendor not in owner["vendors"]:
            evidence = cited.all(owner["at"], Method.REGISTERED)
            error = f"Invalid backend: {name!r}"
            known[name] = Compiler(CompilerDoes.RAISES, evidence, error)
    for backend in said["backends"]:
        if _is_of(backend, target):
            known.update(dict.fromkeys(backend["names"], _compiler(backend, target, cited)))
    return known


def _is_of(backend: Mapping[str, Any], target: Target) -> bool:
    return (
        backend["vendor"] == target.vendor
        and target.sdk in backend["releases"]
        and target.chip in backend.get("chips", (target.chip,))
        and major_minor(target.torch) in backend.get("torch", (major_minor(target.torch),))
    )


def _compiler(backend: Mapping[str, Any], target: Target, cited: Citations) -> Compiler:
    return Compiler(
        does=CompilerDoes(backend["does"]),
        evidence=cited.all(backend["at"], Method(backend.get("method", Method.REGISTERED))),
        error=backend.get("error", ""),
        needs=backend.get("needs", ""),
        instead=backend.get("instead", ""),
        note=from_data(backend.get("note", "")),
        without={
            dtype: cited.all(said["at"], Method.TESTED)
            for dtype, said in backend.get("without", {}).items()
            if target.chip in said["chips"] and target.sdk in said["releases"]
        },
    )
