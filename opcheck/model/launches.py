"""Kernels that a model brings itself: what their code asks of a compiler, and how they are called.

They reach a device past PyTorch's dispatcher, so that no operator of PyTorch stands for them.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from opcheck.model.verdict import Evidence


class Language(StrEnum):
    """What a kernel is written in; the namespace of what stands for its operator in a finding."""

    TRITON = "triton"
    CUDA = "cuda"
    """CUDA C++, in a file or in a string."""
    CPP = "cpp"
    """C++ for the host, with PyTorch's headers."""


class Operation(Struct, frozen=True, order=True):
    """One function of ``triton.language`` that a kernel calls."""

    name: str
    """Below ``triton.language``: ``load``, ``math.exp``, ``extra.libdevice.tanh``."""
    line: int
    """Where the file calls it first in this way."""
    of: tuple[str, ...] = ()
    """Whose dtype its operands have: parameters of the kernel (what they point to), and dtypes as
    torch names them; sorted. () where that was not followed."""
    given: tuple[tuple[str, str], ...] = ()
    """Keyword arguments that are texts, with their values, sorted."""


ANY_STAGES = -1
"""What stands for a number of stages that is chosen by trying."""


class Block(Struct, frozen=True, order=True):
    """A block that a kernel loads in a loop, for a product there."""

    parameter: str
    """What points to it."""
    line: int
    sizes: tuple[str, ...]
    """As the source has them: constants of the kernel, or numbers."""
    loop: int = 1
    """Which of the kernel's loops it is, from 1 on: one begins when another has ended."""


class Called(Struct, frozen=True, order=True):
    """A function that every run of a kernel calls, with sizes or dtypes that its source tells."""

    name: str
    """As :class:`Operation` has it; ``block`` for whatever loads or makes a block."""
    line: int
    sizes: tuple[str, ...] = ()
    """As the source has them: of a block; of a product its rows, its depth and its columns."""
    dtypes: tuple[str, ...] = ()
    """Of each operand: ``*x`` for what a parameter points to; "" where it was not followed."""
    text: str = ""
    """Inline assembly; of a product ``held`` where an operand is from before the loop around it,
    and ``while`` where that loop is in one of ``while``; the name of a function of the model's."""


ASSEMBLY = "inline_asm_elementwise"
"""The function of ``triton.language`` for inline assembly."""
HELPER = "call"
"""What stands for the name of a function of the model's own, which is a call's text."""
IMPORT = "import"
"""What stands for the name of a kernel where a file only imports what kernels are written in; a
keyword of Python's, so that no kernel has it."""


class KernelCode(Struct, frozen=True, order=True):
    """What the source of one kernel says."""

    name: str
    file: str
    """As reports show it; "" where its source is not known."""
    line: int
    """Of its ``def``; 0 where that is not known."""
    language: Language = Language.TRITON
    parameters: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    """Parameters that are ``tl.constexpr``."""
    operations: tuple[Operation, ...] = ()
    """Sorted; what it calls of the same file's functions is among them."""
    dtypes: tuple[str, ...] = ()
    """Dtypes that it names, as torch names them, sorted."""
    unread: tuple[str, ...] = ()
    """Functions that it calls and whose source was not read, as it names them, sorted."""
    blocks: tuple[Block, ...] = ()
    """What it loads in loops for products there, sorted."""
    calls: tuple[Called, ...] = ()
    """What it calls with plain sizes or dtypes, sorted; not what it calls by other functions."""

    @property
    def passed_on(self) -> frozenset[Called]:
        """Those of its calls that are the same for whoever calls it."""
        return frozenset(each for each in self.calls if each.name in (ASSEMBLY, HELPER))

    def always_calls(self, name: str) -> bool:
        """Whether every run of it calls a function of the model's."""
        return any(each.name == HELPER and each.text == name for each in self.calls)

    @property
    def operator(self) -> str:
        """What stands for an operator in a finding: ``triton::add_kernel``."""
        return f"{self.language}::{self.name}"

    @property
    def writes(self) -> frozenset[str] | None:
        """Parameters whose tensors it writes to; None where that was not followed."""
        stores = [each for each in self.operations if _writes(each.name)]
        if self.unread or not stores or not all(each.of for each in stores):
            return None
        return frozenset(name for each in stores for name in each.of)


def _writes(operation: str) -> bool:
    return operation.startswith(("store", "atomic_"))


class Launch(Struct, frozen=True, order=True):
    """One place that launches a kernel, with arguments of one kind."""

    kernel: KernelCode
    where: str
    """Module path, or file:line."""
    phase: str = "forward"
    """``forward``, ``backward`` or ``optimizer``."""
    dtypes: tuple[tuple[str, str], ...] = ()
    """Parameter that was given a tensor -> its dtype, in the order of the parameters."""
    constants: tuple[tuple[str, str], ...] = ()
    """Parameter that is ``tl.constexpr`` -> its value, as text; sorted."""
    programs: int = 0
    """How many instances run at once at most: the product of the grid; 0 where it is not known."""
    count: int = 1
    stages: int = 0
    """``num_stages``: how many rounds of a loop overlap; 0 where nothing was said of it,
    ``ANY_STAGES`` where an autotuner looks for a configuration that fits."""
    warps: int = 0
    """``num_warps``; 0 where nothing was said of it."""
    clusters: int = 0
    """``num_ctas``; 0 where nothing was said of it."""
    grid: tuple[int, ...] = ()
    """How many instances there are along each axis; () where that is not known."""


class SourceBuilder(Struct, frozen=True):
    """What becomes of CUDA C++ that is to be built for a target."""

    builds: bool
    evidence: tuple[Evidence, ...]
    converts: bool = False
    """Whether it is turned into HIP before."""
    error: str = ""
    """What it says where nothing builds it."""


class TritonOperation(Struct, frozen=True):
    """What a compiler's table says of one function of ``triton.language``."""

    evidence: tuple[Evidence, ...]
    dtypes: frozenset[str] | None = None
    """Those that it is said to take, as torch names them; None where nobody has said."""
    refuses: frozenset[str] = frozenset()
    """Those that the device cannot do; of the others nobody has said anything."""
    texts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Keyword argument -> the only texts that it takes."""


class LimitKind(StrEnum):
    """What a compiler or a chip asks of how a kernel is written or launched."""

    RANGE = "range"
    """Ranges have a power of two as their size."""
    ELEMENTS = "elements"
    """A block has ``most`` elements."""
    PRODUCT = "product"
    """Rows, columns and depth of a product are ``least`` or more."""
    ONE_DTYPE = "one-dtype"
    """Operands of a product have one dtype."""
    MATHS = "maths"
    """Functions (``words``) do not take ``dtypes``."""
    THREADS = "threads"
    """A block has ``most`` threads, ``least`` of them in a warp."""
    CLUSTERS = "clusters"
    """``num_ctas`` is one."""
    GRID = "grid"
    """The second and the third axis of a grid have ``most`` instances."""
    CORE_MEMORY = "core-memory"
    """A block of a kernel without products has ``most`` bytes."""
    FMA_MEMORY = "fma-memory"
    """Operands of a product, as float32, have ``most`` bytes together."""
    WHILE = "while"
    """There are no products in loops of ``while``."""
    WARPS = "warps"
    """Users saw products of ``most`` rows and columns abort with ``least`` warps or more."""
    ASSEMBLY = "assembly"
    """Inline assembly has none of ``words``."""


class Limit(Struct, frozen=True):
    """One of these, of a target's compiler or chip."""

    kind: LimitKind
    evidence: tuple[Evidence, ...]
    most: int = 0
    least: tuple[int, ...] = ()
    words: frozenset[str] = frozenset()
    dtypes: frozenset[str] = frozenset()
    """Those that it is about; of all where there are none."""


class TritonCompiler(Struct, frozen=True):
    """The Triton that compiles for a target, or that there is none."""

    package: str
    """What brings it: ``triton``, ``triton-ascend``; "" where there is none."""
    evidence: tuple[Evidence, ...]
    operations: Mapping[str, TritonOperation] = field(default_factory=dict)
    """By name below ``triton.language``; of others nobody has said anything."""
    without: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)
    """Dtypes, as torch names them, for which it raises on the target's chip."""
    not_installed: str = ""
    """What an import says where no package of it is published for the device's hosts."""
    computed: frozenset[str] = frozenset()
    """Those of them that it loads and stores, and raises for where the kernel itself names them."""
    error: str = ""
    """What a launch says where there is none, or none for the target's chip."""
    most_programs: int = 0
    """The largest product of a grid; 0 where nobody has said."""
    at_most: tuple[Evidence, ...] = ()
    """Who says so."""
    unless: str = ""
    """What lifts that limit: ``X=1``."""
    shared_memory: int = 0
    """Bytes of shared memory that a block of threads may have; 0 where nobody has said."""
    stages: int = 0
    """What ``num_stages`` is where nothing is said of it."""
    kept_in_shared: tuple[Evidence, ...] = ()
    """Who says so, and that blocks are kept there."""
    limits: tuple[Limit, ...] = ()
    """What it and the chip ask of how a kernel is written or launched."""
    doubt: str = ""
    """Why nobody has said that it is for this very target; "" where somebody has."""

    def operation(self, name: str) -> TritonOperation | None:
        """What is known of a function, which ``triton.language.math`` may have as well.

        The method ``to`` is the function ``cast``, which came later.
        """
        names = ("cast", name) if name == "to" else (name, name.removeprefix("math."))
        return next((self.operations[each] for each in names if each in self.operations), None)
