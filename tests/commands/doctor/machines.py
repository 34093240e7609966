"""Machines that were made up: folders of packages, version files, tools that answer."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.doctor.machine import Machine

LINUX = ("3.11.7", "Linux", "x86_64")
TAGS = frozenset({"py3-none-any", "cp311-cp311-linux_x86_64", "cp311-cp311-manylinux_2_28_x86_64"})


@dataclass
class Made:
    """A machine under a temporary folder, which grows by the methods that are called."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)
    machine: Machine = field(init=False)

    def __post_init__(self) -> None:
        python, system, machine = LINUX
        self.packages.mkdir(parents=True)
        self.tools.mkdir(parents=True)
        self.environ["PATH"] = str(self.tools)
        self.machine = Machine(
            python, system, machine, "2.36", tags=TAGS, packages=(str(self.packages),),
            root=self.root, environ=self.environ,
        )  # fmt: skip

    @property
    def packages(self) -> Path:
        return self.root / "site-packages"

    @property
    def tools(self) -> Path:
        return self.root / "usr/bin"

    def of(self, **changes: object) -> "Made":
        """The same machine with another Python, system or processor."""
        self.machine = replace(self.machine, **changes)
        return self

    def package(
        self, name: str, version: str, *lines: str, tag: str = "py3-none-any", python: str = ""
    ) -> "Made":
        """Install a package: its metadata alone."""
        info = self.packages / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        said = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {x}" for x in lines)]
        said += [f"Requires-Python: {python}"] if python else []
        (info / "METADATA").write_text("Metadata-Version: 2.1\n" + "\n".join(said) + "\n")
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nTag: {tag}\n")
        return self

    def torch(self, version: str, **stated: str) -> "Made":
        """Install torch, whose ``version.py`` states ``cuda``, ``hip`` or ``xpu``."""
        self.package("torch", version)
        said = [f"{name}: Optional[str] = {stated.get(name)!r}" for name in ("cuda", "hip", "xpu")]
        lines = [f"__version__ = '{version}'", *said]
        return self.file("site-packages/torch/version.py", "\n".join(lines) + "\n")

    def vision(self, version: str, torch: str) -> "Made":
        """Install torchvision, whose wheel asks for one torch."""
        self.package("torchvision", version.partition("+")[0], f"torch (=={torch})")
        return self.file("site-packages/torchvision/version.py", f"__version__ = '{version}'\n")

    def torch_again(self, version: str, **stated: str) -> "Made":
        """Install another torch in place of the one that is there."""
        self.remove("torch")
        return self.torch(version, **stated)

    def repackage(self, name: str, version: str) -> "Made":
        """Install another release of a package."""
        self.remove(name)
        return self.package(name, version)

    def remove(self, name: str) -> "Made":
        """Uninstall a package."""
        for info in self.packages.glob(f"{name.replace('-', '_')}-*.dist-info"):
            shutil.rmtree(info)
        return self

    def file(self, path: str, text: str = "") -> "Made":
        """Write a file, with the folders that lead there."""
        where = self.root / path.lstrip("/")
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text)
        return self

    def tool(self, name: str, says: str) -> "Made":
        """A command that says something, whatever it is asked."""
        path = self.tools / name if "/" not in name else self.root / name.lstrip("/")
        self.file(str(path.relative_to(self.root)), f"#!/bin/sh\n/bin/cat <<'END'\n{says}\nEND\n")
        path.chmod(0o755)
        return self

    def without(self, name: str) -> "Made":
        """The same machine without a command."""
        (self.tools / name).unlink()
        return self

    def set(self, **variables: str) -> "Made":
        """Set environment variables; ``{root}`` stands for where the machine is."""
        self.environ |= {name: text.format(root=self.root) for name, text in variables.items()}
        return self


def cann(made: Made, version: str) -> Made:
    """Install CANN where its script says it is, and source that script."""
    made.file(
        "usr/local/Ascend/ascend-toolkit/latest/x86_64-linux/ascend_toolkit_install.info",
        f"package_name=Ascend-cann-toolkit\nversion={version}\narch=x86_64\n",
    )
    return made.set(ASCEND_HOME_PATH="{root}/usr/local/Ascend/ascend-toolkit/latest")


def ascend(made: Made, chip: str = "910B3") -> Made:
    """A machine of Ascend's that goes together: release 7.2.0 for torch 2.7.1."""
    made.torch("2.7.1+cpu").package("torch-npu", "2.7.1").package("triton-ascend", "3.2.0")
    made.tool("gcc", "").tool("g++", "")
    made.file("dev/davinci0").file("usr/local/Ascend/driver/version.info", "Version=25.2.0\n")
    made.tool("npu-smi", f"| 0     {chip}               | OK            | 92.0 |")
    return cann(made, "8.3.RC1")


def cambricon(made: Made) -> Made:
    """A machine of Cambricon's that goes together."""
    made.torch("2.4.1+cpu").package("torch-mlu", "1.25.0+torch2.4.1")
    made.file("usr/local/neuware/lib64/libcnnl.so.2.0.0")
    made.tool("cnmon", "| CNMON v6.2.8   Driver v6.2.8 |\n| 0 MLU590-H8 |")
    return made.set(
        NEUWARE_HOME="{root}/usr/local/neuware", LD_LIBRARY_PATH="/usr/local/neuware/lib64"
    )


def nvidia(made: Made, driver: str = "580.95.05", name: str = "NVIDIA A100-SXM4-80GB") -> Made:
    """A machine of NVIDIA's, with the Triton of torch 2.13 and compilers."""
    made.package("triton", "3.7.1").tool("gcc", "").tool("g++", "")
    return made.file("dev/nvidia0").tool("nvidia-smi", f"{driver}, {name}")


def rocm(made: Made, version: str) -> Made:
    """A machine with ROCm."""
    major, minor, patch = version.split(".")
    text = (
        f"#define ROCM_VERSION_MAJOR   {major}\n#define ROCM_VERSION_MINOR   {minor}\n"
        f"#define ROCM_VERSION_PATCH   {patch}\n"
    )
    made.file("dev/kfd").file("opt/rocm/include/rocm-core/rocm_version.h", text)
    return made
