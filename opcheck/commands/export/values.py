"""What ``opcheck export`` is asked and answers."""

from msgspec import Struct

from opcheck.model.dynamic import SiteTaken
from opcheck.model.exporting import ExportRun, Stage
from opcheck.model.report import Finding
from opcheck.model.request import ModelSpec
from opcheck.model.target import TargetSpec

NOT_CONVERTED = frozenset(
    {
        "no-converter", "part-not-converted", "converter-raises", "not-captured", "not-converted",
        "numbers-not-converted", "class-not-known", "not-core-aten", "edge-refuses-dtype",
        "no-out-variant", "result-given-twice",
    }
)  # fmt: skip
"""Codes of findings by which no file is written; by others the runtime refuses what is written."""


class ExportQuestion(Struct, frozen=True):
    """One model to export for one target."""

    model: ModelSpec
    target: TargetSpec
    prove: bool = False
    """Whether to run the file, and to scan."""
    output: str = ""
    """The file to write; "": none is kept."""
    output_of: str = "onnxruntime"
    """The vendor whose format that file has."""
    opset: int = 0
    """The version of ONNX's operators; 0: the converter's own choice."""
    databases: tuple[str, ...] = ()


class ExportAnswer(Struct, frozen=True):
    """What became of it, beside what was predicted."""

    source: str
    target: str
    """``str(Target)``."""
    run: ExportRun
    proved: bool
    """Whether the runtime was to run the file."""
    output: str = ""
    """The file that is there now; "": none."""
    predicted: bool | None = None
    """Whether the scan says that it runs; None where it could not tell, or was not asked."""
    blockers: tuple[Finding, ...] = ()
    """What the scan says keeps the model from the target."""
    sizes: tuple[SiteTaken, ...] = ()
    """Where the scan says that the graph holds for some of the marked sizes alone."""

    @property
    def by_cpu_provider(self) -> bool:
        """Whether ONNX Runtime's CPU provider stood in for the target's own, as it always does."""
        name = self.target.partition("@")[0]
        return self.proved and name.startswith("onnxruntime-") and name != "onnxruntime-cpu"

    @property
    def came_through(self) -> bool:
        """Whether the model came as far as was asked."""
        if self.proved and self.run.stage is not Stage.CONVERTED:
            return self.run.stage is Stage.PROVED
        return self.run.stage.converted

    @property
    def agrees(self) -> bool | None:
        """Whether what happened is what the scan says; None where it says nothing."""
        if not self.proved or self.predicted is None:
            return None
        converted = self.run.stage.converted
        if self.run.stage is Stage.CONVERTED or (self.by_cpu_provider and converted):
            left_out = any(each.reason.code in NOT_CONVERTED for each in self.blockers)
            return False if left_out else None
        return self.predicted == self.run.stage.runs
