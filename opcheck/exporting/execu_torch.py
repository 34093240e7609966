"""Models that ``torch.export`` captured, lowered by ExecuTorch and run by its runtime."""

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.errors import UsageError
from opcheck.exporting.exporter import Asked, Exporter, Session
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import DynamicInput
from opcheck.model.exporting import ExportRun, Stage

_DELEGATED = "executorch_call_delegate"
_PARTITIONERS = {
    "vulkan": ("executorch.backends.vulkan.partitioner.vulkan_partitioner", "VulkanPartitioner"),
    "xnnpack": (
        "executorch.backends.xnnpack.partition.xnnpack_partitioner", "XnnpackPartitioner"
    ),
}  # fmt: skip
"""Chip -> what takes calls for its delegate."""
_ELSEWHERE = frozenset({"vulkan"})
"""Chips whose delegates the runtime of the wheel has nothing to run by."""


def _require_bounds(marked: Sequence[DynamicInput]) -> None:
    """Refuse sizes without bounds: of a larger tensor than planned the runtime has no memory."""
    if marked:
        raise UsageError(
            Sentence(
                "ExecuTorch plans memory for the largest sizes, which --dynamic does not give"
            ),
            Sentence(
                "leave --dynamic out, and name bounds where the program is written: "
                "torch.export.Dim(NAME, max=SIZE)"
            ),
        )


class ExecuTorch(Exporter):
    """Lowers models for a chip of the database: ``portable``, or a delegate before that."""

    extra = "executorch"
    file = "model.pte"
    libraries = ("executorch",)

    def __init__(self, chip: str = "portable") -> None:
        self.chip = chip

    def captured(self, asked: Asked) -> torch.export.ExportedProgram:
        """The graph that is lowered.

        Raises:
            UsageError: dimensions are marked that are to have no size of their own.
        """
        _require_bounds(asked.marked)
        return super().captured(asked)

    def written(
        self, graph: torch.export.ExportedProgram, asked: Asked
    ) -> tuple[ExportRun, Session | None]:
        """Lower the graph, and write the program; the wheel's runtime lacks some delegates."""
        program = self.lowered(graph).to_executorch()
        with Path(asked.path).open("wb") as file:
            program.write_to_file(file)
        calls = tuple(sorted(Counter(_called(program.exported_program().graph)).items()))
        if self.chip in _ELSEWHERE:
            return ExportRun(Stage.CONVERTED, operators=calls), None
        return ExportRun(Stage.PROVED, operators=calls), _session(asked.path)

    def told(self, error: BaseException) -> str:
        """What an error of the library says; of flatc, which writes the program, without paths."""
        if isinstance(error, CalledProcessError):
            command = Path(error.cmd[0]).name
            return f"{type(error).__name__}: {command} refuses it with exit code {error.returncode}"
        return super().told(error)

    def lowered(self, graph: torch.export.ExportedProgram) -> Any:
        """The graph in the edge dialect, with what the partitioner took in delegates."""
        from executorch.exir import to_edge_transform_and_lower

        return to_edge_transform_and_lower(graph, partitioner=self.partitioners())

    def partitioners(self) -> list[Any]:
        """What takes calls for the chip's delegate; nothing for the kernels alone."""
        if self.chip not in _PARTITIONERS:
            return []
        module, name = _PARTITIONERS[self.chip]
        return [getattr(import_module(module), name)()]


def _called(graph: Any) -> Iterator[str]:
    """Kernels that the program calls, and what it leaves to a delegate."""
    for node in graph.nodes:
        if isinstance(node.target, torch._ops.OpOverload):
            yield node.target.name()
        elif node.op == "call_function" and _DELEGATED in str(node.target):
            yield _DELEGATED


def _session(path: str) -> Session:
    """What runs the program on inputs of the model, in a process of its own each time."""
    return lambda inputs: _apart(lambda: _results(path, pytree.tree_leaves(inputs)))


def _results(path: str, given: Sequence[Any]) -> list[Tensor]:
    from executorch.runtime import Runtime

    program = Runtime.get().load_program(Path(path))
    method = program.load_method("forward")
    leaves = [each.contiguous() if isinstance(each, Tensor) else each for each in given]
    return [each.clone() for each in method.execute(leaves) if isinstance(each, Tensor)]


def _apart(run: Callable[[], list[Tensor]]) -> list[Tensor]:
    """What a function gives in a process of its own: some of the runtime's checks end the process.

    Where none may be started, as beside a model file that is not trusted, it is called here.

    Raises:
        RuntimeError: it raised, or ended the process.
    """
    context = get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_answer, args=(run, there))
    try:
        child.start()
    except OSError:  # the sandbox gives EAGAIN
        return run()
    there.close()
    try:
        done, said = pickle.loads(here.recv_bytes())
    except EOFError:
        done, said = False, "the runtime ended the process"
    child.join()
    if not done:
        raise RuntimeError(said)
    return [_tensor(*each) for each in said]


def _answer(run: Callable[[], list[Tensor]], pipe: Any) -> None:
    try:
        said: tuple[bool, Any] = True, [_bytes(each) for each in run()]
    except Exception as error:  # whatever the runtime raises
        said = False, str(error)
    pipe.send_bytes(pickle.dumps(said))
    pipe.close()


def _bytes(tensor: Tensor) -> tuple[bytes, str, tuple[int, ...]]:
    own = tensor.detach().contiguous()
    data = own.reshape(-1).view(torch.uint8) if own.numel() else own.new_empty(0, dtype=torch.uint8)
    return bytes(data.numpy()), str(own.dtype).removeprefix("torch."), tuple(own.shape)


def _tensor(data: bytes, dtype: str, shape: tuple[int, ...]) -> Tensor:
    kind = getattr(torch, dtype)
    if not data:
        return torch.empty(shape, dtype=kind)
    return torch.frombuffer(bytearray(data), dtype=kind).reshape(shape)
