"""Ascend: conditions that the vendor's code states beyond its lists."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.ascend.chips import Socs, known
from opcheck.db.importers.ascend.kernel_facts import BRANCHES
from opcheck.db.importers.ascend.refusals import read_facts
from opcheck.db.importers.base import load_yaml
from opcheck.db.versions import version_key

_DATA = Path(__file__).with_name("ascend_code.yaml")
_OLDEST = "7.3.0"
"""The first release whose CANN has public code."""
_DEFAULT_SINCE = "7.2.0"
"""From here on the code itself says where jit_compile is on by default; before, CANN did."""
_DEFAULT_GUARD = "jit_compile"


@cache
def _facts() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data


def code_sources(release: str) -> dict[str, dict[str, str]]:
    """Where the facts of a release were read: torch_npu's and torchvision_npu's code, threads."""
    framework = {"repo": "Ascend/pytorch", "path": "torch_npu/csrc"}
    cited = {at.partition(":")[0] for _, places in _facts_of(release) for at in places}
    kernels = read_facts(release if release in BRANCHES else _OLDEST)["sources"]
    return {
        "framework": {**framework, **_facts()["framework"][release]},
        "vision": _facts()["vision"],
        **{name: thread for name, thread in _facts()["threads"].items() if name in cited},
        **{name: dict(source) for name, source in kernels.items() if name in cited},
    }


def code_conditions(
    release: str, listed: Mapping[str, tuple[str, ...]], socs: Socs, served: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Conditions of one release, which serves torch versions.

    ``listed`` gives each registered overload's kernel paths.
    """
    for fact, cited in _facts_of(release):
        versions = _versions(fact, served)
        if "advisory" not in fact and versions:
            spans = {"torch": ", ".join(versions)} if versions != served else {}
            for chips, ops in _scope(fact, release, listed, socs).items():
                condition = _condition(fact, chips, ops, cited, release)
                for tests in fact.get("cases", [fact.get("tests", [])]):
                    yield condition | ({"tests": tests} if tests else {}) | spans
    if "950" in known(release):
        yield from _aclnn_only(listed)


def code_advisories(release: str, socs: Socs) -> Iterator[dict[str, Any]]:
    """What holds for chips as a whole in one release."""
    for fact, cited in _facts_of(release):
        if "advisory" in fact:
            chips = socs.where(fact["where"], release)
            yield {"code": fact["code"], "text": fact["text"], "at": [*cited], "chips": chips}


def _versions(fact: Mapping[str, Any], served: tuple[str, ...]) -> tuple[str, ...]:
    """The torch versions of a release that a fact holds for."""
    only, apart = fact.get("torch", served), fact.get("torch_apart", ())
    return tuple(version for version in served if version in only and version not in apart)


def _facts_of(release: str) -> Iterator[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """Facts that the code of one release, or a thread about it, states, and where."""
    for fact in _facts()["facts"]:
        if release not in fact.get("reported", fact.get("inferred", (release,))):
            continue
        seen = fact.get("seen", {})
        cited = tuple(filter(None, (fact.get("at"), _citation(seen, release))))
        if cited:  # a thread, the code that it goes through, or both
            yield fact, cited
        elif _concluded(fact, release) and (oldest := _citation(seen, _OLDEST)):
            yield {**fact, "inferred": (release,)}, (oldest,)


def _concluded(fact: Mapping[str, Any], release: str) -> bool:
    """Whether what the oldest public kernels say holds for a release before them as well."""
    return "older" in fact and version_key(release) < version_key(_OLDEST)


def _citation(seen: Mapping[str, Mapping[str, int]], release: str) -> str:
    for path, lines in seen.items():
        if release in lines:
            repository, _, inner = path.partition(":")
            if inner:
                return f"{repository}-{BRANCHES[release]}:{inner}:{lines[release]}"
            source = "plugin" if path.startswith("op_plugin/") else "framework"
            return f"{source}:{path}:{lines[release]}"
    return ""


def _scope(
    fact: Mapping[str, Any], release: str, listed: Mapping[str, tuple[str, ...]], socs: Socs
) -> dict[tuple[str, ...], list[str]]:
    """Chips -> operators that a fact holds for there."""
    guard = "before_910b1" if fact["where"] == _DEFAULT_GUARD else fact["where"]
    chips = socs.where(guard, release)
    scope: dict[tuple[str, ...], list[str]] = {}
    for op in fact["ops"]:
        if op == "*" or "unlisted" in fact:
            scope.setdefault(chips, []).append(op)
        elif op in listed:
            path = fact.get("path")
            here = tuple(c for c in chips if path in (None, socs.kernels(c, listed[op])))
            scope.setdefault(here, []).append(op)
    return {here: ops for here, ops in scope.items() if here}


def _condition(
    fact: Mapping[str, Any],
    chips: tuple[str, ...],
    ops: list[str],
    cited: tuple[str, ...],
    release: str,
) -> dict[str, Any]:
    said_by_code = fact["where"] != _DEFAULT_GUARD or version_key(release) >= version_key(
        _DEFAULT_SINCE
    )
    confidence, method = ("high", "registered") if said_by_code else ("low", "inferred")
    if "reported" in fact:
        confidence, method = "medium", "tested"
    if "inferred" in fact:
        confidence, method = "medium", "inferred"
    condition = {
        "ops": ops,
        "code": fact["code"],
        "verdict": fact["verdict"],
        "confidence": confidence,
        "method": method,
        "text": fact["text"],
        "at": [cited[0]],
    }
    if len(cited) > 1:
        condition["checked"] = {"at": [*cited[1:]]}
    if chips != known(release):
        condition["chips"] = chips
    return condition


def _aclnn_only(listed: Mapping[str, tuple[str, ...]]) -> Iterator[dict[str, Any]]:
    """Operators without an op_api kernel, on the chip that runs no other."""
    ops = [op for op, paths in listed.items() if paths == ("acl_op",)]
    if ops:
        yield {
            "ops": ops,
            "code": "no-aclnn-kernel",
            "verdict": "unsupported",
            "confidence": "high",
            "method": "registered",
            "text": "{chip} runs aclnn kernels only and this operator has none: torch_npu raises "
            '"Current device only support aclnn operator"',
            "at": ["plugin:torchnpugen/gen.py"],
            "chips": ["950"],
        }
