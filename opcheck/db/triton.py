"""The Triton that compiles for a target, from the table of all vendors'."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from opcheck.db.reading import Citations, LateMapping
from opcheck.db.versions import major_minor
from opcheck.lang.sentence import from_data
from opcheck.model.launches import (
    Limit,
    LimitKind,
    SourceBuilder,
    TritonCompiler,
    TritonOperation,
)
from opcheck.model.target import Target
from opcheck.model.verdict import Evidence, Method

Limits = dict[int, Limit]
"""Identity of what the table says of a limit -> the limit, which targets have in common."""


def triton_of(
    target: Target, said: Mapping[str, Any], made: Limits | None = None
) -> TritonCompiler | None:
    """What there is; None where nobody has said anything. The first entry that fits holds.

    ``made``: limits that other targets of this table have, and is added to.
    """
    cited = Citations(said["sources"])
    made = {} if made is None else made
    for compiler in said["compilers"]:
        if _is_of(compiler, target):
            found = _compiler(compiler, target, said["languages"], cited)
            found = replace(found, limits=tuple(_limits(target, said["limits"], cited, made)))
            return _with_memory(found, target, said["shared_memory"], cited)
    return None


def _with_memory(
    found: TritonCompiler, target: Target, listed: Iterable[Mapping[str, Any]], cited: Citations
) -> TritonCompiler:
    """With the shared memory of the target's chip, where somebody has said how much it is."""
    for said in listed:
        if said["vendor"] == target.owner and _is_for(said, target):
            return replace(
                found,
                shared_memory=said["bytes"],
                stages=said["stages"],
                kept_in_shared=cited.all(said["at"], Method.TESTED),
            )
    return found


def _limits(
    target: Target, listed: Iterable[Mapping[str, Any]], cited: Citations, made: Limits
) -> Iterator[Limit]:
    """What the target's compiler and its chip ask; of each kind and dtypes all that fit."""
    for said in listed:
        if target.owner in said["vendors"] and _is_for(said, target):
            if id(said) not in made:
                made[id(said)] = _limit(said, cited)
            yield made[id(said)]


def _limit(said: Mapping[str, Any], cited: Citations) -> Limit:
    return Limit(
        kind=LimitKind(said["kind"]),
        evidence=cited.all(said["at"], Method(said.get("method", Method.REGISTERED))),
        most=said.get("most", 0),
        least=tuple(said.get("least", ())),
        words=frozenset(said.get("words", ())),
        dtypes=frozenset(said.get("dtypes", ())),
    )


def cuda_sources_of(target: Target, said: Mapping[str, Any]) -> SourceBuilder | None:
    """What becomes of CUDA C++ there; None where nobody has said anything."""
    found = said["cuda_sources"].get(target.owner)
    if found is None:
        return None
    return SourceBuilder(
        builds="error" not in found,
        evidence=Citations(said["sources"]).all(
            found["at"], Method(found.get("method", Method.REGISTERED))
        ),
        converts=found.get("converts", False),
        error=from_data(found.get("error", "")),
    )


def _is_of(compiler: Mapping[str, Any], target: Target) -> bool:
    if compiler["vendor"] != target.owner:
        return False
    return target.sdk in compiler.get("releases", (target.sdk,)) and _is_for(compiler, target)


def _is_for(said: Mapping[str, Any], target: Target) -> bool:
    """Whether the chip and the torch of a target are among those that something names."""
    torch = major_minor(target.torch)
    return target.chip in said.get("chips", (target.chip,)) and torch in said.get("torch", (torch,))


def _compiler(
    compiler: Mapping[str, Any], target: Target, languages: Mapping[str, Any], cited: Citations
) -> TritonCompiler:
    method = Method(compiler.get("method", Method.REGISTERED))
    programs = compiler.get("programs", {})
    return TritonCompiler(
        package=compiler.get("package", ""),
        evidence=cited.all(compiler["at"], method),
        operations=LateMapping(lambda: dict(_operations(compiler, target, languages, cited))),
        without=dict(_without(compiler, target, cited)),
        computed=frozenset(
            dtype for dtype, said in compiler.get("without", {}).items() if said.get("named")
        ),
        error=from_data(compiler.get("error", "")),
        not_installed=from_data(compiler.get("not_installed", "")),
        most_programs=programs.get("most", 0),
        at_most=cited.all(programs.get("at", ()), Method.DOCUMENTED),
        unless=programs.get("unless", ""),
        doubt=from_data(compiler.get("doubt", "")),
    )


def _operations(
    compiler: Mapping[str, Any], target: Target, languages: Mapping[str, Any], cited: Citations
) -> Iterator[tuple[str, TritonOperation]]:
    """By name: what the languages list, then what is said of single functions there."""
    for name in compiler.get("languages", ()):
        listed = TritonOperation(cited.all(languages[name]["at"], Method.REGISTERED))
        yield from ((function, listed) for function in languages[name]["names"])
        for function, said in languages[name].get("operations", {}).items():
            if _is_for(said, target):
                yield function, _operation(said, cited)


def _operation(said: Mapping[str, Any], cited: Citations) -> TritonOperation:
    return TritonOperation(
        evidence=cited.all(said["at"], Method(said.get("method", Method.DOCUMENTED))),
        dtypes=frozenset(said["dtypes"]) if "dtypes" in said else None,
        refuses=frozenset(said.get("refuses", ())),
        texts={key: frozenset(only) for key, only in said.get("texts", {}).items()},
    )


def _without(
    compiler: Mapping[str, Any], target: Target, cited: Citations
) -> Iterator[tuple[str, tuple[Evidence, ...]]]:
    for dtype, said in compiler.get("without", {}).items():
        if target.chip in said["chips"]:
            yield dtype, cited.all(said["at"], Method.REGISTERED)
