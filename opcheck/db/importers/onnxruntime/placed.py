"""What providers beside the CPU's leave to it, as conditions of their chips."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import loaded
from opcheck.db.importers.shared import converters
from opcheck.db.importers.shared.converters import Functions

_PLACEMENTS = Path(__file__).with_name("onnxruntime_placements.yaml")
LAST: Mapping[str, int] = {"dml": 21}
"""The opset after which a provider has kernels of few operators that have changed: there it is said
of none where it goes."""
LEFT = "left-to-cpu"
PROVIDERS: Mapping[str, str] = {"cuda": "CUDA", "dml": "DirectML"}
"""Chip -> what its provider is called."""
Listed = Mapping[str, Mapping[str, Any]]


def conditions(
    listed: Listed, code: Mapping[str, Any], span: str, known: Functions
) -> Iterator[dict[str, Any]]:
    """Of overloads with an entry of their own: where their calls go, by dtype and opset.

    ``span``: every opset that is written.
    """
    for chip in PROVIDERS:
        read = {
            op for fact in code["facts"] for op in fact["ops"]
            if fact["code"] == LEFT and chip in fact["chips"]
        }  # fmt: skip
        found: dict[tuple[str, str, str, tuple[str, ...]], list[str]] = defaultdict(list)
        for opsets, overloads in _placements()["providers"][chip].items():
            for name, dtypes in overloads.items():
                for why, given in _reasons(name, dtypes, listed.get(name)):
                    if not (name in read and why.startswith("cpu")):  # its code says when
                        argument = converters.argument_of(name, known) if given else ""
                        found[opsets, why, argument, given].append(name)
        for (opsets, why, argument, given), names in sorted(found.items()):
            within = {} if opsets == _looked_up(chip, span) else {"opset": opsets}
            yield {**_condition(chip, why, argument, given, names, code["texts"]), **within}
    yield from _later(span, code["texts"]["later"])
    yield from _untried(listed, code["texts"]["unplaced"], known)


def _looked_up(chip: str, span: str) -> str:
    """The opsets whose operators were looked up for a provider."""
    first, _, last = span.partition("..")
    return f"{first}..{LAST.get(chip, last)}"


def _later(span: str, text: str) -> Iterator[dict[str, Any]]:
    """Every call in an opset that a provider has too few kernels of."""
    for chip, last in LAST.items():
        yield {
            **_unknown(["*"], text.replace("{provider}", PROVIDERS[chip])),
            "at": [chip],
            "chips": [chip],
            "opset": f"{last + 1}..{span.partition('..')[2]}",
        }


def _reasons(
    name: str, dtypes: Mapping[str, str], said: Mapping[str, Any] | None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each reason with its dtypes, unless one of all providers stands; () of every one tried."""
    by: dict[str, list[str]] = defaultdict(list)
    for dtype, why in dtypes.items() if said is not None else ():
        told = said.get("not", {}).get(dtype, "") if said else ""
        if told.startswith("kernel") or (not told and not why.startswith("type")):
            by[why].append(dtype)
    tried = set(_tried().get(name, ()))
    for why, given in by.items():
        whole = why.startswith("cpu") and set(given) == tried
        yield why, () if whole or given == ["none"] else tuple(sorted(set(given) - {"none"}))


def _condition(
    chip: str, why: str, argument: str, dtypes: tuple[str, ...], names: list[str],
    texts: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    kind, _, onnx = why.partition(" ")
    own = {"cpu": "left" if dtypes else "left_always", "kernel": "neither", "type": "type"}[kind]
    text = texts[own].replace("{onnx}", onnx).replace("{provider}", PROVIDERS[chip])
    return {
        "ops": sorted(set(names)),
        "code": LEFT if kind == "cpu" else "dtype-not-supported",
        "verdict": "fallback" if kind == "cpu" else "unsupported",
        "confidence": "high",
        "method": "registered",
        "text": text,
        "at": ["operators"] if kind == "type" else [chip],
        "chips": [chip],
        **converters.of_dtypes(argument, dtypes),
    }


def _untried(listed: Listed, text: str, known: Functions) -> Iterator[dict[str, Any]]:
    """What no call was converted of, so that nothing tells which operators it comes to."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for name in listed:
        tried = tuple(_tried().get(name, ()))
        if "none" not in tried:
            found[converters.argument_of(name, known) if tried else "", tried].append(name)
    for (argument, tried), names in sorted(found.items()):
        yield {
            **_unknown(sorted(names), text),
            "at": ["kernels"],
            "chips": list(PROVIDERS),
            **converters.of_dtypes(argument, tried, "none_of"),
        }


def _unknown(ops: list[str], text: str) -> dict[str, Any]:
    return {
        "ops": ops,
        "code": "placement-not-looked-up",
        "verdict": "unknown",
        "confidence": "low",
        "method": "inferred",
        "text": text,
    }


def _tried() -> Mapping[str, list[str]]:
    found: Mapping[str, list[str]] = _placements()["tried"]
    return found


def _placements() -> Mapping[str, Any]:
    return loaded(_PLACEMENTS)
