"""How code written for CUDA is written for a target, and what its vendor has given up."""

from collections.abc import Mapping

from msgspec import Struct, field

from opcheck.model.verdict import Evidence

CUDA = "cuda"
"""The device type that such code names."""


class Told(Struct, frozen=True):
    """What a vendor or PyTorch says of one name."""

    use: str
    """What to write instead; "" where nothing is named."""
    text: str = ""
    evidence: tuple[Evidence, ...] = ()


class Package(Struct, frozen=True):
    """A Python package made for CUDA."""

    use: str
    """What does the same in PyTorch; "" where nothing does."""
    text: str
    vendors: frozenset[str]
    """Whose devices its own page names."""
    evidence: tuple[Evidence, ...] = ()


class Transfer(Struct, frozen=True):
    """What a vendor ships that takes CUDA's names for its own: tier 2."""

    write: str
    text: str
    covers: frozenset[str]
    """Topics: ``device``, ``method``, ``module``, ``nccl``, ``tensor-type``, ``extension``."""
    evidence: tuple[Evidence, ...] = ()


class CudaNames(Struct, frozen=True):
    """What is so of code for CUDA on every other device."""

    quiet: Mapping[str, str]
    """Of ``torch.cuda``, what does not raise without CUDA -> what comes of it."""
    deprecated: Mapping[str, Told]
    packages: Mapping[str, Package]


class Porting(Struct, frozen=True):
    """One vendor's words for what CUDA has."""

    vendor: str
    device: str
    """The device type: ``npu``."""
    module: str = ""
    """What stands for ``torch.cuda``; "" where nothing does."""
    package: str = ""
    """What has to be imported beside torch; "" for nothing."""
    autoloads: bool = False
    """Whether torch from 2.5 on imports that package by itself."""
    method: bool = False
    """Whether tensors and modules have a method of the device's name."""
    collectives: str = ""
    extension: str = ""
    """What stands for ``CUDAExtension``."""
    hip: bool = False
    """Whether extensions for CUDA are turned into HIP as they are built."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variable of CUDA -> the vendor's."""
    monitor: str = ""
    """What stands for ``nvidia-smi``."""
    same: frozenset[str] = frozenset()
    """Names that ``module`` has as ``torch.cuda`` has them."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Name in ``torch.cuda`` -> name in ``module``, or a whole dotted one."""
    unsupported: Mapping[str, Told] = field(default_factory=dict)
    """Dotted names that the vendor says it does not support."""
    deprecated: Mapping[str, Told] = field(default_factory=dict)
    answers: str = ""
    """Why the device answers to CUDA's names, where it does."""
    transfers: tuple[Transfer, ...] = ()
    cited: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)
    """Field -> how that is known."""

    @property
    def answers_cuda(self) -> bool:
        """Whether tensors on the device say that they are on ``cuda``."""
        return self.device == CUDA

    def known_by(self, *topics: str) -> tuple[Evidence, ...]:
        """How fields are known."""
        found = (fact for topic in topics for fact in self.cited.get(topic, ()))
        return tuple(dict.fromkeys(found))

    def counterpart(self, name: str) -> str:
        """What stands for ``torch.cuda.NAME``, dotted; "" where nothing does."""
        renamed = self.renamed.get(name, "")
        if "." in renamed:
            return renamed
        found = renamed or (name if name in self.same else "")
        return f"{self.module}.{found}" if found else ""
