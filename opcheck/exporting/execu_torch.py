"""A model that ``torch.export`` captured, lowered by ExecuTorch, run by its runtime, and compared.

Nothing here looks at the database: what happens is what the libraries do.
"""

import pickle
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.errors import UsageError
from opcheck.exporting import outputs
from opcheck.exporting.captured import captured, not_captured, ran
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import DynamicInput
from opcheck.model.exporting import ExportRun, Stage
from opcheck.source.building.torchvision_operators import open_sizes

LIBRARIES = ("executorch",)
"""What exporting and running takes, beside torch."""
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


def require_installed() -> None:
    """Refuse where a library is missing.

    Raises:
        UsageError: it is not installed.
    """
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise UsageError(
                Sentence("{text} is not installed, and converting for it takes it", text=name),
                Sentence("install what it takes: pip install 'opcheck[{name}]'", name="executorch"),
            )


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


class ExecuTorch:
    """Lowers models for a chip of the database: ``portable``, or a delegate before that."""

    FILE = "model.pte"

    def __init__(self, chip: str = "portable") -> None:
        self.chip = chip

    def require_installed(self) -> None:
        """Refuse where a library is missing.

        Raises:
            UsageError: it is not installed.
        """
        require_installed()

    def prove(
        self,
        model: nn.Module,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        path: str,
        opset: int | None = None,
        *,
        run: bool = True,
        marked: Sequence[DynamicInput] = (),
    ) -> ExportRun:
        """Lower a model and save it as ``path``; ``run`` it too, and compare with PyTorch.

        Raises:
            UsageError: dimensions are ``marked`` that are to have no size of their own.
        """
        _require_bounds(marked)
        versions = tuple((name, version(name)) for name in ("torch", *LIBRARIES))
        started = time.perf_counter()
        with outputs.quiet(), torch.no_grad(), open_sizes():
            found = self._exported(model, tuple(args), dict(kwargs), path)
            seconds = time.perf_counter() - started
            if found.stage.converted and self.chip in _ELSEWHERE:
                found = replace(found, stage=Stage.CONVERTED)
            elif run and found.stage.converted:
                found = ran(found, model, (tuple(args), dict(kwargs)), (), _session(path))
        return replace(found, versions=versions, seconds=seconds)

    def _exported(
        self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], path: str
    ) -> ExportRun:
        """What became of the lowering."""
        try:
            graph = captured(model, args, kwargs)
        except Exception as error:  # whatever the model's code raises while it is captured
            return not_captured(error, model)
        try:
            program = self.lowered(graph).to_executorch()
            with Path(path).open("wb") as file:
                program.write_to_file(file)
        except Exception as error:  # whatever the lowering raises
            return ExportRun(Stage.CONVERSION, outputs.told(error))
        calls = Counter(_called(program.exported_program().graph))
        return ExportRun(Stage.PROVED, operators=tuple(sorted(calls.items())))

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


def _session(path: str) -> Callable[[Any], list[Tensor]]:
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
