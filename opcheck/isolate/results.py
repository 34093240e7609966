"""Answers of a worker, read: what several traces of one model have in common is read once."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from opcheck.model.codec import Json, from_json
from opcheck.model.trace import Node
from opcheck.model.work import WorkResult

_RESULT, _TRACE, _NODES = "WorkResult", "Trace", 3
"""Where a result in JSON has its nodes: of a trace the fourth part."""


class Results:
    """Reads results one after the other, each as :func:`from_json` would."""

    def __init__(self) -> None:
        self._written: Sequence[str] = ()
        self._read: tuple[Node, ...] = ()

    def read(self, data: Json) -> WorkResult:
        """One result; MalformedError where it is none."""
        nodes = _nodes(data)
        if nodes is None:
            return from_json(WorkResult, data)  # tells what is wrong
        found = from_json(WorkResult, _without_nodes(data))
        # device types differ in few of them: comparing is much quicker than reading; as text, in
        # which 1 is not True
        written = [repr(node) for node in nodes]
        known = zip(written, self._written, self._read, strict=False)
        alike = [one if text == before else None for text, before, one in known]
        alike += [None] * (len(nodes) - len(alike))
        pairs = zip(alike, nodes, strict=True)
        self._read = tuple(one or from_json(Node, node) for one, node in pairs)
        self._written = written
        return replace(found, trace=replace(found.trace, nodes=self._read))


def _nodes(data: Any) -> list[Any] | None:
    """The nodes of a result in JSON; None where it does not look like one."""
    try:
        nodes = data[_RESULT][0][_TRACE][_NODES]
    except (KeyError, IndexError, TypeError):
        return None
    return nodes if isinstance(nodes, list) else None


def _without_nodes(data: Any) -> Json:
    trace, *rest = data[_RESULT]
    parts = list(trace[_TRACE])
    parts[_NODES] = []
    return {**data, _RESULT: [{**trace, _TRACE: parts}, *rest]}
