"""Where ExecuTorch's partitioner really puts each call of a graph; opcheck is not asked."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

import torch
from msgspec import Struct

from opcheck.exporting.execu_torch import ExecuTorch

DELEGATED, LEFT, PARTLY, GONE = "delegated", "left", "partly", "gone"
_MARK = "opcheck_call"
_KEPT = "custom"
"""The entry of a node's meta that decompositions and passes copy (torch.fx.proxy, 2.13.0)."""


class PlacedCall(Struct, frozen=True):
    """One call of the captured graph, and where what became of it is."""

    op: str
    tensors: tuple[str, ...]
    """Its tensor arguments, as ``float32[2, 3]``."""
    place: str
    """In delegates, left to other kernels, in part each; or nothing of it is left to run."""
    parts: tuple[str, ...] = ()
    """What was left of it outside of delegates."""


class Placing(ExecuTorch):
    """Lowers as that does, and notes where each call of the captured graph went."""

    def __init__(self, chip: str) -> None:
        super().__init__(chip)
        self.calls: tuple[PlacedCall, ...] = ()
        self.partitions = 0

    def lowered(self, graph: torch.export.ExportedProgram) -> Any:
        """The graph lowered; what it calls is marked before, and looked up after that.

        Where Vulkan's delegate cannot be written, what its partitioner took is noted all the same.
        """
        self.calls, self.partitions = (), 0
        for place, node in enumerate(graph.graph.nodes):
            if node.op == "call_function":
                node.meta[_KEPT] = {_MARK: place}
        again = copy.deepcopy(graph) if self.chip == "vulkan" else None
        try:
            edge = super().lowered(graph)
        except Exception:  # whatever the lowering raises
            if again is not None:
                with suppress(Exception), _unwritten():
                    self._note(again, super().lowered(again).exported_program())
            raise
        self._note(graph, edge.exported_program())
        return edge

    def _note(
        self, graph: torch.export.ExportedProgram, program: torch.export.ExportedProgram
    ) -> None:
        inside = [each for module in _delegates(program) for each in _marked(module)]
        outside = list(_marked(program))
        self.partitions = sum(1 for _ in _delegates(program))
        self.calls = tuple(_calls(graph, inside, outside))


@contextmanager
def _unwritten() -> Iterator[None]:
    """Have Vulkan's delegates in the block hold nothing."""
    from executorch.backends.vulkan.vulkan_preprocess import VulkanBackend
    from executorch.exir.backend.backend_details import PreprocessResult

    empty = staticmethod(lambda program, specs: PreprocessResult(processed_bytes=b""))
    with patch.object(VulkanBackend, "preprocess", empty):
        yield


def _calls(
    graph: torch.export.ExportedProgram,
    inside: list[tuple[int, str]],
    outside: list[tuple[int, str]],
) -> Iterator[PlacedCall]:
    delegated = {mark for mark, _ in inside}
    left: dict[int, list[str]] = {}
    for mark, name in outside:
        left.setdefault(mark, []).append(name)
    for mark, node in enumerate(graph.graph.nodes):
        if isinstance(node.target, torch._ops.OpOverload):
            place = _PLACES[mark in delegated, mark in left]
            parts = tuple(sorted(left.get(mark, ())))
            yield PlacedCall(node.target.name(), tuple(_tensors(node)), place, parts)


_PLACES = {
    (True, False): DELEGATED, (False, True): LEFT, (True, True): PARTLY, (False, False): GONE
}  # fmt: skip


def _marked(program: torch.export.ExportedProgram) -> Iterator[tuple[int, str]]:
    """Each call of a graph in the edge dialect: which call it comes of, and its operator."""
    for node in program.graph.nodes:
        mark = (node.meta.get(_KEPT) or {}).get(_MARK)
        overload = getattr(node.target, "_op", node.target)
        if mark is not None and isinstance(overload, torch._ops.OpOverload):
            yield mark, overload.name()


def _delegates(program: torch.export.ExportedProgram) -> Iterator[torch.export.ExportedProgram]:
    """What was given to delegates, as it was before they compiled it."""
    for node in program.graph.nodes:
        if node.op == "get_attr":
            module: Any = getattr(program.graph_module, str(node.target), None)
            if hasattr(module, "original_module"):
                yield module.original_module


def _tensors(node: torch.fx.Node) -> Iterator[str]:
    for given in node.all_input_nodes:
        value = given.meta.get("val")
        if isinstance(value, torch.Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            yield f"{dtype}{[int(size) for size in value.shape]}"
