"""Calls of an extension in CUDA C++ or C++, compared with what builds such sources on a target."""

from opcheck.kernel_code.compare import NOT_KNOWN
from opcheck.kernel_code.judged import Judged
from opcheck.lang.sentence import Sentence
from opcheck.model.launches import Language, Launch, SourceBuilder
from opcheck.model.verdict import Confidence, Verdict

BUILDS = "extension-builds"
NOT_BUILT = "extension-not-built"


def judge_source(launch: Launch, builder: SourceBuilder | None, vendor: str) -> Judged:
    """What becomes of the sources; what they compute was not seen, so nothing is sure."""
    if launch.kernel.language is Language.CPP:
        text = Sentence("is C++ that was not built here: what it asks of the device was not seen")
        return Judged(Verdict.UNKNOWN, NOT_KNOWN, text, Confidence.LOW)
    if builder is None:
        text = Sentence("nobody has said whether {vendor} builds CUDA C++", vendor=vendor)
        return Judged(Verdict.UNKNOWN, NOT_KNOWN, text, Confidence.LOW)
    if not builder.builds:
        text = Sentence(
            'is CUDA C++, which nothing builds for {vendor}\'s devices: it raises, "{text}"',
            vendor=vendor, text=builder.error,
        )  # fmt: skip
        return Judged(Verdict.UNSUPPORTED, NOT_BUILT, text, Confidence.HIGH, builder.evidence)
    text = Sentence("is CUDA C++, which is built for the device; it was not built here")
    if builder.converts:
        text = Sentence(
            "is CUDA C++, which PyTorch turns into HIP as it builds it; it was not built here"
        )
    sure = Confidence.LOW if builder.converts else Confidence.MEDIUM
    return Judged(Verdict.NATIVE, BUILDS, text, sure, builder.evidence)
