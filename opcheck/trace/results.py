"""The trace that a tree of calls comes to - when the run is over, or in a journal meanwhile."""

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from msgspec.structs import replace

from opcheck.model.codec import to_json
from opcheck.model.trace import Kernel, Node, Trace, Use
from opcheck.model.work import Recorded, WorkResult, renamed
from opcheck.trace.calls.tree import CallTreeRecorder
from opcheck.trace.costs.account import BookedTree, costs_of


def finished(
    tree: CallTreeRecorder,
    device_type: str,
    mode: str,
    kernels: Mapping[str, tuple[Kernel, ...]],
    notes: tuple[str, ...],
    inputs: Any = None,
) -> Trace:
    """The trace for ``device_type``; ``mode`` is ``inference`` or ``train``.

    A tree with an account gives the costs, too; for them it needs the ``inputs`` of the run.
    """
    gaps = sorted({*tree.gaps, *tree.modules.gaps})
    drawn = tree.nodes  # made anew each time it is asked for
    order = _reachable(drawn, tree.uses)
    nodes = tuple(_renumbered(drawn[old], order) for old in order)
    uses = tuple(replace(use, node=order[use.node]) for use in tree.uses)
    apart = tree.apart
    taken = tuple(replace(use, node=len(nodes) + at) for at, (_, use) in enumerate(apart))
    nodes += tuple(node for node, _ in apart)
    if device_type != tree.device.type:
        nodes = tuple(renamed(nodes, tree.device.type, device_type))
    return Trace(
        torch_version=torch.__version__.partition("+")[0],
        device_type=device_type,
        mode=mode,
        nodes=nodes,
        uses=uses,
        sequence=tuple(tree.sequence),
        gaps=tuple(gaps),
        modules_not_called=tree.modules.not_called(),
        kernels=dict(kernels),
        notes=notes,
        differentiated=tuple(
            (order[old], tuple(sorted(names)))
            for old, names in sorted(tree.differentiated.items())
            if old in order
        ),
        taken_apart=taken,
        costs=costs_of(tree, nodes, order, inputs) if isinstance(tree, BookedTree) else None,
        compiled=tuple(sorted(tree.compiled)),
        launches=tuple(
            sorted(replace(launch, count=count) for launch, count in tree.launches.items())
        ),
    )


def _reachable(nodes: Sequence[Node], uses: Sequence[Use]) -> Mapping[int, int]:
    """Old number -> new one, without the nodes of calls that failed before they counted."""
    wanted: set[int] = set()
    todo = [use.node for use in uses]
    while todo:
        index = todo.pop()
        if index not in wanted:
            wanted.add(index)
            todo += [child for child, _ in nodes[index].children or ()]
    return {old: new for new, old in enumerate(sorted(wanted))}


def _renumbered(node: Node, order: Mapping[int, int]) -> Node:
    if not node.children:
        return node
    children = tuple((order[child], count) for child, count in node.children)
    return replace(node, children=children)


class Journal:
    """A file of lines: the result as it is before anything is recorded, then what is added to it.

    It is written call by call and unbuffered: what ends the process, or fills the disk, takes no
    more than the call that was being answered.
    """

    def __init__(
        self,
        path: Path,
        result: Callable[[Trace], WorkResult],
        heard: Callable[[int], None] = lambda _: None,
    ) -> None:
        """``result`` makes an answer of a trace; ``heard`` is told how many calls there are."""
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  # for the process's life
        self._result = result
        self._heard = heard
        self._device_type = ""
        self._nodes = self._uses = self._calls = 0
        self._gaps = (0, 0)

    def begin(self, tree: CallTreeRecorder, device_type: str, mode: str) -> None:
        """Follow ``tree`` from now on; what another run recorded is forgotten."""
        self._device_type = device_type
        self._nodes = self._uses = self._calls = 0
        self._gaps = (0, 0)
        version = torch.__version__.partition("+")[0]
        with contextlib.suppress(OSError):
            self._file.seek(0)
            self._file.truncate()
        self._write(self._result(Trace(version, device_type, mode, (), (), ())))
        tree.told = self._follow

    def _follow(self, tree: CallTreeRecorder) -> None:
        """Add what is new in the tree."""
        nodes = tree.nodes_from(self._nodes)
        uses = tree.uses_from(self._uses)
        gaps = (*list(tree.gaps)[self._gaps[0] :], *tree.modules.gaps[self._gaps[1] :])
        calls = tree.sequence[self._calls :]
        if nodes or uses or gaps:
            shown = tuple(renamed(nodes, tree.device.type, self._device_type))
            self._write(Recorded(shown, uses, tuple(calls), gaps))
        else:
            self._add(_AS_BEFORE % ", ".join(map(str, calls)))
        self._nodes += len(nodes)
        self._uses += len(uses)
        self._calls = len(tree.sequence)
        self._gaps = (len(tree.gaps), len(tree.modules.gaps))
        self._heard(self._calls)

    def _write(self, value: WorkResult | Recorded) -> None:
        self._add(json.dumps(to_json(value)))

    def _add(self, line: str) -> None:
        with contextlib.suppress(OSError):  # no room, or the user's code closed it
            self._file.write(f"{line}\n".encode())


_AS_BEFORE = '{"Recorded": [[], [], [%s], []]}'
"""What :func:`to_json` makes of calls from places where the same calls were: most, as a rule."""
