"""What the continuous integration of torch-xpu-ops expects of the models that it compiles."""

from collections.abc import Iterator, Mapping

from opcheck.db.importers.models.base import (
    ListReader,
    Row,
    by_outcome,
    types_of,
)
from opcheck.db.importers.shared.repository import Repository
from opcheck.model.model_lists import Outcome

_FOLDER = ".github/ci_expected_accuracy/rolling"
_RUNNER = ".github/workflows/nightly_ondemand.yml"
_SUITES = ("huggingface", "timm_models", "torchbench")
_MODES = {"inference": "", "training": "train"}
_SAID = {
    "pass": Outcome.SUPPORTED,
    "fail_accuracy": Outcome.INACCURATE,
    "fail_to_run": Outcome.COMPILE_FAILS,
    "eager_1st_run_OOM": Outcome.OUT_OF_MEMORY,
    "eager_fail_to_run": Outcome.FAILS,
}
"""What is skipped, or does not even load, says nothing of the device."""
_NAMES = {
    "AllenaiLongformerBase": "longformer",
    "CamemBert": "camembert",
    "DistillGPT2": "gpt2",
    "GoogleFnet": "fnet",
    "T5Small": "t5",
    "YituTechConvBert": "convbert",
    "google/gemma-2-2b": "gemma2",
    "hf_Albert": "albert",
    "hf_Bart": "bart",
    "hf_Bert": "bert",
    "hf_Bert_large": "bert",
    "hf_BigBird": "big_bird",
    "hf_DistilBert": "distilbert",
    "hf_GPT2": "gpt2",
    "hf_GPT2_large": "gpt2",
    "hf_Longformer": "longformer",
    "hf_Reformer": "reformer",
    "hf_Roberta_base": "roberta",
    "hf_T5": "t5",
    "hf_T5_base": "t5",
    "hf_T5_generate": "t5",
    "hf_T5_large": "t5",
    "hf_Whisper": "whisper",
    "hf_clip": "clip",
    "hf_distil_whisper": "whisper",
}
"""Names of the suites that are neither classes nor families that people speak of."""
_TORCHVISION = frozenset(
    [
        "alexnet",
        "densenet121",
        "mnasnet1_0",
        "mobilenet_v2",
        "mobilenet_v3_large",
        "resnet152",
        "resnet18",
        "resnet50",
        "resnext50_32x4d",
        "shufflenet_v2_x1_0",
        "squeezenet1_1",
        "vgg16",
    ]
)
"""Models of torchbench that are torchvision's own."""


class TorchXpuOps(ListReader):
    """Reads the lists of the rolling driver, by dtype."""

    name = "torch-xpu-ops"
    repo = "intel/torch-xpu-ops"
    vendor = "intel"
    engine = "torch.compile"
    method = "tested"
    chips = ("max",)  # its runner is called pvc, in _RUNNER

    def sources(self, repository: Repository) -> Mapping[str, str]:
        """A list for each suite and mode."""
        return {f"{suite}-{mode}": _path(suite, mode) for suite in _SUITES for mode in _MODES}

    def rows(self, repository: Repository) -> Iterator[Row]:
        """One row a model and a mode."""
        self._require_runner(repository)
        for suite in _SUITES:
            for mode, called in _MODES.items():
                lines = enumerate(repository.text(_path(suite, mode)).splitlines(), 1)
                listed = [(n, text.split(",")) for n, text in lines if not text.startswith("#")]
                dtypes = listed[0][1][1:]
                for line, (name, *cells) in listed[1:]:
                    told = zip(dtypes, map(_SAID.get, map(str.strip, cells)), strict=False)
                    if said := by_outcome(told):
                        at = f"{suite}-{mode}:{line}"
                        yield {"name": name, "in": said, "mode": called, **_of(suite, name),
                               "at": at}  # fmt: skip

    def _require_runner(self, repository: Repository) -> None:
        """Fail where the lists may be of another chip than they were."""
        if "'pvc-1550' || 'pvc'" not in repository.text(_RUNNER):
            raise ValueError(f"{_RUNNER} names another runner: of which chip are the lists?")


def _path(suite: str, mode: str) -> str:
    return f"{_FOLDER}/inductor_{suite}_{mode}.csv"


def _of(suite: str, name: str) -> Row:
    """What the suite calls so."""
    if suite == "timm_models":
        return {"builds": [f"timm:{name.partition('.')[0]}"]}
    if name in _TORCHVISION:
        return {"builds": [f"torchvision:{name}"]}
    if name in _NAMES:
        return {"types": [_NAMES[name]]}
    if suite == "huggingface":
        return {"types": types_of(name)} if "/" in name else {"classes": [name]}
    return {}
