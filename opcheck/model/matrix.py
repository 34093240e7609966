"""What one target can run: the support matrix, its conditions, and what happens to the rest."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from msgspec import Struct, field

from opcheck.model.launches import SourceBuilder, TritonCompiler
from opcheck.model.predicates import Predicate
from opcheck.model.sparse import SparseKernels
from opcheck.model.target import Target, TargetKind
from opcheck.model.trace import Composite
from opcheck.model.verdict import Confidence, Evidence, Verdict

DOUBTED = "document-contradicts-registration"
"""Code of a use that one document denies, where a kernel is registered and nothing else speaks."""
OVERRULED = "document-overruled"
"""Code of a use that one document denies and a second source lists."""
NO_DTYPE = "dtype-not-supported"
"""Code of a use with a dtype that the vendor's documents leave out, or that its code refuses."""


SLOW = frozenset({"runs-on-aicpu", "computed-on-aicpu"})
"""Codes of conditions on uses that stay on the device, on its few CPU cores."""
WRONG = frozenset(
    {
        "dropout-left-out", "gradient-order-wrong", "indices-are-a-mask", "keepdim-ignored",
        "side-ignored", "spectrum-half-filled", "uninitialized-bias",
    }
)  # fmt: skip
"""Codes of conditions on uses that give wrong results on the device, without an error."""


class Condition(Struct, frozen=True):
    """A use of an overload that the target treats otherwise than its registration suggests."""

    code: str
    """Stable reason code: ``dtype-not-supported``, ``computed-on-host``, …"""
    verdict: Verdict
    """Of a use that every predicate matches; NATIVE for a caution (runs, but …)."""
    text: str
    """One sentence; ``{argument}``, ``{actual}`` and ``{chip}`` are filled in."""
    confidence: Confidence
    predicates: tuple[Predicate, ...] = ()
    """All must match; none: the condition holds for every use."""
    evidence: tuple[Evidence, ...] = ()
    harmful: bool = False
    """Whether a use that runs gives wrong values, breaks the process or is very slow by it."""
    cast: tuple[str, str] | None = None
    """Of a cast that gives another dtype: the dtype that is asked for, and the one given."""


class Caution(Struct, frozen=True):
    """What is said once of a target where a model makes such a call, however many it makes."""

    ops: frozenset[str]
    """The overloads that it is about."""
    condition: Condition
    """What a call of one of them has to meet, and what is said."""


class Entry(Struct, frozen=True):
    """One overload that the target registers a kernel for."""

    op: str
    """Schema spelling."""
    evidence: tuple[Evidence, ...]
    implementation: tuple[str, ...] = ()
    """The vendor's own words for the kernel path: ``acl_op``, ``op_api``."""
    keys: tuple[str, ...] = ("PrivateUse1",)
    """Dispatch keys that the kernel is registered under."""
    conditions: tuple[Condition, ...] = ()
    package: str = ""
    """What brings the kernel where that is neither torch nor the vendor: ``torchvision 0.28.0``."""


class Fallback(Struct, frozen=True):
    """What the vendor's runtime does with an overload that it has no kernel for."""

    to_cpu: bool
    """True: runs on the host, if a CPU kernel exists; False: an error."""
    text: str
    """The vendor's own warning or error text; ``{op}`` stands for the overload."""
    evidence: tuple[Evidence, ...]
    disable: str = ""
    """How to turn it into an error, where the vendor has a way."""
    enable: str = ""
    """What has the host run it, where that is only when asked: ``X=1 in the environment``."""
    elsewhere: str = ""
    """What runs it instead, neither the vendor's kernels nor the host, as a relative clause: of a
    graph compiler, ``which PyTorch runs on the same GPU, between two engines``."""
    raises: bool = False
    """Whether what has no converter is an error: elsewhere runs what no graph holds alone."""


class Formula(Struct, frozen=True):
    """One formula of a gradient; it runs where one of its arguments needs a gradient."""

    arguments: tuple[str, ...]
    """Schema names of those whose gradients it computes."""
    kernels: tuple[str, ...]
    """Overloads that it calls, each once, in the order of its text."""


class Gradient(Struct, frozen=True):
    """The vendor's own gradient of an overload, in place of PyTorch's.

    It stands at the vendor's autograd key, whatever keys the overload's entry names; or, where its
    evidence is inferred, behind an operator of the vendor's that the overload's kernel calls.
    """

    kernels: tuple[str, ...]
    """Overloads that its formulas call, each once; those of the vendor as ``npu::…``."""
    evidence: tuple[Evidence, ...]
    formulas: tuple[Formula, ...] = ()
    """Which of them for which argument; an argument in none of them gets no gradient."""
    unless: tuple[Predicate, ...] = ()
    """Where one matches, the forward kernel takes a path that PyTorch differentiates instead."""


class Choice(Struct, frozen=True):
    """One way in which PyTorch branches on this device, where it goes another on PrivateUse1.

    A trace on a stand-in shows what PrivateUse1 is asked for; this says what the target is.
    """

    asks: tuple[str, ...] | None
    """Overloads that the device is asked for instead, each of which has to run, as a composite
    where it has no kernel; () for none at all, None for what the trace shows."""
    predicates: tuple[Predicate, ...]
    """All must match for a call to go this way."""
    preferred: bool
    """Taken only where the target runs what it asks for, as PyTorch checks before it chooses."""
    text: str
    """What decides, as a clause: ``cuDNN convolves on CUDA``."""
    confidence: Confidence
    evidence: tuple[Evidence, ...]
    renames: Mapping[str, str] = field(default_factory=dict)
    """Argument of the overload -> its name in what is asked for, where it has another."""
    casts: Mapping[str, str] = field(default_factory=dict)
    """Dtype of tensors that the composite makes in the trace -> their dtype on this device; only
    where ``asks`` is None."""
    backward: tuple[str, ...] = ()
    """Overloads that compute the gradient of what is asked for, which get its arguments, too."""
    inside: str = ""
    """The composite that goes this way though the device has a kernel of the overload, too, which
    only direct calls reach."""

    def __hash__(self) -> int:
        return hash((self.asks, self.predicates, self.text))


class Inherited(Struct, frozen=True):
    """What PyTorch has for an overload, which a target gets that registers no kernel for it."""

    composite: Composite | None
    cpu_kernel: bool
    """Whether a CPU can run it, so that a host fallback would work."""
    parts: tuple[str, ...] | None
    """Overloads that the composite calls, whichever way it goes; None: not recorded."""


class Earlier(Struct, frozen=True):
    """What PyTorch called before it had an overload, which a trace by a newer torch shows."""

    asks: tuple[str, ...]
    """Those of the calls of the overload's composite that stood in its place."""
    text: str
    """What was otherwise, as a clause: ``attention took a plain softmax``."""
    evidence: tuple[Evidence, ...]


class Whole(Struct, frozen=True):
    """In which torch versions, ``major.minor``, an overload was no composite yet."""

    first: str
    last: str
    cpu_kernel: bool
    """Whether a CPU had a kernel of its own for it."""


class Transfers(Struct, frozen=True):
    """Which dtypes a backend of ``torch.distributed`` sends; for any other one it raises."""

    takes: frozenset[str]
    unclear: frozenset[str]
    """Those of which it depends on the build, the method or the release."""
    evidence: tuple[Evidence, ...]


class Reduction(Struct, frozen=True):
    """Reductions that a backend of ``torch.distributed`` has, or lacks, for some dtypes."""

    has: bool
    names: frozenset[str]
    """``SUM``, ``AVG``, ``PRODUCT``, …"""
    dtypes: frozenset[str]
    """Empty where it holds for every dtype that the backend sends."""
    evidence: tuple[Evidence, ...]

    def covers(self, name: str, dtype: str) -> bool:
        """Whether it is about a reduction of tensors of a dtype."""
        return name in self.names and (not self.dtypes or dtype in self.dtypes)


class Collective(Struct, frozen=True):
    """Whether the target's backend of ``torch.distributed`` has what a ``c10d`` operator asks."""

    has: bool
    backend: str
    """As it is called: ``HCCL``; "" where the target has none."""
    method: str
    """What the operator asks of it: ``allreduce``."""
    evidence: tuple[Evidence, ...]
    transfers: Transfers | None = None
    """None where nobody has said which dtypes it sends."""
    reductions: tuple[Reduction, ...] = ()
    """What is known of the reductions of this method; what the backend lacks goes first."""


class CompilerDoes(StrEnum):
    """What becomes of code that a back end of ``torch.compile`` is to compile."""

    RUNS = "runs"
    """The back end is there."""
    RAISES = "raises"
    """The first call raises."""
    SKIPS = "skips"
    """A warning, and the code runs without it."""
    UNCLEAR = "unclear"
    """Of some calls: it may raise, or nobody has said what it does."""
    WRONG = "wrong"
    """Of some calls: it compiles them, to code that gives other values."""


class CompileCondition(Struct, frozen=True):
    """Calls with which a back end of ``torch.compile`` fares otherwise than with all others."""

    does: CompilerDoes
    text: str
    """One sentence; ``{backend}`` and ``{chip}`` are filled in."""
    ops: frozenset[str]
    """The overloads; ``*`` any."""
    cases: tuple[tuple[Predicate, ...], ...]
    """The predicates of one of them must all match."""
    evidence: tuple[Evidence, ...]
    fullgraph: bool = False
    """Whether it holds for code alone that is compiled with ``fullgraph=True``."""
    modes: frozenset[str] = frozenset({"inference", "train"})


class Compiler(Struct, frozen=True):
    """A back end of ``torch.compile`` on a target, or what one does for a mode."""

    does: CompilerDoes
    evidence: tuple[Evidence, ...]
    error: str = ""
    """What it says where it raises or skips."""
    needs: str = ""
    """The package without which it raises."""
    instead: str = ""
    """A back end that is there."""
    note: str = ""
    without: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)
    """Dtypes that it writes kernels to convert, which do not compile for the target's chip."""
    supported: frozenset[str] = frozenset()
    """What a source calls supported there: ``inference``, ``train``."""
    conditions: tuple[CompileCondition, ...] = ()


class Message(Struct, frozen=True):
    """What the vendor's runtime says, literally; ``{op}`` and the like stand for what varies."""

    text: str
    raises: bool
    """An error; else a warning, given once."""
    evidence: tuple[Evidence, ...]
    number: str = ""
    """The vendor's error number, which a line after the text names: ``ERR01007``."""


class SupportMatrix(Struct, frozen=True):
    """Every known fact about one target, chip and torch version already chosen."""

    target: Target
    entries: Mapping[str, Entry]
    """Registered overloads by schema spelling."""
    conditions: Mapping[str, tuple[Condition, ...]]
    """By overload, for overloads with or without an entry; ``*`` holds for every overload."""
    fallback: Fallback
    history: Mapping[str, tuple[str, str]]
    """aten overload -> (first, last) torch ``major.minor`` that has it; an aten overload that is
    absent is unknown to every torch looked at."""
    extensions: Mapping[str, bool]
    """Overloads outside aten that come from an extension library -> whether it has a CPU kernel."""
    advisories: tuple[Condition, ...] = ()
    """What holds for the whole target and depends on no use."""
    database_digest: str = ""
    """sha256 of the files that this matrix was read from, first 16 hex digits."""
    database_date: str = ""
    """ISO date of the newest source commit in them."""
    gradients: Mapping[str, Gradient] = field(default_factory=dict)
    """Overloads of PyTorch that the vendor differentiates itself."""
    autocast: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Policy, as PyTorch names it (``lower_precision_fp``, ``fp32``, …; ``banned`` raises) ->
    the overloads that the vendor registers under it; empty where that is not known."""
    messages: Mapping[str, Message] = field(default_factory=dict)
    """By reason code, where the vendor's own words for it are known."""
    dispatch_key: str = "PrivateUse1"
    """Where the target's kernels for dense tensors are registered: also ``CUDA``, ``XPU``, …"""
    choices: Mapping[str, tuple[Choice, ...]] = field(default_factory=dict)
    """Overload that PrivateUse1 is asked for -> the ways the target's device type goes instead;
    the first that fits a call holds."""
    inherited: Mapping[str, Inherited] = field(default_factory=dict)
    """What PyTorch has for the overloads that ``choices`` ask for, which no trace shows."""
    inherits: frozenset[Composite] = frozenset(Composite)
    """Kinds of PyTorch's composite kernels that run where the target has no kernel."""
    whole: Mapping[str, Whole] = field(default_factory=dict)
    """Overloads that older torch versions had without the composite that they are now."""
    earlier: Mapping[str, Earlier] = field(default_factory=dict)
    """Overload -> what a torch called that does not have it yet."""
    collectives: Mapping[str, Collective] = field(default_factory=dict)
    """``c10d`` operator -> what its backend does with it; nobody has said anything of others."""
    compilers: Mapping[str, Compiler] = field(default_factory=dict)
    """Back end of ``torch.compile``, or ``reduce-overhead`` -> what becomes of code that it is to
    compile; of those that are not here, nobody has said anything."""
    find_triton: Callable[[], TritonCompiler | None] = lambda: None
    """Gives :attr:`triton`, and the same each time."""
    cuda_sources: SourceBuilder | None = None
    """What becomes of an extension in CUDA C++; None: nobody has said."""
    sparse: Mapping[str, SparseKernels] = field(default_factory=dict)
    """Layout, as torch names it (``sparse_coo``, ``sparse_csr``, …) -> what the target has for it;
    empty where nobody has said."""
    cautions: tuple[Caution, ...] = ()
    """What is said of the whole target where a model calls for it."""
    libraries: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Namespace of a library's operators -> the package and the release of it that is assumed, for
    those whose releases differ and whose release the target does not name."""
    chip_name: str = ""
    """What the vendor calls the chip: ``Ascend 910B``."""
    capability: tuple[int, int] | None = None
    """What ``get_device_capability`` gives for the chip; None where nothing says."""
    kind: TargetKind = TargetKind.DEVICE
    """What the target is."""

    @property
    def triton(self) -> TritonCompiler | None:
        """The Triton that compiles for the target, or that none does; None: nobody has said."""
        return self.find_triton()

    @property
    def compiles_graphs(self) -> bool:
        """Whether whole graphs are converted, for inference alone."""
        return bool(self.fallback.elsewhere) or self.exports

    @property
    def exports(self) -> bool:
        """Whether the model leaves PyTorch: what is not converted has nothing to run on."""
        return self.kind is TargetKind.EXPORT

    @property
    def casts(self) -> Mapping[str, str]:
        """Dtype that a cast on the device asks for -> the dtype that it gives instead."""
        conditions = (condition for op in _CASTS for condition in self.conditions_for(op))
        return dict(condition.cast for condition in conditions if condition.cast is not None)

    def takes_apart(self, op: str, composite: Composite | None) -> bool:
        """Whether the target runs what a composite is made of, having no kernel for it."""
        return composite in self.inherits and op not in self.entries

    def conditions_for(self, op: str) -> tuple[Condition, ...]:
        """Conditions of one overload, the target-wide ones last."""
        entry = self.entries.get(op)
        own = entry.conditions if entry else ()
        return (*own, *self.conditions.get(op, ()), *self.conditions.get("*", ()))


_CASTS = ("aten::_to_copy", "aten::to.dtype", "aten::to.dtype_layout")
"""Overloads that change a tensor's dtype."""
