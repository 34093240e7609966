"""Conditions and gradients of one target - what its release's file says for chip and torch."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from opcheck.db.contradictions import of_document, settled
from opcheck.db.files.parts import lines
from opcheck.db.opsets import of_opset
from opcheck.db.predicates import read_predicate
from opcheck.db.reading import Chosen, Citations, LazyMapping
from opcheck.db.schema.tables import DTYPES
from opcheck.db.schema.vendor import MOST_OFTEN
from opcheck.db.versions import within
from opcheck.model.matrix import NO_DTYPE, SLOW, WRONG, Condition, Formula, Gradient
from opcheck.model.predicates import (
    ArgumentValue,
    Dtype,
    NoneOf,
    OneOf,
    Outside,
    Predicate,
    Rank,
)
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

_CODE = Method.REGISTERED
RANK = "rank-not-supported"
"""Code of those of its ``refusals`` that are about dimensions."""
_NEWER = "that is a newer CANN, and none takes fewer dtypes or dimensions than the one before"
_STATED = ("conditions", "documented", "refusals")
"""Sections of a release's file that conditions come from."""
_BECOMES = "-becomes-"
"""Stands between two dtypes in the code of a cast that gives another than it is asked for."""


Made = dict[tuple[int, ...], tuple[Sequence[Mapping[str, Any]], tuple[Condition, ...]]]
"""Identities of a line and of its second sources -> these, and the conditions that it states."""


class _Conditions(Mapping[str, tuple[Condition, ...]]):
    """What of a release's file holds for a target, each condition made when first asked for."""

    def __init__(
        self, target: Target, release: Mapping[str, Any], cited: Citations, shared: Made
    ) -> None:
        self._shared = shared
        self._holds = partial(applies, target=target, release=release)
        self._stated = [lines(release.get(section, ())) for section in _STATED]
        self._seconds = lines(release.get("second_sources", ()))
        self._cited = cited
        self._made: dict[str, tuple[Condition, ...] | None] = {}
        """None: nothing is said of the overload."""

    def __getitem__(self, op: str) -> tuple[Condition, ...]:
        if op not in self._made:
            said = [*filter(self._holds, (one for listed in self._stated for one in listed.of(op)))]
            self._made[op] = tuple(self._read(op, said)) if said else None
        found = self._made[op]
        if found is None:
            raise KeyError(op)
        return found

    def __iter__(self) -> Iterator[str]:
        said = filter(self._holds, chain.from_iterable(self._stated))
        return iter(dict.fromkeys(op for one in said for op in one["ops"]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _read(self, op: str, said: Iterable[Mapping[str, Any]]) -> Iterator[Condition]:
        seconds = [*filter(self._holds, self._seconds.of(op))]
        for one in said:
            yield from self._once(one, seconds if _weighed(one) else ())

    def _once(
        self, one: Mapping[str, Any], seconds: Sequence[Mapping[str, Any]]
    ) -> tuple[Condition, ...]:
        """The conditions of a line: of another chip with the same line, they are the same."""
        lines = (one, *seconds)
        key = tuple(map(id, lines))
        if key not in self._shared:
            self._shared[key] = lines, tuple(_read(one, seconds, self._cited))
        return self._shared[key][1]


def conditions_by_operator(
    target: Target, release: Mapping[str, Any], cited: Citations, shared: Made | None = None
) -> Mapping[str, tuple[Condition, ...]]:
    """Conditions by overload; ``*`` for every overload. Each is made when first asked for.

    ``shared``: what was made for other chips of the release, and is added to.
    """
    return _Conditions(target, release, cited, {} if shared is None else shared)


def advisories(
    target: Target, release: Mapping[str, Any], cited: Citations, *, paired: bool
) -> tuple[Condition, ...]:
    """What holds for the whole target."""
    about_chip = tuple(
        _advisory(said["code"], said["text"], Confidence.HIGH, cited.all(said["at"], _CODE))
        for said in release.get("advisories", ())
        if applies(said, target, release)
    )
    if paired:
        return about_chip
    text = f"the vendor pairs no package of release {target.sdk} with torch {target.torch}"
    evidence = cited.all(("pairing",), Method.DOCUMENTED)
    return (_advisory("torch-not-paired", text, Confidence.MEDIUM, evidence), *about_chip)


def _advisory(
    code: str, text: str, confidence: Confidence, evidence: tuple[Evidence, ...]
) -> Condition:
    return Condition(code, Verdict.NATIVE, text, confidence, evidence=evidence)


def applies(said: Mapping[str, Any], target: Target, release: Mapping[str, Any]) -> bool:
    """Whether what a release's file says holds for a target's chip, torch and opset."""
    chips, torch = said.get("chips"), said.get("torch")
    if chips is not None and target.chip not in chips:
        return False
    if torch is not None and not within(target.torch, torch, release["torch"]):
        return False
    return of_opset(said, target, release)


def _read(
    said: Mapping[str, Any], seconds: Sequence[Mapping[str, Any]], cited: Citations
) -> Iterator[Condition]:
    """The conditions that a line of the file states; a document's, as second sources settle it."""
    for condition in _stated(said, cited):
        if of_document(said):
            yield from settled(condition, seconds, cited)
        else:
            yield condition


def _weighed(said: Mapping[str, Any]) -> bool:
    """Whether second sources settle what a line says.

    They are pages of kernels, so that none of them settles what such a page says.
    """
    return of_document(said) and "kernels" not in said


def _stated(said: Mapping[str, Any], cited: Citations) -> Iterator[Condition]:
    if "kernels" in said:
        yield from (_refused(said, argument, cited) for argument in said["arguments"])
    else:
        yield (_condition if "code" in said else _documented)(said, cited)


def _condition(said: Mapping[str, Any], cited: Citations) -> Condition:
    method = Method(said.get("method", MOST_OFTEN["method"]))
    return Condition(
        code=said["code"],
        verdict=Verdict(said.get("verdict", MOST_OFTEN["verdict"])),
        text=said["text"],
        confidence=Confidence(said.get("confidence", MOST_OFTEN["confidence"])),
        predicates=tuple(map(read_predicate, said.get("tests", ()))),
        evidence=(*cited.all(said["at"], method), *_checked(said, cited)),
        harmful=said.get("harmful", False) or said["code"] in SLOW | WRONG,
        cast=_cast(said["code"]),
    )


def _checked(said: Mapping[str, Any], cited: Citations) -> Iterator[Evidence]:
    """What else a condition rests on: code, and pages of kernels."""
    for at in said.get("checked", {}).get("at", ()):
        yield from cited.all((at,), Method.DOCUMENTED if ".md:" in at else _CODE)


def _cast(code: str) -> tuple[str, str] | None:
    """The dtypes that a code ``<asked>-becomes-<given>`` names."""
    asked, becomes, given = code.partition(_BECOMES)
    return (asked, given) if becomes else None


def _documented(said: Mapping[str, Any], cited: Citations) -> Condition:
    """A use whose dtype the vendor's tables of native APIs leave out."""
    kind = ArgumentValue if said["argument"] == "dtype" else Dtype
    only = [DTYPES[word] for word in said.get("only", ())]
    denied = frozenset(DTYPES[word] for word in said.get("not", ()))
    text = "{argument} is {actual}, which the vendor's tables of native APIs leave out"
    if only:
        text += f" (they list {', '.join(only)})"
    return Condition(
        code=NO_DTYPE,
        verdict=Verdict.UNSUPPORTED,
        text=text,
        confidence=Confidence.MEDIUM,
        predicates=(kind(said["argument"], NoneOf(frozenset(only)) if only else OneOf(denied)),),
        evidence=cited.all(said["at"], Method.DOCUMENTED),
    )


def _refused(said: Mapping[str, Any], argument: str, cited: Citations) -> Condition:
    """A use that the pages of kernels leave out, and that their code refuses where it stands."""
    predicates: list[Predicate] = []
    if "not" in said:
        predicates.append(Dtype(argument, OneOf(frozenset(DTYPES[word] for word in said["not"]))))
    if "most" in said or not said.get("scalars"):
        predicates.append(Rank(argument, Outside(maximum=said.get("most", 0))))
    inferred, checked = said.get("inferred", False), said.get("checked", {}).get("at", ())
    page, code = (Method.INFERRED, Method.INFERRED) if inferred else (Method.DOCUMENTED, _CODE)
    return Condition(
        code=NO_DTYPE if "not" in said else RANK,
        verdict=Verdict.UNSUPPORTED,
        text=f"{_refusal(said)}; {_NEWER}" if inferred else _refusal(said),
        confidence=Confidence.LOW if inferred else Confidence.MEDIUM,
        predicates=tuple(predicates),
        evidence=(*cited.all(said["at"], page), *cited.all(checked, code)),
    )


def _refusal(said: Mapping[str, Any]) -> str:
    kernels, one = ", ".join(said["kernels"]), len(said["kernels"]) == 1
    if "most" in said:
        return f"{{argument}} has {{actual}} dimensions, and {kernels} takes at most {said['most']}"
    if said.get("stands"):
        refuses = f"{kernels} refuses" if one else f"each of {kernels} refuses"
        return f"{refuses} {{argument}}, which is {{actual}}, by its page and its code"
    return f"{'the' if one else 'each'} page of {kernels} leaves {{actual}} out of {{argument}}"


def gradients_by_operator(
    target: Target, release: Mapping[str, Any], cited: Citations
) -> Mapping[str, Gradient]:
    """Gradients by overload, each made when first asked for."""
    holds = partial(applies, target=target, release=release)
    chosen = Chosen(release.get("gradients", {}), holds)
    return LazyMapping(chosen, lambda _, said: _gradient(said, cited))


def _gradient(said: Mapping[str, Any], cited: Citations) -> Gradient:
    formulas = tuple(
        Formula(tuple(names.split(", ")), tuple(calls)) for names, calls in said["formulas"].items()
    )
    return Gradient(
        kernels=tuple(dict.fromkeys(op for formula in formulas for op in formula.kernels)),
        evidence=cited.all(said["at"], Method(said.get("method", Method.REGISTERED))),
        formulas=formulas,
        unless=tuple(map(read_predicate, said.get("unless", ()))),
    )
