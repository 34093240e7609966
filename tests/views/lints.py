"""Answers on sources, for the formats and the command line."""

from opcheck.model.porting import Lint, LintFinding, LintTarget, SkippedFile, Span, Transfer
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

_NPU = Target("ascend", "910b", "26.1.0", "2.12", "npu")
_ROCM = Target("amd", "mi300x", "2.15.0", "2.15", "cuda")
_SAID = Evidence(
    Method.DOCUMENTED, "Ascend/pytorch", "torch_npu/npu/__init__.py", 7, "928743e6", "2026-08-22"
)
_FOUND = tuple(
    LintFinding(
        "src/train.py", Span(line, 5, line, 12), "cuda-call", ".cuda()", Verdict.UNSUPPORTED,
        "raises: torch has no CUDA there", ".npu()", fixable=True, evidence=(_SAID,),
    )
    for line in range(3, 12)
)  # fmt: skip
_MORE = (
    LintFinding(
        "src/train.py", Span(1, 1, 1, 9), "cuda-package", "flash_attn", Verdict.UNKNOWN,
        "is built for CUDA", "", Confidence.MEDIUM,
    ),
    LintFinding(
        "src/train.py", Span(20, 1, 20, 9), "cuda-module", "torch.cuda.is_available",
        Verdict.FALLBACK, "is False there, so the host is used", "torch.npu.is_available",
    ),
    LintFinding(
        "src/\x1b[31m.py", Span(1, 1, 1, 9), "device-branch", "[bold]x.is_cuda", Verdict.NATIVE,
        "the branch for CUDA is not taken on npu", "x.is_npu", caution=True,
    ),
)  # fmt: skip
_WAY = Transfer("import torch_npu", "takes CUDA's names", frozenset({"method"}), (_SAID,))
_FINE = LintFinding(
    "src/train.py", Span(3, 5, 3, 12), "cuda-call", ".cuda()", Verdict.NATIVE, "answers to cuda"
)

LINTS = {
    "src": Lint(
        "0.1.0", "src", 12, (LintTarget(_NPU, (*_FOUND, *_MORE), transfers=(_WAY,)),),
        (SkippedFile("src/bad.py", "it is binary"),), 2,
    ),
    "two": Lint(
        "0.1.0", "two", 1,
        (LintTarget(_NPU, ()), LintTarget(_ROCM, (_FINE,), "a build for ROCm answers to cuda")),
    ),
    "fixed": Lint(
        "0.1.0", "fixed", 1, (LintTarget(_NPU, _FOUND),), changed=("src/train.py",),
        diff="--- a/src/train.py\n+++ b/src/train.py\n@@ -1 +1 @@\n-x.cuda()\n+x.npu()\n",
    ),
}  # fmt: skip
