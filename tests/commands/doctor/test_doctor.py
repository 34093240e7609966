"""Each trap on a machine that was made up for it, and machines on which there is none."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.doctor.answer import doctor
from opcheck.commands.doctor.base import checks
from opcheck.commands.doctor.setup import set_up
from opcheck.commands.doctor.values import Doctor, DoctorRequest, Severity
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.target import TargetSpec
from tests.commands.doctor.machines import Made, ascend, cambricon, cann, nvidia, rocm

Builder = Callable[[Made], object]


def examined(made: Made, *targets: str) -> Doctor:
    """What is said of a machine; nothing is imported on it."""
    specs = tuple(map(TargetSpec.parse, targets))
    return doctor(DoctorRequest(specs, imports=False), machine=made.machine)


def told(found: Doctor) -> list[tuple[str, str, str]]:
    """Every finding in short."""
    findings = [*found.findings, *(f for target in found.targets for f in target.findings)]
    return [(finding.code, finding.severity.value, finding.subject) for finding in findings]


def musa(made: Made) -> Made:
    made.torch("2.7.1").package("torch-musa", "2.7.1")
    made.tool("usr/local/musa/bin/musa_runtime_version", '{"version": "4.3.0"}')
    return made.set(LD_LIBRARY_PATH="/usr/local/musa/lib").tool("mthreads-gmi", "MTT S4000")


def dtk(made: Made) -> Made:
    made.torch("2.9.0+das.dtk2604", hip="6.3.26045").file("opt/dtk/env.sh").file("dev/kfd")
    return made.set(ROCM_PATH="/opt/dtk", LD_LIBRARY_PATH="/usr/local/hyhal/lib")


def onnx(made: Made) -> Made:
    """What exports, without a runtime."""
    return made.torch("2.13.0+cpu").package("onnx", "1.23.2").package("onnxscript", "0.7.2")


SOUND: dict[str, tuple[Builder, str]] = {
    "ascend": (ascend, "ascend-910b"),
    "cambricon": (cambricon, "cambricon-mlu590"),
    "moorethreads": (musa, "moorethreads-s4000"),
    "nvidia": (lambda made: nvidia(made).torch("2.13.0", cuda="13.0"), "nvidia-a100"),
    "amd": (lambda made: rocm(made, "6.4.1").torch("2.9.1+rocm6.4", hip="6.4.43482"), "amd-mi300x"),
    "hygon": (dtk, "hygon-k100"),
    "google": (
        lambda made: made.torch("2.8.0+cpu").package("torch-xla", "2.8.0"), "google-tpu-v4",
    ),
    "intel": (lambda made: made.torch("2.8.0+xpu", xpu="20250101").tool("xpu-smi", "{}"),
              "intel"),
    "apple": (
        lambda made: made.of(system="Darwin", machine="arm64", macos="15.3").torch("2.9.0"),
        "apple",
    ),
    "tensorrt": (
        lambda made: nvidia(made).torch("2.8.0", cuda="12.8")
        .package("torch-tensorrt", "2.8.0").package("tensorrt", "10.12.0.36"),
        "nvidia-tensorrt",
    ),
    "onnxruntime for CUDA": (
        lambda made: onnx(made).package("onnxruntime-gpu", "1.31.1"), "onnxruntime-cuda",
    ),
    "onnxruntime for the CPU": (
        lambda made: onnx(made).package("onnxruntime", "1.32.0"), "onnxruntime-cpu",
    ),
}  # fmt: skip


@pytest.mark.parametrize("vendor", SOUND)
def test_a_machine_that_goes_together_passes(vendor: str, tmp_path: Path) -> None:
    build, target = SOUND[vendor]
    made = Made(tmp_path / "machine")
    build(made)
    found = examined(made, target)
    assert [one for one in told(found) if one[1] != "unknown"] == []
    assert found.passed
    assert not found.targets[0].planned


TRAPS: dict[str, tuple[Builder, str, tuple[str, str, str]]] = {
    "cpu-only torch on NVIDIA": (
        lambda made: nvidia(made).torch("2.13.0+cpu"), "nvidia-a100",
        ("torch-build", "error", "torch 2.13.0+cpu"),
    ),
    "CUDA torch under a plugin": (
        lambda made: (ascend(made), made.torch_again("2.7.1+cu126", cuda="12.6")), "ascend-910b",
        ("torch-build", "warning", "torch 2.7.1+cu126"),
    ),
    "a C++11 ABI that is refused": (
        lambda made: (cambricon(made), made.torch_again("2.4.1+cpu.cxx11.abi")),
        "cambricon-mlu590", ("torch-build", "error", "torch 2.4.1+cpu.cxx11.abi"),
    ),
    "CPU-only torch on an Intel GPU": (
        lambda made: made.torch("2.8.0+cpu").tool("xpu-smi", "{}"), "intel",
        ("torch-build", "error", "torch 2.8.0+cpu"),
    ),
    "CUDA torch on ROCm": (
        lambda made: rocm(made, "6.4.1").torch("2.9.1", cuda="12.6"), "amd-mi300x",
        ("torch-build", "error", "torch 2.9.1"),
    ),
    "torch whose files say nothing": (
        lambda made: nvidia(made).package("torch", "2.13.0"), "nvidia-a100",
        ("torch-build", "unknown", "torch 2.13.0"),
    ),
    "no torch": (
        lambda made: cann(made, "8.3.RC1"), "ascend-910b", ("torch-build", "error", "torch"),
    ),
    "torch newer than any source": (
        lambda made: nvidia(made).torch("2.99.0", cuda="13.0"), "nvidia-a100",
        ("torch-build", "unknown", "torch 2.99.0"),
    ),
    "no plugin": (
        lambda made: cann(made.torch("2.7.1+cpu"), "8.3.RC1"), "ascend-910b",
        ("plugin", "error", "torch_npu"),
    ),
    "plugin of another torch": (
        lambda made: cann(made.torch("2.6.0+cpu").package("torch-npu", "2.7.1"), "8.3.RC1"),
        "ascend-910b", ("plugin", "error", "torch_npu 2.7.1"),
    ),
    "plugin of another patch of torch": (
        lambda made: cann(made.torch("2.7.0+cpu").package("torch-npu", "2.7.1"), "8.3.RC1"),
        "ascend-910b", ("plugin", "error", "torch_npu 2.7.1"),
    ),
    "plugin that names another torch": (
        lambda made: cambricon(made).repackage("torch-mlu", "1.25.0+torch2.3.0"),
        "cambricon-mlu590", ("plugin", "error", "torch_mlu 1.25.0+torch2.3.0"),
    ),
    "plugin in no table": (
        lambda made: cann(made.torch("2.7.1+cpu").package("torch-npu", "2.7.1.post99"), "8.3.RC1"),
        "ascend-910b", ("plugin", "unknown", "torch_npu 2.7.1.post99"),
    ),
    "torch_xla of another minor": (
        lambda made: made.torch("2.9.0+cpu").package("torch-xla", "2.8.0"), "google-tpu-v4",
        ("plugin", "error", "torch_xla 2.8.0"),
    ),
    "TensorRT of another release": (
        lambda made: nvidia(made).torch("2.8.0", cuda="12.8")
        .package("torch-tensorrt", "2.8.0").package("tensorrt", "10.3.0"),
        "nvidia-tensorrt", ("paired-package", "error", "tensorrt 10.3.0"),
    ),
    "an old CANN": (
        lambda made: cann(made.torch("2.7.1+cpu").package("torch-npu", "2.7.1"), "8.0.RC2"),
        "ascend-910b", ("toolkit", "error", "CANN 8.0.RC2"),
    ),
    "a CANN of the same numbers": (
        lambda made: cann(made.torch("2.7.1+cpu").package("torch-npu", "2.7.1"), "8.3.0"),
        "ascend-910b", ("toolkit", "warning", "CANN 8.3.0"),
    ),
    "no CANN": (
        lambda made: made.torch("2.7.1+cpu").package("torch-npu", "2.7.1"), "ascend-910b",
        ("toolkit", "error", "CANN"),
    ),
    "a toolkit that does not tell its release": (
        cambricon, "cambricon-mlu590", ("toolkit", "unknown", "CNToolkit"),
    ),
    "set_env.sh not sourced": (
        lambda made: (ascend(made), made.environ.pop("ASCEND_HOME_PATH")), "ascend-910b",
        ("environment", "error", "ASCEND_HOME_PATH"),
    ),
    "libraries not on the loader's path": (
        lambda made: cambricon(made).set(LD_LIBRARY_PATH="/usr/lib"), "cambricon-mlu590",
        ("environment", "error", "LD_LIBRARY_PATH"),
    ),
    "a library of another release": (
        lambda made: cambricon(made).file("usr/local/neuware/lib64/libcncl.so.1.20.0"),
        "cambricon-mlu590", ("toolkit", "warning", "cncl 1.20.0"),
    ),
    "a driver that the release refuses": (
        lambda made: cambricon(made).tool("cnmon", "Driver v5.10.22"), "cambricon-mlu590",
        ("driver", "error", "Cambricon driver 5.10.22"),
    ),
    "a driver too old for CUDA 13": (
        lambda made: nvidia(made, "535.104.05").torch("2.13.0", cuda="13.0"), "nvidia-a100",
        ("driver", "error", "NVIDIA driver 535.104.05"),
    ),
    "no driver": (
        lambda made: made.torch("2.13.0", cuda="13.0"), "nvidia-a100",
        ("driver", "warning", "NVIDIA driver"),
    ),
    "ROCm torch on the wrong ROCm": (
        lambda made: rocm(made, "6.2.4").torch("2.9.1+rocm6.4", hip="6.4.43482"), "amd-mi300x",
        ("toolkit", "error", "ROCm 6.2.4"),
    ),
    "a public ROCm torch on DTK": (
        lambda made: (dtk(made), made.torch_again("2.9.1+rocm6.4", hip="6.4.43482")), "hygon-k100",
        ("torch-build", "error", "torch 2.9.1+rocm6.4"),
    ),
    "an old die with a new name": (
        lambda made: ascend(made, "Ascend910B"), "ascend-910b",
        ("chip", "error", "Ascend910B"),
    ),
    "another chip": (
        lambda made: ascend(made, "310P3"), "ascend-910b", ("chip", "error", "Ascend310P3"),
    ),
    "a chip in no list": (
        lambda made: ascend(made, "910Z7"), "ascend-910b", ("chip", "unknown", "Ascend910Z7"),
    ),
    "a card with a letter behind its number": (
        lambda made: nvidia(made, name="NVIDIA L40S").torch("2.13.0", cuda="13.0"), "nvidia-l4",
        ("chip", "error", "L40S"),
    ),
    "a card of a brand": (
        lambda made: nvidia(made, name="NVIDIA RTX A4000").torch("2.13.0", cuda="13.0"),
        "nvidia-a40", ("chip", "error", "A4000"),
    ),
    "a card with an older name": (
        lambda made: nvidia(made, name="Tesla V100-SXM2-16GB").torch("2.13.0", cuda="13.0"),
        "nvidia-t4", ("chip", "error", "V100"),
    ),
    "no Windows": (
        lambda made: ascend(made.of(system="Windows", machine="AMD64", libc="")), "ascend-910b",
        ("operating-system", "error", "Windows"),
    ),
    "a machine without packages": (
        lambda made: cambricon(made.of(machine="aarch64")), "cambricon-mlu590",
        ("operating-system", "error", "aarch64"),
    ),
    "a macOS that is too old": (
        lambda made: made.of(system="Darwin", machine="arm64", macos="14.6", libc="")
        .torch("2.15.0"),
        "apple", ("operating-system", "error", "macOS 14.6"),
    ),
    "a Python that the release leaves out": (
        lambda made: ascend(made.of(python="3.14.0")), "ascend-910b",
        ("python-version", "error", "Python 3.14.0"),
    ),
    "a Python that torch_xla leaves out": (
        lambda made: made.of(python="3.10.2").torch("2.8.0+cpu").package("torch-xla", "2.8.0"),
        "google-tpu-v4", ("python-version", "error", "Python 3.10.2"),
    ),
    "CUDA's variable": (
        lambda made: ascend(made).set(CUDA_VISIBLE_DEVICES="0"), "ascend-910b",
        ("visible-devices", "warning", "CUDA_VISIBLE_DEVICES"),
    ),
    "every device hidden": (
        lambda made: ascend(made).set(ASCEND_RT_VISIBLE_DEVICES="-1"), "ascend-910b",
        ("visible-devices", "warning", "ASCEND_RT_VISIBLE_DEVICES"),
    ),
    "plugins are not loaded": (
        lambda made: ascend(made).set(TORCH_DEVICE_BACKEND_AUTOLOAD="0"), "ascend-910b",
        ("autoload", "warning", "TORCH_DEVICE_BACKEND_AUTOLOAD"),
    ),
    "two plugins": (
        lambda made: ascend(made).package("torch-musa", "2.7.1"), "ascend-910b",
        ("several-plugins", "error", "torch-musa, torch-npu"),
    ),
    "the ONNX Runtime of the CPU alone": (
        lambda made: made.torch("2.13.0+cpu").package("onnxruntime", "1.32.0"),
        "onnxruntime-cuda", ("plugin", "error", "onnxruntime-gpu"),
    ),
    "the ONNX Runtime of DirectML off Windows": (
        lambda made: made.torch("2.13.0+cpu").package("onnxruntime-directml", "1.24.4"),
        "onnxruntime-dml", ("operating-system", "error", "Linux"),
    ),
    "two ONNX Runtimes": (
        lambda made: made.torch("2.13.0+cpu").package("onnxruntime", "1.32.0")
        .package("onnxruntime-gpu", "1.31.1"),
        "onnxruntime-cuda", ("same-module", "error", "onnxruntime"),
    ),
    "CPU-only torchvision beside CUDA": (
        lambda made: nvidia(made).torch("2.13.0", cuda="13.0").vision("0.28.0+cpu", "2.13.0"),
        "nvidia-a100", ("companion-build", "error", "torchvision 0.28.0+cpu"),
    ),
    "torchvision for another CUDA": (
        lambda made: nvidia(made).torch("2.13.0", cuda="13.0").vision("0.28.0+cu126", "2.13.0"),
        "nvidia-a100", ("companion-build", "error", "torchvision 0.28.0+cu126"),
    ),
    "torchvision for another torch": (
        lambda made: nvidia(made).torch("2.13.0", cuda="13.0").vision("0.27.0+cu130", "2.12.0"),
        "nvidia-a100", ("requirement", "error", "torchvision 0.27.0"),
    ),
    "NumPy 2 with an old torch": (
        lambda made: nvidia(made).torch("2.2.2", cuda="12.1").package("numpy", "2.0.1"),
        "nvidia-a100", ("numpy-abi", "error", "numpy 2.0.1"),
    ),
    "a requirement that is missing": (
        lambda made: ascend(made).package("torch-extra", "1.0", "protobuf>=4,<5"), "ascend-910b",
        ("requirement", "error", "torch-extra 1.0"),
    ),
    "a wheel of a newer C library": (
        lambda made: ascend(made).package(
            "torchaudio", "2.7.1", tag="cp311-cp311-manylinux_2_99_x86_64"
        ),
        "ascend-910b", ("wheel-tag", "error", "torchaudio 2.7.1"),
    ),
    "a package for another Python": (
        lambda made: ascend(made).package("torch-extra", "1.0", python=">=3.12"), "ascend-910b",
        ("python-version", "error", "Python 3.11.7"),
    ),
    "no Triton of Ascend's": (
        lambda made: ascend(made).remove("triton-ascend"), "ascend-910b",
        ("compile", "warning", "triton-ascend"),
    ),
    "another Triton over that of Ascend": (
        lambda made: ascend(made).package("triton", "3.4.0"), "ascend-910b",
        ("compile", "error", "triton-ascend"),
    ),
    "a chip without inductor": (
        lambda made: ascend(made, "310P3"), "ascend-310p", ("compile", "unknown", "ascend-310p"),
    ),
    "a Triton of another torch": (
        lambda made: nvidia(made).torch("2.9.1", cuda="12.8"), "nvidia-a100",
        ("compile", "warning", "triton 3.7.1"),
    ),
    "no Triton on Windows": (
        lambda made: made.of(system="Windows", machine="AMD64").tool("nvidia-smi", "580.95, NVIDIA")
        .torch("2.13.0", cuda="13.0"),
        "nvidia-a100", ("compile", "warning", "triton"),
    ),
    "no C compiler": (
        lambda made: nvidia(made).torch("2.13.0", cuda="13.0").without("gcc"), "nvidia-a100",
        ("compile", "warning", "CC"),
    ),
    "a C++ compiler that is not there": (
        lambda made: nvidia(made).torch("2.13.0", cuda="13.0").set(CXX="/opt/g++"), "nvidia-a100",
        ("compile", "warning", "CXX"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_is_found(trap: str, tmp_path: Path) -> None:
    build, target, expected = TRAPS[trap]
    made = Made(tmp_path / "machine")
    build(made)
    found = examined(made, target)
    assert expected in told(found)
    worst = {severity for _, severity, _ in told(found)}
    assert found.passed == ("error" not in worst)


@pytest.mark.parametrize(
    ("trap", "text"),
    [
        ("cpu-only torch on NVIDIA", "it was built for the CPU; needed is one for CUDA"),
        ("CUDA torch under a plugin", "it was built for CUDA; needed is one for the CPU"),
        ("CPU-only torch on an Intel GPU", "it was built for the CPU; needed is one for XPU"),
        ("CUDA torch on ROCm", "it was built for CUDA; needed is one for ROCm"),
        ("torch whose files say nothing", "its files do not say what it was built for"),
    ],
)
def test_what_torch_was_built_for_is_told(trap: str, text: str, tmp_path: Path) -> None:
    build, target, _ = TRAPS[trap]
    made = Made(tmp_path / "machine")
    build(made)
    (found,) = (f for f in examined(made, target).targets[0].findings if f.code == "torch-build")
    assert found.text == text


@pytest.mark.parametrize(
    ("trap", "text", "mends"),
    [
        ("no Triton of Ascend's",
         "it is not installed: torch.compile has no back end inductor for Huawei Ascend without it",
         ("pip install triton-ascend",)),
        ("another Triton over that of Ascend",
         "triton is installed as well, and the two cannot be: the one that came last has "
         "overwritten the other",
         ("pip uninstall -y triton triton-ascend", "pip install triton-ascend")),
        ("a chip without inductor",
         "no source says that torch.compile has the back end inductor for it", ()),
        ("a Triton of another torch", "the vendor pairs triton 3.5.1 with what is installed",
         ("pip install triton==3.5.1",)),
        ("no Triton on Windows",
         "it is not installed: torch.compile has no back end inductor for NVIDIA CUDA without it",
         ()),
        ("no C compiler",
         "Triton builds what starts its kernels with a C compiler, and finds none: neither gcc nor "
         "clang, nor one that CC names", ()),
        ("a C++ compiler that is not there",
         "torch.compile builds what it leaves to the CPU with a C++ compiler, and finds none: "
         "neither g++, nor one that CXX names", ()),
    ],
)  # fmt: skip
def test_what_torch_compile_lacks_is_told(
    trap: str, text: str, mends: tuple[str, ...], tmp_path: Path
) -> None:
    build, target, _ = TRAPS[trap]
    made = Made(tmp_path / "machine")
    build(made)
    (found,) = (f for f in examined(made, target).targets[0].findings if f.code == "compile")
    assert (found.text, found.mends) == (text, mends)
    assert found.evidence


def test_a_triton_that_torch_itself_asks_for_is_told_once(tmp_path: Path) -> None:
    made = nvidia(Made(tmp_path / "machine"))
    made.remove("triton")
    made.torch("2.13.0", cuda="13.0")
    made.remove("torch")
    made.package("torch", "2.13.0", 'triton==3.7.1; platform_system == "Linux"')
    found = examined(made, "nvidia-a100")
    assert [one.code for one in found.targets[0].findings if one.code == "compile"] == []
    assert ("requirement", "error", "torch 2.13.0") in told(found)


def test_every_check_has_a_trap() -> None:
    tried = {expected[0] for _, _, expected in TRAPS.values()} | {"import"}
    assert tried == {check.name for check in checks()}


@pytest.mark.parametrize("trap", TRAPS)
def test_errors_say_why_and_nothing_is_said_twice(trap: str, tmp_path: Path) -> None:
    build, target, _ = TRAPS[trap]
    made = Made(tmp_path / "machine")
    build(made)
    found = examined(made, target)
    findings = [*found.findings, *found.targets[0].findings]
    assert all(finding.text for finding in findings)
    assert len(set(findings)) == len(findings)
    ranks = [finding.severity.rank for finding in found.targets[0].findings]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("trap", TRAPS)
def test_findings_are_told_in_chinese_too(trap: str, tmp_path: Path) -> None:
    build, target, _ = TRAPS[trap]
    made = Made(tmp_path / "machine")
    build(made)
    found = examined(made, target)
    texts = {finding.text for finding in (*found.findings, *found.targets[0].findings)}
    with speaking(Language.CHINESE):
        assert [text for text in sorted(texts) if tell(text) == text] == []


def test_what_mends_keeps_the_torch_that_is_here_where_a_row_has_it(tmp_path: Path) -> None:
    made = cann(Made(tmp_path / "machine").torch("2.6.0+cpu"), "8.2.RC1")
    finding = next(f for f in examined(made, "ascend-910b").targets[0].findings
                   if f.code == "plugin")  # fmt: skip
    assert finding.mends[:2] == (
        "pip install torch==2.6.0 --index-url https://download.pytorch.org/whl/cpu",
        "pip install torch-npu==2.6.0.post5",
    )


def test_what_goes_together_is_what_the_plugin_that_is_here_is_for(tmp_path: Path) -> None:
    made = cann(ascend(Made(tmp_path / "machine")), "8.0.RC2")
    setup = examined(made, "ascend-910b").targets[0].setup
    assert setup is not None
    assert [(part.name, part.version) for part in setup.components[:3]] == [
        ("torch", "2.7.1"),
        ("torch_npu", "2.7.1"),
        ("CANN", "8.3.RC1"),
    ]


def test_the_wrong_rocm_is_mended_by_a_build_that_is_known(tmp_path: Path) -> None:
    made = rocm(Made(tmp_path / "machine"), "6.2.4").torch("2.9.1+rocm6.4", hip="6.4.43482")
    finding = next(f for f in examined(made, "amd-mi300x").targets[0].findings
                   if f.code == "toolkit")  # fmt: skip
    assert finding.mends == (
        "pip install --force-reinstall torch==2.6.0 torchvision==0.21.0 "
        "--index-url https://download.pytorch.org/whl/rocm6.2.4",
    )


def test_without_a_target_every_vendor_that_is_here_is_looked_at(tmp_path: Path) -> None:
    found = examined(nvidia(ascend(Made(tmp_path / "machine"))))
    assert [target.vendor for target in found.targets] == ["ascend", "nvidia"]


def test_a_build_for_rocm_is_amds_unless_dtk_is_here(tmp_path: Path) -> None:
    plain = Made(tmp_path / "plain").torch("2.9.1+rocm6.4", hip="6.4.43482")
    assert [target.vendor for target in examined(plain).targets] == ["amd"]
    found = examined(dtk(Made(tmp_path / "dtk")))
    assert [target.vendor for target in found.targets] == ["hygon"]
    assert [part.note for part in found.parts if part.kind == "toolkit"] == ["/opt/dtk"]


def test_a_machine_that_could_never_have_it_is_told_so(tmp_path: Path) -> None:
    made = Made(tmp_path / "machine").of(system="Windows", machine="AMD64")
    found = examined(made, "ascend-910b")
    assert told(found) == [("operating-system", "warning", "Windows")]
    assert (found.passed, found.targets[0].planned, found.parts) == (True, True, ())


def test_nothing_is_here(tmp_path: Path) -> None:
    found = examined(Made(tmp_path / "machine"))
    assert (found.targets, found.findings, found.passed) == ((), (), True)
    assert ("torch", "not installed") in [(part.name, part.note) for part in found.parts]


def test_the_shipped_machine_is_looked_at_without_importing_anything() -> None:
    found = doctor(DoctorRequest(imports=False))
    assert {"python", "system", "package"} <= {part.kind for part in found.parts}


def test_unknown_is_no_error(tmp_path: Path) -> None:
    found = examined(ascend(Made(tmp_path / "machine"), "910Z7"), "ascend-910b")
    severities = {finding.severity for finding in found.targets[0].findings}
    assert severities == {Severity.UNKNOWN}
    assert found.passed


def test_what_no_source_says_of_a_set_is_named() -> None:
    database = Database.open()
    vendor, torch = database.environment("ascend"), database.torch_environment()
    assert vendor is not None
    nothing = set_up(replace(vendor, pairings=()), torch)
    assert (nothing.components, nothing.unknown) == ((), ("what goes together",))
    by_hand = set_up(replace(vendor, install=()), torch)
    assert (by_hand.commands, by_hand.unknown[0]) == (
        (),
        "a command that installs it from a public index",
    )


@pytest.mark.parametrize("name", ["ascend-910b@99.x", "ascend-910b@8.x+torch2.99", "nvidia-a100@1"])
def test_a_release_that_nobody_pairs_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no source pairs"):
        doctor(DoctorRequest((TargetSpec.parse(name),), plan=True))
