"""Conditions of one target: what its release's file says, for its chip and torch version."""

from collections.abc import Mapping
from typing import Any

from opcheck.db.evidence import Citations
from opcheck.db.spans import within
from opcheck.model.matrix import Condition, Subject, Test
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Method, Verdict


def conditions_by_operator(
    target: Target,
    vendor: Mapping[str, Any],
    release: Mapping[str, Any],
    registered: Mapping[str, Mapping[str, Any]],
) -> Mapping[str, tuple[Condition, ...]]:
    """Conditions by overload; ``*`` for every overload."""
    cited = Citations({**vendor["sources"], **release["sources"]})
    found: dict[str, list[Condition]] = {}
    for said in release.get("conditions", ()):
        if _applies(said, target, release["torch"]):
            condition = _condition(said, cited)
            for op in said["ops"]:
                found.setdefault(op, []).append(condition)
    return {op: tuple(listed) for op, listed in found.items()}


def advisories(target: Target, vendor: Mapping[str, Any], *, paired: bool) -> tuple[Condition, ...]:
    """What holds for the whole target."""
    if paired:
        return ()
    cited = Citations(vendor["sources"])
    text = (
        f"the vendor's pairing table has no package of release {target.sdk} "
        f"for torch {target.torch}"
    )
    evidence = cited.all(("pairing",), Method.DOCUMENTED)
    return (
        Condition("torch-not-paired", Verdict.NATIVE, text, Confidence.MEDIUM, evidence=evidence),
    )


def _applies(said: Mapping[str, Any], target: Target, versions: list[str]) -> bool:
    chips, torch = said.get("chips"), said.get("torch")
    return (chips is None or target.chip in chips) and (
        torch is None or within(target.torch, torch, versions)
    )


def _condition(said: Mapping[str, Any], cited: Citations) -> Condition:
    return Condition(
        code=said["code"],
        verdict=Verdict(said["verdict"]),
        text=said["text"],
        confidence=Confidence(said["confidence"]),
        tests=tuple(_test(test) for test in said.get("tests", ())),
        evidence=cited.all(said["at"], Method(said["method"])),
    )


def _test(said: Mapping[str, Any]) -> Test:
    return Test(
        subject=Subject(said["subject"]),
        argument=said["argument"],
        one_of=frozenset(said.get("one_of", ())),
        none_of=frozenset(said.get("none_of", ())),
        minimum=said.get("minimum"),
        maximum=said.get("maximum"),
        dim=said.get("dim", 0),
    )
