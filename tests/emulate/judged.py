"""What the resolver says that a target refuses of single calls, from a tree of each."""

from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import torch
from torch import nn

from opcheck.emulate.gradients import registrations
from opcheck.model.matrix import SupportMatrix
from opcheck.resolve.collectives import refused
from opcheck.trace.calls.modules import ModuleStack
from opcheck.trace.calls.tree import CallTreeRecorder
from opcheck.trace.device.tensors import prepare
from opcheck.trace.results import finished
from opcheck.trace.run import dtypes
from opcheck.trace.running.model_state import on_device
from opcheck.trace.torch_internals.autocast import autocasting
from opcheck.trace.torch_internals.kernels import Kernels
from tests.emulate.operator_samples import Case


class Judged:
    """Traces calls for one target, without gradients; its kernels are registered once for all."""

    def __init__(self, matrix: SupportMatrix) -> None:
        self._matrix = matrix
        self._device = prepare(matrix.target.device_type)
        self._casts = dtypes(registrations(matrix).casts)
        self._kernels = Kernels()
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        self._undo.enter_context(autocasting(self._matrix.autocast))
        self._undo.enter_context(self._kernels.kept())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._undo.close()

    def refused(self, case: Case) -> list[str]:
        """Overloads that conditions keep off the target, as far as the call goes there."""
        tree = CallTreeRecorder(self._device, self._casts, ModuleStack(nn.Module()))
        tree.device_kernels = self._kernels
        torch.default_generator.manual_seed(0)
        first, args, kwargs = on_device(case.inputs, self._device)
        with tree.running():
            case.call(first, args, kwargs)
        trace: Any = finished(tree, self._device.type, "inference", {}, ())
        return sorted(refused(trace, self._matrix))
