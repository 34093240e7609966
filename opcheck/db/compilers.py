"""Which back ends of ``torch.compile`` a target has, from the table of all vendors'."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from opcheck.db.by_hand.overlays import holds
from opcheck.db.predicates import read_predicate
from opcheck.db.reading import Citations
from opcheck.db.versions import major_minor
from opcheck.lang.sentence import from_data
from opcheck.model.matrix import CompileCondition, Compiler, CompilerDoes
from opcheck.model.target import Target
from opcheck.model.verdict import Method

_MODES = frozenset({"inference", "train"})


def compilers_of(target: Target, said: Mapping[str, Any]) -> Mapping[str, Compiler]:
    """By name of the back end; nothing of those that nobody has said anything about."""
    cited = Citations(said["sources"])
    everywhere = cited.all(said["everywhere"]["at"], Method.REGISTERED)
    known = {
        name: Compiler(CompilerDoes.RUNS, everywhere, supported=_MODES)
        for name in said["everywhere"]["names"]
    }
    for name, owner in said["owned"].items():
        if target.owner not in owner["vendors"]:
            evidence = cited.all(owner["at"], Method.REGISTERED)
            error = f"Invalid backend: {name!r}"
            known[name] = Compiler(CompilerDoes.RAISES, evidence, error)
    for backend in said["backends"]:
        if _is_of(backend, target):
            known.update(dict.fromkeys(backend["names"], _compiler(backend, target, cited)))
    held = [one for one in said["conditions"] if _concerns(one, target)]
    return {
        name: replace(found, conditions=tuple(_conditions(held, name, cited)))
        for name, found in known.items()
    }


def _concerns(said: Mapping[str, Any], target: Target) -> bool:
    return target.owner in said.get("vendors", (target.owner,)) and holds(said, target)


def _conditions(
    held: Iterable[Mapping[str, Any]], name: str, cited: Citations
) -> Iterator[CompileCondition]:
    """What is said of calls with one back end; what names none holds for each."""
    for said in held:
        if name in said.get("names", (name,)):
            yield CompileCondition(
                does=CompilerDoes(said["does"]),
                text=from_data(said["text"]),
                ops=frozenset(said["ops"]),
                cases=tuple(tuple(map(read_predicate, tests)) for tests in said.get("cases", [[]])),
                evidence=cited.all(said["at"], Method(said.get("method", Method.REGISTERED))),
                fullgraph=said.get("fullgraph", False),
                modes=frozenset(said.get("modes", _MODES)),
            )


def _is_of(backend: Mapping[str, Any], target: Target) -> bool:
    return (
        backend["vendor"] == target.owner
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
        supported=_supported(backend, target),
    )


def _supported(backend: Mapping[str, Any], target: Target) -> frozenset[str]:
    said = backend.get("supported", {"modes": ()})
    here = target.chip in said.get("chips", (target.chip,))
    here = here and target.sdk in said.get("releases", (target.sdk,))
    return frozenset(said["modes"] if here else ())
