"""The models that tpu-inference tests for each of its releases, as vLLM's PyTorch code has them."""

import csv
from collections.abc import Iterator, Mapping

from opcheck.db.importers.models.base import ListReader, Row, types_of
from opcheck.db.importers.shared.repository import Repository
from opcheck.model.model_lists import Outcome

_CHIPS = {"v6e": "tpu-v6e", "v7x": "tpu-v7x"}
_UNIT, _ACCURACY = "UnitTest", "Accuracy/Correctness"
_PASSES, _FAILS, _MEMORY = "✅ Passing", "❌ Failing", "not enough HBM"


class TpuInference(ListReader):
    """Reads the tables of a release that are of vLLM's own model code, one a generation."""

    name = "tpu-inference"
    repo = "vllm-project/tpu-inference"
    vendor = "google"
    engine = "vLLM"
    method = "tested"
    other_chips: Mapping[str, str] = {"tpu-v6e": "Google TPU v6e", "tpu-v7x": "Google TPU v7x"}

    def sources(self, repository: Repository) -> Mapping[str, str]:
        """A table a generation."""
        return {chip: _path(chip) for chip in _CHIPS}

    def rows(self, repository: Repository) -> Iterator[Row]:
        """One row a model and a generation, where it was tested."""
        for key, chip in _CHIPS.items():
            listed = csv.DictReader(repository.text(_path(key)).splitlines())
            for row in listed:
                outcome = _outcome(row[_UNIT].strip(), row[_ACCURACY].strip())
                if outcome is not None:
                    name = row["Model"]
                    yield {"name": name, "says": str(outcome), "chips": [chip],
                           "types": types_of(name.removesuffix("/text-only")),
                           "at": f"{key}:{listed.line_num}"}  # fmt: skip


def _path(key: str) -> str:
    return f"support_matrices/release/{key}/vllm/model_support_matrix.csv"


def _outcome(unit: str, accuracy: str) -> Outcome | None:
    """What the two tests come to; None: neither was made."""
    said = {unit, accuracy}
    if unit == _FAILS:
        return Outcome.FAILS
    if accuracy == _FAILS:
        return Outcome.INACCURATE
    if _PASSES in said:
        return Outcome.SUPPORTED
    return Outcome.OUT_OF_MEMORY if _MEMORY in said else None
