"""Answers on environments, for the formats and the command line."""

from opcheck.commands.doctor.values import (
    Component,
    Doctor,
    DoctorFinding,
    DoctorTarget,
    Part,
    Setup,
    Severity,
)
from opcheck.model.verdict import Evidence, Method

_SAID = Evidence(
    Method.DOCUMENTED, "Ascend/pytorch", "COMPATIBILITY.en.md", 33, "9e73e708", "2026-08-21"
)
_SETUP = Setup(
    release="7.2.0",
    components=(
        Component("torch", "2.7.1", (_SAID,)),
        Component("torch_npu", "2.7.1", (_SAID,)),
        Component("CANN", "8.3.RC1", (_SAID,)),
    ),
    pythons=("3.9", "3.10"),
    systems=("Linux",),
    by_hand=("CANN 8.3.RC1 for the chip: https://www.hiascend.com/cann/download",),
    commands=("pip install torch==2.7.1 --index-url https://download.pytorch.org/whl/cpu",),
    settings=("source /usr/local/Ascend/ascend-toolkit/set_env.sh",),
    unknown=("a container image of these versions",),
)
_BY_IMAGE = Setup(
    release="1.0",
    components=(Component("torch", "2.9.0", (_SAID,)),),
    systems=("Linux",),
    image="registry.acme.com/torch:1.0",
    unknown=("a command that installs it from a public index",),
)
_PARTS = (
    Part("python", "Python", "3.11.7"),
    Part("system", "Linux", "", "x86_64, glibc 2.36"),
    Part("package", "torch", "2.6.0+cpu", "for CPU, imports"),
    Part("package", "torch-npu", "2.7.1", "import crashed"),
    Part("toolkit", "CANN", "8.3.RC1", "/usr/local/Ascend/ascend-toolkit/latest"),
    Part("driver", "Ascend driver", "25.2.0", "910B3, /dev/davinci0"),
    Part("variable", "CUDA_VISIBLE_DEVICES", "", "\x1b[31m0"),
)
_FINDINGS = (
    DoctorFinding(
        "plugin", Severity.ERROR, "torch_npu 2.7.1",
        "the vendor pairs it with torch 2.7.1; here is torch 2.6.0+cpu",
        ("pip install torch==2.6.0 --index-url https://download.pytorch.org/whl/cpu",
         "pip install torch-npu==2.6.0.post5"), (_SAID, _SAID),
    ),
    DoctorFinding(
        "visible-devices", Severity.WARNING, "CUDA_VISIBLE_DEVICES",
        "it is CUDA's and does nothing here; Huawei Ascend has ASCEND_RT_VISIBLE_DEVICES",
        ("export ASCEND_RT_VISIBLE_DEVICES='0'",),
    ),
    DoctorFinding(
        "chip", Severity.UNKNOWN, "Ascend910Z7", "no chip in the vendor's list has this name"
    ),
)  # fmt: skip
_GENERAL = DoctorFinding(
    "companion-build", Severity.ERROR, "torchvision 0.21.0+cu126",
    "it was built for CUDA 12.6, torch 2.6.0+cpu for the CPU: its operators are not there",
)  # fmt: skip

DOCTORS = {
    "mismatch": Doctor(
        "0.1.0", _PARTS, (_GENERAL,),
        (DoctorTarget("ascend-910b", "ascend", "Huawei Ascend", False, _FINDINGS, _SETUP),),
    ),
    "fine": Doctor(
        "0.1.0", _PARTS[:3], (),
        (DoctorTarget("ascend", "ascend", "Huawei Ascend", False, (), _SETUP),),
    ),
    "planned": Doctor(
        "0.1.0",
        targets=(DoctorTarget("ascend-910b@8.x", "ascend", "Huawei Ascend", True, (), _SETUP),),
        written=("Dockerfile", "env.sh"),
    ),
    "nothing": Doctor("0.1.0", (*_PARTS[:2], Part("package", "torch", "", "not installed"))),
    "image": Doctor(
        "0.1.0", targets=(DoctorTarget("acme-1", "acme", "acme", True, (), _BY_IMAGE),)
    ),
    "unsaid": Doctor("0.1.0", targets=(DoctorTarget("acme-1", "acme", "acme", True),)),
}  # fmt: skip
