"""Ascend: gradients of the vendor's own, from ``derivatives.yaml`` and the code."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers.ascend.chips import Socs
from opcheck.db.importers.ascend.lists import Derivative, Lists, active, read_derivatives, spans
from opcheck.db.importers.base import load_yaml, source_files
from opcheck.db.importers.shared import operator_list
from opcheck.db.importers.shared.operator_list import Function
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_CALL = re.compile(r"(?P<before>\.|\bat::)?\b(?P<name>[A-Za-z_]\w*)\(|(?P<scaled>\)\s*\*\s*-?\d)")
_NEGATED = "-"
_NOT_CALLS = frozenset({"Tensor"})
"""Constructors behind ``at::``."""


class Names(Struct, frozen=True):
    """What a name in a formula may stand for, for one torch version."""

    vendor: Collection[str]
    """The vendor's own operators, without their namespace."""
    upstream: Mapping[str, Function]
    helpers: Mapping[str, tuple[str, ...]]
    """Helper in C++ -> the overloads that it calls."""

    def called(self, formula: str) -> tuple[str, ...]:
        """Overloads in schema spelling, each once, in the order of the text."""
        return tuple(dict.fromkeys(self._calls(formula)))

    def _calls(self, formula: str) -> Iterator[str]:
        if formula.startswith(_NEGATED):
            yield "aten::neg"
        for match in _CALL.finditer(formula):
            name, before = match["name"], match["before"]
            if match["scaled"]:
                yield "aten::mul.Scalar"
            elif before == ".":
                yield from self._method(name)
            elif name not in _NOT_CALLS:
                yield from self._function(name, formula)

    def _method(self, name: str) -> Iterator[str]:
        if name in self.upstream:
            if self.upstream[name].gives_tensor:
                yield f"aten::{name}"
        elif any(f.base == name and f.gives_tensor for f in self.upstream.values()):
            raise DatabaseError(
                Sentence("a formula calls .{name}(), which is one of several overloads", name=name)
            )

    def _function(self, name: str, formula: str) -> Iterator[str]:
        if name in self.vendor:
            yield f"npu::{name}"
        elif name in self.upstream:
            yield f"aten::{name}"
        elif name in self.helpers:
            yield from self.helpers[name]
        else:
            raise DatabaseError(
                Sentence(
                    "{name} in the formula {text} is no operator that is known",
                    name=repr(name),
                    text=repr(formula),
                ),
                Sentence("say in ascend_gradients.yaml what this helper calls"),
            )


_DATA = Path(__file__).with_name("ascend_gradients.yaml")
_LIST = "op_plugin/config/derivatives.yaml"
_SOURCE = "derivatives"
_EVERYWHERE = "all"
"""The guard that holds for every chip."""

Way = dict[str, Any]
"""How an overload is differentiated, as the file writes it, without the torch versions."""


@cache
def _facts() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data


def derivatives(folder: Path, release: str, torch: tuple[str, ...]) -> tuple[Derivative, ...]:
    """Derivatives that a release lists; ``torch`` are the versions that its lists speak of."""
    path = folder / f"derivatives@{release}.yaml"
    if path.exists():
        return read_derivatives(path)
    return tuple(
        Derivative(
            said["name"],
            said["seen"][release],
            active(said.get("torch", "all_version"), torch),
            {tuple(key.split(", ")): text for key, text in said["formulas"].items()},
        )
        for said in _facts()["derivatives"]
        if release in said["seen"]
    )


def gradient_source(folder: Path, release: str, plugin: Mapping[str, Any]) -> dict[str, Any]:
    """Where the derivatives of a release were read; ``plugin`` is where its operators were."""
    file = source_files(folder).get(f"derivatives@{release}.yaml")
    if file is not None:
        return file.as_data()
    return {**plugin, "path": _facts()["lists"].get(release, _LIST)}


def gradients(
    lists: Lists, release: str, served: tuple[str, ...], folder: Path, socs: Socs
) -> dict[str, Way | list[Way]]:
    """Overload -> gradient of the file, or a list of them where torch versions or chips differ.

    Args:
        lists: the operator lists of the release.
        release: which one.
        served: torch versions that the file speaks of.
        folder: PyTorch's own operator lists.
        socs: what the code asks of chips.
    """
    found: dict[str, list[Way]] = {}
    for entry, torch in _by_entry(lists, served):
        for op, ways in _listed(entry, torch, lists, release, folder).items():
            found.setdefault(op, []).extend(_variant(way, vs, served) for way, vs in ways)
    for op, way, torch in _through(lists, release, served, folder, socs):
        found.setdefault(op, []).append(_variant(way, torch, served))
    for op, way, torch in _composed(lists, release, served):
        found.setdefault(op, []).append(_variant(way, torch, served))
    return {op: ways[0] if len(ways) == 1 else ways for op, ways in found.items()}


def _by_entry(
    lists: Lists, served: tuple[str, ...]
) -> Iterator[tuple[Derivative, tuple[str, ...]]]:
    for entry in lists.derived:
        torch = tuple(version for version in served if version in entry.torch)
        if torch:
            yield entry, torch


def _listed(
    entry: Derivative, torch: tuple[str, ...], lists: Lists, release: str, folder: Path
) -> dict[str, list[tuple[Way, tuple[str, ...]]]]:
    """What one line of the list says of overloads of PyTorch, with the versions it holds for."""
    found: dict[str, list[tuple[Way, list[str]]]] = {}
    for version in torch:
        known = operator_list.functions(folder, version)
        if entry.name not in known:
            continue
        calls = _formulas(entry, version, lists, release, known)
        way = {"at": [_at(entry), *_cited(entry, release)], "formulas": calls}
        for name in _differentiated(entry.name, known):
            ways = found.setdefault(f"aten::{name}", [])
            if ways and ways[-1][0] == way:
                ways[-1][1].append(version)
            else:
                ways.append((way, [version]))
    return {op: [(way, tuple(vs)) for way, vs in ways] for op, ways in found.items()}


def _differentiated(name: str, known: Mapping[str, Function]) -> Iterator[str]:
    """The overload of that name, and its in-place form; ``out=`` forms refuse gradients."""
    yield name
    for other in known.values():
        if other.signature == known[name].signature and other.base == f"{known[name].base}_":
            yield other.name


def _formulas(
    entry: Derivative, torch: str, lists: Lists, release: str, known: Mapping[str, Function]
) -> dict[str, tuple[str, ...]]:
    names = Names(_customs(lists, torch), known, _helpers(release))
    return {", ".join(keys): names.called(text) for keys, text in entry.formulas.items()}


def _customs(lists: Lists, torch: str) -> frozenset[str]:
    customs = lists.plugin.sections.get("custom", ())
    return frozenset(entry.name for entry in customs if torch in entry.kernels)


def _helpers(release: str) -> dict[str, tuple[str, ...]]:
    said = _facts()["helpers"].items()
    return {name: tuple(h["calls"]) for name, h in said if _seen(h["seen"], release)}


def _at(entry: Derivative) -> str:
    return f"{_SOURCE}:{entry.line}"


def _cited(entry: Derivative, release: str) -> Iterator[str]:
    """Where the helpers of its formulas are."""
    for name, helper in _facts()["helpers"].items():
        if any(f"{name}(" in text for text in entry.formulas.values()):
            yield _seen(helper["seen"], release)


def _through(
    lists: Lists, release: str, served: tuple[str, ...], folder: Path, socs: Socs
) -> Iterator[tuple[str, Way, tuple[str, ...]]]:
    """Operators whose kernel calls one of the vendor's that has a derivative."""
    for fact in _facts()["through"]:
        cited = _seen(fact["seen"], release)
        chips = socs.where(fact["where"], release)
        if not (cited and chips):
            continue
        asked = active(fact["torch"], lists.plugin.torch)
        for entry, torch in _by_entry(lists, tuple(v for v in served if v in asked)):
            if entry.name == fact["calls"]:
                known = operator_list.functions(folder, torch[-1])
                calls = _formulas(entry, torch[-1], lists, release, known)
                own = known[fact["op"].removeprefix("aten::")].tensors
                calls = _kept(calls, fact.get("made_of", {}), own)
                yield fact["op"], _way(fact, entry, chips, cited, calls), torch


def _composed(
    lists: Lists, release: str, served: tuple[str, ...]
) -> Iterator[tuple[str, Way, tuple[str, ...]]]:
    """Operators whose kernel at the autograd key is made of others that have gradients."""
    for fact in _facts()["composed"]:
        cited = _seen(fact["seen"], release)
        asked = active(fact["torch"], lists.plugin.torch) if cited else ()
        if torch := tuple(version for version in served if version in asked):
            way = {"at": [cited], "method": "inferred", "formulas": fact["formulas"]}
            yield fact["op"], way, torch


def _kept(
    calls: Mapping[str, tuple[str, ...]], made_of: Mapping[str, str], own: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Formulas for what of their arguments the calling operator has, or makes them of."""
    named = {
        key: dict.fromkeys(made_of.get(name, name) for name in key.split(", ")) for key in calls
    }
    kept = {key: [name for name in names if name in own] for key, names in named.items()}
    return {", ".join(names): calls[key] for key, names in kept.items() if names}


def _way(
    fact: Mapping[str, Any],
    entry: Derivative,
    chips: tuple[str, ...],
    cited: str,
    calls: Mapping[str, tuple[str, ...]],
) -> Way:
    way: Way = {"at": [cited, _at(entry)], "method": "inferred", "formulas": calls}
    if fact["where"] != _EVERYWHERE:
        way["chips"] = chips
    unless = [test for group in fact.get("unless", ()) for test in _facts()["unless"][group]]
    return {**way, "unless": unless} if unless else way


def _variant(way: Way, torch: tuple[str, ...], served: tuple[str, ...]) -> Way:
    return way if torch == served else {**way, "torch": spans(torch, served)}


def _seen(seen: Mapping[str, Mapping[str, int]], release: str) -> str:
    for path, lines in seen.items():
        if release in lines:
            source = "plugin" if path.startswith("op_plugin/") else "framework"
            return f"{source}:{path}:{lines[release]}"
    return ""
