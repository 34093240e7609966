"""What exports models for one vendor's runtime, and has it run them.

Nothing in this folder looks at the database: what happens is what the libraries do.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import torch
from msgspec.structs import replace
from torch import Tensor, nn

from opcheck.errors import UsageError
from opcheck.exporting import captured, outputs
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import DynamicInput
from opcheck.model.exporting import ExportRun, Stage
from opcheck.source.building.torchvision_operators import open_sizes
from opcheck.trace.sizes.runs import Inputs

Session = Callable[[Inputs], list[Tensor]]
"""Runs a file on inputs of the model, loaded at the first call."""


class Asked(NamedTuple):
    """A model, and how it is to be exported."""

    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    path: str
    """Where the file is written."""
    opset: int | None = None
    marked: Sequence[DynamicInput] = ()
    """Dimensions that have no size of their own in the file."""


class Exporter(ABC):
    """Exports captured graphs by a vendor's libraries, and runs them where its runtime is."""

    extra: str
    """What opcheck calls the libraries together: ``pip install 'opcheck[extra]'``."""
    file: str
    """What a model is called that is not kept."""
    libraries: Sequence[str]
    """What exporting and running takes, beside torch."""

    def require_installed(self) -> None:
        """Refuse where a library is missing.

        Raises:
            UsageError: it is not installed.
        """
        for name in self.libraries:
            if find_spec(name) is None:
                raise UsageError(
                    Sentence(
                        "{text} is not installed, and exporting for this target takes it", text=name
                    ),
                    Sentence(
                        "install what it takes: pip install 'opcheck[{name}]'", name=self.extra
                    ),
                )

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
        """Export a model to ``path``; ``run`` the file too, and compare what it gives with PyTorch.

        ``marked``: dimensions that have no size of their own in the file; it is run with others
        too.
        """
        asked = Asked(model, tuple(args), dict(kwargs), path, opset, marked)
        started = time.perf_counter()
        with outputs.quiet(), torch.no_grad(), open_sizes():
            found, session = self._exported(asked)
            seconds = time.perf_counter() - started
            if run and session is not None:
                given = (asked.args, asked.kwargs)
                found = captured.ran(found, model, given, marked, session, self.told)
        versions = tuple((name, version(name)) for name in ("torch", *self.libraries))
        return replace(found, versions=versions, seconds=seconds)

    def _exported(self, asked: Asked) -> tuple[ExportRun, Session | None]:
        try:
            graph = self.captured(asked)
        except UsageError:
            raise
        except Exception as error:  # whatever the model's code raises while it is captured
            return captured.not_captured(error, asked.model), None
        try:
            return self.written(graph, asked)
        except Exception as error:  # whatever the converter raises
            return ExportRun(Stage.CONVERSION, self.told(error)), None

    def captured(self, asked: Asked) -> torch.export.ExportedProgram:
        """The graph that is converted.

        Raises:
            UsageError: the model is given no such input as is marked, or it has no such dimension.
        """
        return captured.captured(asked.model, asked.args, asked.kwargs, asked.marked)

    @abstractmethod
    def written(
        self, graph: torch.export.ExportedProgram, asked: Asked
    ) -> tuple[ExportRun, Session | None]:
        """Convert the graph and write the file: what it holds, and what runs it.

        None where nothing here does. Whatever is raised is why it is not converted.
        """

    def told(self, error: BaseException) -> str:
        """What an error of the libraries says, in one line."""
        return outputs.told(error)
