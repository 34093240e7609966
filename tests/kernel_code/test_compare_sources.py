"""Extensions in CUDA C++ and in C++, compared with what builds them for a target."""

from opcheck.kernel_code.compare_sources import judge_source
from opcheck.kernel_code.judged import Judged
from opcheck.model.launches import KernelCode, Language, Launch, SourceBuilder
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

SOURCE = (Evidence(Method.REGISTERED, "vendor/code", "build.py", 7),)


def judged(language: Language, builder: SourceBuilder | None) -> Judged:
    return judge_source(Launch(KernelCode("f", "net.py", 3, language), "net.py:9"), builder, "v")


def test_cuda_c_plus_plus_is_native_where_it_is_built_and_surer_than_as_hip() -> None:
    text = "is CUDA C++, which is built for the device; it was not built here"
    assert judged(Language.CUDA, SourceBuilder(True, SOURCE)) == Judged(
        Verdict.NATIVE, "extension-builds", text, Confidence.MEDIUM, SOURCE
    )
    text = "is CUDA C++, which PyTorch turns into HIP as it builds it; it was not built here"
    assert judged(Language.CUDA, SourceBuilder(True, SOURCE, converts=True)) == Judged(
        Verdict.NATIVE, "extension-builds", text, Confidence.LOW, SOURCE
    )


def test_cuda_c_plus_plus_is_unsupported_where_nothing_builds_it() -> None:
    text = 'is CUDA C++, which nothing builds for v\'s devices: it raises, "no CUDA"'
    assert judged(Language.CUDA, SourceBuilder(False, SOURCE, error="no CUDA")) == Judged(
        Verdict.UNSUPPORTED, "extension-not-built", text, Confidence.HIGH, SOURCE
    )


def test_what_is_not_known_of_sources_is_unknown() -> None:
    text = "nobody has said whether v builds CUDA C++"
    assert judged(Language.CUDA, None) == Judged(
        Verdict.UNKNOWN, "kernel-not-known", text, Confidence.LOW
    )
    text = "is C++ that was not built here: what it asks of the device was not seen"
    assert judged(Language.CPP, SourceBuilder(True, SOURCE)) == Judged(
        Verdict.UNKNOWN, "kernel-not-known", text, Confidence.LOW
    )
