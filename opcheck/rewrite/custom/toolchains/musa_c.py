"""MUSA C, for Moore Threads' GPUs."""

from collections.abc import Mapping
from typing import ClassVar

from opcheck.model.verdict import Evidence, Method
from opcheck.rewrite.custom.gpu import GpuToolchain


class MusaC(GpuToolchain):
    """A kernel in MUSA C++, built with mcc by torch_musa's own extension builder."""

    name = "musa-c"
    title = "MUSA C"
    vendors = ("moorethreads",)
    files: ClassVar[Mapping[str, str]] = {
        "setup.py": "gpu/setup.py.j2",
        "csrc/kernel.h": "gpu/kernel.h.j2",
        "csrc/kernel.mu": "gpu/kernel.j2",
        "csrc/binding.cpp": "binding.cpp.j2",
    }
    checked = (
        "the kernel compiles with a host compiler against a stand-in for MUSA's header, and what "
        "it computes is held against the CPU's; mcc has not seen it"
    )
    plugin = "torch_musa"
    needs = "torch_musa, and the MUSA toolkit (mcc)"
    build = ("python setup.py develop",)
    left = "csrc/kernel.mu"
    evidence = (
        Evidence(
            Method.DOCUMENTED, "MooreThreads/torch_musa", "torch_musa/utils/README.md",
            commit="0bc05bff11712400fd53aa7dd8e68950a4c46647",
        ),
    )  # fmt: skip
    runtime = "musa"
    header = "musa_runtime.h"
    stream_header = "torch_musa/csrc/core/MUSAStream.h"
    stream = "c10::musa::getCurrentMUSAStream().stream()"
