"""What a run has recorded so far, kept in a file that outlives the process that runs the model."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import torch

from opcheck.model.codec import to_json
from opcheck.model.trace import Trace
from opcheck.model.work import Recorded, WorkResult
from opcheck.trace.disguise import undisguised
from opcheck.trace.tree import Tree


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

    def begin(self, tree: Tree, device_type: str, mode: str) -> None:
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

    def _follow(self, tree: Tree) -> None:
        """Add what is new in the tree."""
        nodes = tree.nodes_from(self._nodes)
        uses = tree.uses_from(self._uses)
        gaps = (*list(tree.gaps)[self._gaps[0] :], *tree.modules.gaps[self._gaps[1] :])
        shown = tuple(undisguised(nodes, tree.device, self._device_type))
        self._write(Recorded(shown, uses, tuple(tree.sequence[self._calls :]), gaps))
        self._nodes += len(nodes)
        self._uses += len(uses)
        self._calls = len(tree.sequence)
        self._gaps = (len(tree.gaps), len(tree.modules.gaps))
        self._heard(self._calls)

    def _write(self, value: WorkResult | Recorded) -> None:
        with contextlib.suppress(OSError):  # no room, or the user's code closed it
            self._file.write(json.dumps(to_json(value)).encode() + b"\n")
