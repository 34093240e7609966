"""What became of a model that was exported, and run by the runtime that it was exported for."""

from enum import StrEnum

from msgspec import Struct

from opcheck.model.emulation import Difference
from opcheck.model.request import ModelSpec


class Stage(StrEnum):
    """How far a model came on its way to a runtime."""

    CAPTURE = "capture"
    """``torch.export`` gives no graph of it: a data-dependent branch or shape, a graph break."""
    CONVERSION = "conversion"
    """The graph has a call that the converter has nothing for, or refuses."""
    RUNTIME = "runtime"
    """The runtime refuses the file: no kernel for an operator and dtype, or an invalid model."""
    VALUES = "values"
    """It runs, and gives other values than PyTorch."""
    PROVED = "proved"
    """It runs, and gives what PyTorch gives."""
    CONVERTED = "converted"
    """The converter wrote a file, whose runtime is on other systems alone."""

    @property
    def converted(self) -> bool:
        """Whether the converter wrote a file."""
        return self not in (Stage.CAPTURE, Stage.CONVERSION)

    @property
    def runs(self) -> bool:
        """Whether the runtime ran it."""
        return self in (Stage.VALUES, Stage.PROVED)


class Cause(StrEnum):
    """Why ``torch.export`` gives no graph, as far as its error says."""

    VALUE = "value"
    """Python decides by a value of a tensor."""
    NUMBER = "number"
    """Python needs a number that a tensor holds: a position, a count, a size."""
    DATA_SIZE = "data-size"
    """Code decides by a size that depends on values."""
    SIZE = "size"
    """The code holds for one size alone of a dimension that is marked."""
    CACHE = "cache"
    """The model gives a cache of transformers, for its next token."""
    CLASS = "class"
    """The model takes or gives an object of a class that is none of its containers."""
    OTHER = "other"


class ExportRun(Struct, frozen=True):
    """One model, really exported and run."""

    stage: Stage
    """Where it ended."""
    error: str = ""
    """What ended it: the exception's type and the first line of its text."""
    cause: Cause | None = None
    """Why it was not captured; None where it was."""
    place: str = ""
    """The line of the model's own code that it was not captured for, as ``net.py:12``."""
    code: str = ""
    """What stands there."""
    versions: tuple[tuple[str, str], ...] = ()
    """Libraries that took part, with their versions."""
    opset: int = 0
    """The version of ONNX's operators that the file is written in; 0 where it is of no ONNX."""
    operators: tuple[tuple[str, int], ...] = ()
    """What the file's graph calls, and how often."""
    differences: tuple[Difference, ...] = ()
    """The outputs, compared with PyTorch's."""
    random: bool = False
    """Whether PyTorch itself gives other values each time: shapes and dtypes are compared alone."""
    seconds: float = 0.0
    """What exporting took."""
    sizes: tuple[tuple[str, int], ...] = ()
    """Marked dimensions, as ``x:0``, with the other size that the file was run with too."""

    @property
    def largest(self) -> float | None:
        """The largest difference of any output; None where there are none, or one is no number."""
        found = [each.largest for each in self.differences]
        return None if None in found or not found else max(each or 0.0 for each in found)


class ExportRequest(Struct, frozen=True):
    """One model to export, and to run by the runtime."""

    model: ModelSpec
    target: str
    """``str(Target)``."""
    vendor: str
    """Whose converter and runtime it is."""
    path: str = ""
    """The file to write it to; "": a temporary one."""
    opset: int = 0
    """The version of ONNX's operators to write; 0: the converter's own choice."""
    run: bool = True
    """Whether to run the file; with other sizes too, where the model has dimensions marked."""

    @property
    def files(self) -> tuple[str, ...]:
        """What is written: OpenVINO has a model's weights in a file beside it."""
        if not self.path:
            return ()
        beside = f"{self.path.removesuffix('.xml')}.bin"
        return (self.path, beside) if self.vendor == "openvino" else (self.path,)
