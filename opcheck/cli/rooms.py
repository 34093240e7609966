"""What the commands ask for their answers: the pipeline, or a stand-in handed to ``run``."""

import importlib
from collections.abc import Callable
from typing import Protocol

import typer

from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.explanation import Explanation, TargetRow
from opcheck.model.report import Report
from opcheck.model.request import ScanRequest
from opcheck.model.target import TargetSpec


class Rooms(Protocol):
    """The functions of ``opcheck.pipeline`` that commands call."""

    def scan(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Report:
        """Hold a model against targets."""

    def emulate(
        self,
        request: EmulationRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Emulation:
        """Run a model on an emulated device."""

    def targets(self) -> tuple[TargetRow, ...]:
        """Give the newest target of every chip."""

    def explain(self, operator: str, specs: tuple[TargetSpec, ...]) -> tuple[Explanation, ...]:
        """Give each overload of an operator on each target."""


def rooms(context: typer.Context) -> Rooms:
    """The rooms of this run; the pipeline is imported only when a command needs it."""
    given: Rooms | None = context.obj
    if given is not None:
        return given
    pipeline: Rooms = importlib.import_module("opcheck.pipeline")
    return pipeline
