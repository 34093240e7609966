"""Standard answers about lists of whole models, and what a report has of them."""

from collections.abc import Mapping

from opcheck.commands.models.values import ListSummary, ModelsAnswer
from opcheck.model.model_lists import (
    Likeness,
    ListedModel,
    ModelEvidence,
    ModelList,
    ModelRow,
    Outcome,
)
from opcheck.model.verdict import Evidence, Method

_COMMIT = "182b75ea84ff13ece27b57391331ef8935410aea"
PAGE = ModelList("vllm-ascend", "ascend", "vLLM", "main")
TESTS = ModelList("torch-xpu-ops", "intel", "torch.compile", "v2.9.0")


def row(of: ModelList, name: str, line: int, **more: object) -> ModelRow:
    """A row that says of a model that it is supported, unless told otherwise."""
    said: dict[str, object] = {
        "mode": "inference",
        "outcome": Outcome.SUPPORTED,
        "precisions": {},
        "chips": (),
        "types": (),
        "classes": (),
        "builds": (),
        "note": "",
        "evidence": Evidence(
            Method.DOCUMENTED, f"of/{of.name}", "docs/models.md", line, _COMMIT, "2026-08-22"
        ),
    }
    return ModelRow(of=of, name=name, **(said | more))  # type: ignore[arg-type]


DENSE = row(
    PAGE, "Qwen3-Dense", 36, types=("qwen3",), chips=("910b", "910c"),
    precisions={Outcome.SUPPORTED: ("bfloat16", "w8a8"), Outcome.UNSUPPORTED: ("float32",)},
)  # fmt: skip
WHISPER = row(PAGE, "Whisper", 172, outcome=Outcome.UNSUPPORTED, note="issue 2262")
MLLAMA = row(PAGE, "Mllama", 82, outcome=Outcome.UNTESTED, note="Need test")
KIMI = row(PAGE, "Kimi-K2", 45, outcome=Outcome.EXPERIMENTAL, chips=("910b",))
MASKED = row(
    TESTS, "BertForMaskedLM", 7, outcome=None, classes=("BertForMaskedLM",), chips=("max",),
    mode="train",
    precisions={
        Outcome.SUPPORTED: ("float32",),
        Outcome.INACCURATE: ("bfloat16", "amp_bf16"),
        Outcome.COMPILE_FAILS: ("float16",),
        Outcome.OUT_OF_MEMORY: ("amp_fp16",),
    },
)  # fmt: skip
BROKEN = row(
    TESTS, "demucs", 19, outcome=None, builds=("timm:demucs",),
    precisions={Outcome.FAILS: ("float32", "float16")},
)  # fmt: skip
ROWS = (DENSE, WHISPER, MLLAMA, KIMI, MASKED, BROKEN)
_LISTS = (
    ListSummary(PAGE, "of/vllm-ascend", "2026-08-22", {
        Outcome.SUPPORTED: 1, Outcome.EXPERIMENTAL: 1, Outcome.UNTESTED: 1, Outcome.UNSUPPORTED: 1,
    }),
    ListSummary(TESTS, "of/torch-xpu-ops", "2026-08-20", {
        Outcome.SUPPORTED: 1_200, Outcome.FAILS: 1,
    }),
)  # fmt: skip
MODELS: Mapping[str, ModelsAnswer] = {
    "lists": ModelsAnswer("", (), _LISTS, ROWS),
    "rows": ModelsAnswer("e", (), _LISTS, ROWS),
    "on-target": ModelsAnswer("qwen", ("ascend-910b@26.1.0+torch2.12",), _LISTS, (DENSE,)),
    "no-name": ModelsAnswer("none", (), _LISTS, ()),
    "none-there": ModelsAnswer("", ("google-tpu-v4@r2.9+torch2.9",), _LISTS, ()),
}
"""One answer of ``opcheck models`` for each kind, by name."""
AGREES = ModelEvidence(
    (
        ListedModel(KIMI, Outcome.EXPERIMENTAL, Likeness.CLASS, tells=True),
        ListedModel(DENSE, Outcome.SUPPORTED, Likeness.FAMILY, tells=False),
    ),
    runs=True,
    contradicts=False,
)
OPPOSED = ModelEvidence(
    (ListedModel(DENSE, Outcome.SUPPORTED, Likeness.FAMILY, tells=True),),
    runs=True,
    contradicts=True,
)
UNSURE = ModelEvidence(
    (ListedModel(MASKED, Outcome.INACCURATE, Likeness.CLASS, tells=False),),
    runs=None,
    contradicts=False,
)
