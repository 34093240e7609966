"""Standard answers of ``opcheck fix --dynamic``, one for each kind of outcome."""

from collections.abc import Mapping

from msgspec.structs import replace

from opcheck.commands.fix.padded import Padding, VaryingPlace
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import Site, SiteKind, SiteTaken, Taking
from opcheck.model.padding import (
    CutResult,
    FixedCode,
    PadCheck,
    PaddedAxis,
    PaddedInput,
    PadRun,
    StaticCache,
)
from opcheck.model.verdict import Confidence, Evidence, Method
from tests.views.samples import STANDARD

_REPORT = STANDARD["mixed"]
_CALL = Site(SiteKind.DYNAMIC_SIZE, "aten::embedding", "words", "net.py", 11, 1, "other indices")
_TAKEN = SiteTaken(
    _CALL, Taking.RECOMPILES, "the graph is compiled anew whenever it meets new shapes",
    Confidence.MEDIUM,
    (Evidence(Method.DOCUMENTED, "pytorch/xla", "troubleshoot.md", None, "079a78c"),),
)  # fmt: skip
_CHECKS = (
    PadCheck("ids:1 = 5", "ids:1 = 8", "output.logits", 6.7e-16, 3.4e-10),
    PadCheck("ids:1 = 12", "ids:1 = 16", "output.logits", 0.0, 3.4e-10),
)
_RUN = PadRun(
    axes=(PaddedAxis("ids:1", ("ids:1", "mask:1"), (8, 16), 1),),
    inputs=(
        PaddedInput("ids:1", "0"), PaddedInput("mask:1", ""),
        PaddedInput("attention_mask:1", "0", made=True),
    ),
    cuts=(CutResult("output.logits", 1, "ids:1", "ids:1 // 2"),),
    checks=_CHECKS,
    results=1,
    draws=2,
    dtype="float64",
    notes=("output.past_key_values is DynamicCache, which cannot be cut",),
    text="PLAN = None\n",
)  # fmt: skip
_WRITTEN = Padding(
    opcheck_version=_REPORT.opcheck_version,
    torch_version=_REPORT.torch_version,
    model=_REPORT.model,
    target="google-tpu-v4@r2.10+torch2.10",
    files=("padded.py",),
    run=_RUN,
    taken=_TAKEN,
)
_NONZERO = FixedCode(
    ("aten::nonzero",),
    "found = torch.nonzero_static(x, size=size, fill_value=-1)\ncount = x.count_nonzero()",
    "aten::nonzero_static", 6, 6,
)  # fmt: skip
_PLACES = (
    VaryingPlace(
        Site(SiteKind.DATA_SIZE, "aten::nonzero", "head", "net.py", 17, 2, "a size"),
        "write it in a fixed size", _NONZERO,
    ),
    VaryingPlace(
        Site(SiteKind.DATA_SIZE, "aten::nonzero", "", "", 0, 1, "a size"),
        "write it in a fixed size", _NONZERO, there=False,
    ),
    VaryingPlace(
        Site(SiteKind.DATA_READ, "aten::item", "", "net.py", 21, 1, "a value"), "keep it",
        evidence=_TAKEN.evidence,
    ),
)  # fmt: skip
_CACHE = StaticCache("transformers 5.23.0", True, "transformers/models/llama/llama.py", 327)
_FAILED = (
    replace(_CHECKS[0], difference=0.5),
    replace(_CHECKS[1], difference=None),
    replace(_CHECKS[1], sizes="ids:1 = 13", error="IndexError: index out of range in self"),
    replace(_CHECKS[0], sizes="ids:1 = 6", difference=0.25),
)
PADDINGS: Mapping[str, Padding] = {
    "written": _WRITTEN,
    "by-values": replace(
        _WRITTEN, places=_PLACES,
        run=replace(
            _RUN, codes=(_NONZERO,), cache=_CACHE, checks=(replace(_CHECKS[0], difference=2e-10),)
        ),
    ),
    "no-cache": replace(_WRITTEN, run=replace(_RUN, cache=replace(_CACHE, taken=False))),
    "told": replace(
        _WRITTEN,
        files=(),
        run=replace(_RUN, checks=_CHECKS[1:], notes=()),
        taken=replace(_TAKEN, how=Taking.FINE, evidence=()),
    ),
    "refused": replace(_WRITTEN, taken=replace(_TAKEN, how=Taking.NOT_ALLOWED)),
    "unknown": replace(_WRITTEN, taken=replace(_TAKEN, how=Taking.UNKNOWN, evidence=())),
    "no-call": replace(_WRITTEN, taken=None),
    "failed": replace(_WRITTEN, files=(), run=replace(_RUN, checks=_FAILED)),
    "without": replace(
        _WRITTEN,
        files=(),
        run=PadRun(
            axes=_RUN.axes, draws=2, dtype="float64",
            reason=Sentence("{name} has not always as many dimensions", name="output"),
        ),
    ),
}  # fmt: skip
