"""Devices of every vendor are told apart by what their modules say; none of them is needed here."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from opcheck.db.store import Database
from opcheck.errors import InferenceError, UsageError
from opcheck.runtime import DetectedDevice, detect_device
from opcheck.runtime.device import VARIABLE, Build, _architecture, known_as
from opcheck.runtime.device_modules import answer, module_of, tpu_name
from tests.preloaded import python

GIB = 2**30
CUDA_VENDORS = ("amd", "hygon", "metax", "nvidia")
DATABASE = Database.open()


def accelerator(name: str = "", **properties: Any) -> Any:
    """A device module with two devices."""
    module = SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 2,
        get_device_properties=lambda index: SimpleNamespace(total_memory=80 * GIB, **properties),
    )
    if name:
        module.get_device_name = lambda index: name
    return module


NVIDIA = accelerator("NVIDIA A100-SXM4-80GB")
NVIDIA.get_device_capability = lambda index: (8, 0)
AMD = accelerator("AMD Instinct MI300X", gcnArchName="gfx942:sramecc+:xnack-")
PLAIN = Build("2.9.1+cu128", None)
ROCM = Build("2.9.1+rocm6.4", "6.4.43482")
DTK = Build("2.9.0+das.dtk2604", "6.3.26045")
MACA = Build("2.10.0+metax3.8.0.7", None)


@pytest.mark.parametrize(
    ("device_type", "module", "vendors", "build", "found"),
    [
        ("cuda", NVIDIA, CUDA_VENDORS, PLAIN, ("nvidia", "a100", "sm_80")),
        ("cuda", AMD, CUDA_VENDORS, ROCM, ("amd", "mi300x", "gfx942")),
        ("cuda", accelerator("K100_AI"), CUDA_VENDORS, DTK, ("hygon", "k100", "")),
        ("cuda", accelerator("BW1000"), CUDA_VENDORS, DTK, ("hygon", "", "")),
        ("cuda", accelerator("MetaX C500"), CUDA_VENDORS, MACA, ("metax", "c500", "")),
        ("xpu", accelerator("Intel(R) Data Center GPU Max 1550"), ("intel",), PLAIN,
         ("intel", "max", "")),
        ("mps", accelerator(), ("apple",), PLAIN, ("apple", "mps", "")),
        ("mps", accelerator("Apple M4 Pro"), ("apple",), PLAIN, ("apple", "m4", "")),
        ("mps", accelerator("Apple M9"), ("apple",), PLAIN, ("apple", "mps", "")),
        ("cuda", accelerator("NVIDIA Titan Z"), CUDA_VENDORS, PLAIN, ("nvidia", "", "")),
    ],
)  # fmt: skip
def test_vendors_are_told_apart(
    device_type: str, module: Any, vendors: tuple[str, ...], build: Build, found: Any
) -> None:
    said = answer(device_type, module, 1)
    assert said is not None
    made = known_as(said, vendors, build, DATABASE)
    assert (made.vendor, made.chip, made.architecture) == found
    assert (made.device, made.memory) == (torch.device(device_type, 1), 80 * GIB)
    assert made.how.startswith(f"torch.{device_type} is available")
    assert made.target == (f"{found[0]}-{found[1]}" if found[1] else "")


@pytest.mark.parametrize(
    ("build", "name", "vendor"),
    [
        (PLAIN, "NVIDIA H200", "nvidia"),
        (ROCM, "AMD Instinct MI250X", "amd"),
        (MACA, "", "metax"),
        (Build("2.4.0", None), "MetaX C550", "metax"),
        (DTK, "BW1000", "hygon"),
        (Build("2.9.0+das.opt1", "6.3"), "", "hygon"),
        (Build("2.9.0", "6.3"), "Hygon DCU", "hygon"),
        (Build("2.9.0", "6.3", dtk="/opt/dtk"), "", "hygon"),
        (Build("2.9.1+rocm6.4", "6.4", dtk="/opt/dtk"), "", "amd"),
        (Build("2.9.0", "6.3"), "", "amd"),
    ],
)
def test_who_answers_to_cuda_is_told_by_the_build_and_its_toolkit(
    build: Build, name: str, vendor: str
) -> None:
    assert build.owner(name)[0] == vendor


def test_an_architecture_is_spelt_as_the_vendor_does_or_not_at_all() -> None:
    def of(vendor: str, *said: str) -> str:
        chips = DATABASE.vendors[vendor].chips
        return _architecture(said, chips)

    assert of("nvidia", "12", "0") == "sm_120"
    assert of("moorethreads", "2", "2") == "mp_22"
    assert of("moorethreads", "9", "9") == ""
    assert of("cambricon", "3", "7") == ""
    assert of("hygon", "gfx928") == "gfx928"
    assert of("hygon", "9", "2") == ""


def test_a_module_without_a_device_gives_none() -> None:
    assert answer("cuda", None) is None
    assert answer("cuda", SimpleNamespace(is_available=lambda: False)) is None
    assert answer("cuda", NVIDIA, 2) is None
    assert answer("nosuchdevice", SimpleNamespace()) is None


def test_what_a_module_cannot_say_is_unknown() -> None:
    def refuses(index: int) -> Any:
        raise RuntimeError("no driver")

    silent = SimpleNamespace(
        is_available=lambda: True, get_device_name=refuses, get_device_properties=refuses
    )
    said = answer("xpu", silent)
    assert said is not None
    assert (said.name, said.memory, said.architecture) == ("", None, ())
    shared = SimpleNamespace(is_available=lambda: True, recommended_max_memory=lambda: 8 * GIB)
    assert getattr(answer("mps", shared), "memory", 0) == 8 * GIB


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("v4-8", "TPU v4"),
        ("v5litepod-4", "TPU v5e"),
        ("v6e-8", "TPU v6e"),
        ("tpu7x-8", "TPU7x"),
        ("", ""),
    ],
)
def test_a_tpu_is_named_by_its_machine(
    said: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TPU_ACCELERATOR_TYPE", said)
    assert tpu_name() == name


def test_metal_names_its_chip_in_another_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "get_name", lambda: "Apple M2 Ultra", raising=False)
    module = SimpleNamespace(device_count=lambda: 1)
    said = answer("mps", module)
    assert said is not None
    assert said.how == "torch.mps is available and calls device 0 'Apple M2 Ultra'"
    assert known_as(said, ("apple",), PLAIN, DATABASE).target == "apple-m2"


def test_the_host_is_always_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    found = detect_device("cpu")
    assert (found.vendor, found.device, found.chip, found.target) == (
        "cpu", torch.device("cpu"), "", "",
    )  # fmt: skip
    monkeypatch.setenv(VARIABLE, "cpu")
    assert detect_device() == found
    assert detect_device("auto").how


def test_a_priority_names_devices_or_vendors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "toaster")
    with pytest.raises(UsageError, match="no such device: 'toaster'") as wrong:
        detect_device()
    assert "ascend" in wrong.value.hint
    assert "npu" in wrong.value.hint
    for text in ("npu:one", "cuda:", "nvidia-tensorrt"):
        with pytest.raises(UsageError, match="no such device"):
            detect_device(text)
    assert detect_device(["xla:7", "cpu"]).vendor == "cpu"
    with pytest.raises(InferenceError, match="no device of xla:7, google is here"):
        detect_device("xla:7, google")


def test_a_device_reads_as_itself() -> None:
    device = torch.device("cuda", 1)
    found = DetectedDevice("nvidia", device, "a100", "NVIDIA A100", 80 * GIB)
    assert str(found) == "cuda:1 (NVIDIA A100, 80 GiB)"
    assert str(DetectedDevice("nvidia", device)) == "cuda:1 (nvidia)"


PLUGIN_PROBE = """
import sys, warnings
sys.path.insert(0, {folder!r})
from opcheck.runtime import detect_device

detect_device("cpu")
assert "torch_mlu" not in sys.modules, "it was not asked for"
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    assert detect_device("mlu,cpu").vendor == "cpu"
(one,) = told
print(one.category.__name__, one.message)
"""


@pytest.mark.slow
def test_a_plugin_that_cannot_be_imported_is_told_and_skipped(tmp_path: Path) -> None:
    package = tmp_path / "torch_mlu"
    package.mkdir()
    (package / "__init__.py").write_text("raise OSError('libcnnl.so: cannot open')")
    done = subprocess.run(
        [*python("torch"), "-c", PLUGIN_PROBE.format(folder=str(tmp_path))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "RuntimeWarning torch_mlu is installed and cannot be imported, so there is no mlu device "
        "(OSError: libcnnl.so: cannot open)"
    )


def test_a_plugin_that_is_not_installed_is_not_asked_for() -> None:
    assert module_of("nosuchdevice", "torch_nosuchdevice") is None
    assert module_of("cuda", "torch_nosuchdevice") is torch.cuda
