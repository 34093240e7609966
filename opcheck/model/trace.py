"""What a model did: the tree of calls, where they came from, and what could not be seen."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field

from opcheck.lang.sentence import Sentence
from opcheck.model.costs import Costs
from opcheck.model.dynamic import Site
from opcheck.model.kept_out import UnknownClass
from opcheck.model.launches import Launch


class OpName(Struct, frozen=True, order=True):
    """An operator overload, in the schema spelling: ``aten::add.Tensor``, ``aten::relu``."""

    namespace: str
    base: str
    overload: str = ""

    @classmethod
    def parse(cls, text: str) -> "OpName":
        """Read the schema spelling; ``str()`` gives back exactly ``text``."""
        namespace, sep, rest = text.partition("::")
        base, _, overload = rest.partition(".")
        name = cls(namespace, base, overload)
        if not (sep and namespace and base) or str(name) != text:
            raise ValueError(
                Sentence(
                    "not an operator name: {text} (want namespace::base[.overload])",
                    text=repr(text),
                )
            )
        return name

    @property
    def operator(self) -> str:
        """Namespace and base name without the overload: ``aten::add``."""
        return f"{self.namespace}::{self.base}"

    def __str__(self) -> str:
        dot = f".{self.overload}" if self.overload else ""
        return f"{self.namespace}::{self.base}{dot}"


class TensorMeta(Struct, frozen=True):
    """A tensor without its values."""

    dtype: str
    """torch's name without the prefix: ``float32``, ``bfloat16``, ``int64``, ``complex64``."""
    shape: tuple[int, ...]
    """Size of each dimension, in elements."""
    stride: tuple[int, ...]
    """Stride of each dimension, in elements."""
    host: bool = False
    """True for a tensor that stays in host memory (a CPU scalar, an index made by Python)."""
    offset: int | None = 0
    """Where its storage has its first element, as :func:`coarse_offset`; None: not known."""

    @property
    def numel(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, views counted as if dense."""
        return self.numel * DTYPE_BYTES.get(self.dtype, 1)

    @property
    def layout(self) -> str:
        """How its elements lie.

        ``contiguous``: in order; ``permuted``: in another order, without gaps; ``strided``: else.
        """
        pairs = list(zip(self.stride, self.shape, strict=True))
        if not self.numel or _dense(pairs):
            return "contiguous"
        in_order = sorted(pairs, key=lambda pair: (-pair[0], pair[1] == 1))
        return "permuted" if _dense(in_order) else "strided"

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


_LARGEST_ALIGNMENT = 512
_FAR = 2**32


def coarse_offset(nbytes: int) -> int:
    """An offset in bytes with what kernels tell offsets apart by, so that loops repeat signatures.

    It is 0 for 0 alone. Else it is the largest power of two, up to 512, that divides the offset,
    and 2**32 more where the offset is not below that, which 32 bits do not count.
    """
    return min(nbytes & -nbytes, _LARGEST_ALIGNMENT) + (_FAR if nbytes >= _FAR else 0)


def _dense(dimensions: Sequence[tuple[int, int]]) -> bool:
    """Whether dimensions, (stride, size) each, lie one within the other without gaps."""
    expected = 1
    for step, size in reversed(dimensions):
        if size != 1 and step != expected:
            return False
        expected *= size
    return True


DTYPE_BYTES: Mapping[str, int] = {
    "bool": 1, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4,
    "uint64": 8, "int64": 8, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8,
    "complex32": 4, "complex64": 8, "complex128": 16, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
}  # fmt: skip
"""Bytes of one element, by dtype name."""


class Constant(Struct, frozen=True):
    """A non-literal argument kept as text: a dtype, layout, memory format or device."""

    kind: str
    """``dtype``, ``memory_format``, ``layout``, ``device``, ``reduction`` or ``other``."""
    value: str
    """torch's name without the prefix: ``float32``, ``channels_last``, ``npu``, ``SUM``."""

    def __str__(self) -> str:
        return self.value


Value = TensorMeta | Constant | bool | int | float | str | None | tuple["Value", ...]
"""One argument. A complex number is kept as ``str``; a list of tensors is a tuple."""


class Composite(StrEnum):
    """The alias-key kernel that an overload has in PyTorch, if any."""

    IMPLICIT = "CompositeImplicitAutograd"
    EXPLICIT = "CompositeExplicitAutograd"
    NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"


class Node(Struct, frozen=True):
    """One distinct call: an overload with one signature, and what it becomes inside PyTorch.

    Nodes are shared: a signature that a hundred layers repeat is one node.
    """

    op: OpName
    arguments: tuple[tuple[str, Value], ...]
    """(schema argument name, value), in schema order; arguments left at their default omitted."""
    outputs: tuple[Value, ...] = ()
    composite: Composite | None = None
    """Which composite kernel would run it where a target registers none; None: none exists."""
    cpu_kernel: bool = True
    """Whether a CPU can run it, so that a host fallback would work."""
    children: tuple[tuple[int, int], ...] | None = ()
    """(index into ``Trace.nodes``, how often called) of what the composite kernel calls, in order
    of first call. ``()`` without a composite or for one that calls nothing; None: not known."""
    note: str = ""
    """Why ``children`` is None, or what else was seen while taking the call apart."""
    data_dependent: bool = False
    """The output's size or a Python number read from it depends on values that were assumed."""
    modes: tuple[tuple[str, str], ...] = ()
    """(mode, its value) that the program set: ``("deterministic", "error")``; ``()`` in graphs."""

    def tensors(self) -> tuple[tuple[str, TensorMeta], ...]:
        """Every tensor argument with its argument name, lists flattened, in schema order."""
        return tuple((n, t) for n, v in self.arguments for t in tensors_in(v))

    @property
    def dtype_class(self) -> str:
        """``bool``, ``integer``, ``float`` or ``complex`` of the first tensor; "" without one."""
        for _, tensor in self.tensors():
            kind = tensor.dtype.rstrip("0123456789").partition("_")[0].partition("8")[0]
            return _DTYPE_CLASSES.get(kind, "other")
        return ""

    def output_tensors(self) -> tuple[TensorMeta, ...]:
        """Every output tensor, lists flattened."""
        return tuple(t for v in self.outputs for t in tensors_in(v))


_DTYPE_CLASSES = {
    "bool": "bool", "int": "integer", "uint": "integer",
    "float": "float", "bfloat": "float", "complex": "complex",
}  # fmt: skip


def tensors_in(value: Value) -> tuple[TensorMeta, ...]:
    """Every tensor of an argument or of an output, lists flattened, in order."""
    if isinstance(value, TensorMeta):
        return (value,)
    if isinstance(value, tuple):
        return tuple(t for item in value for t in tensors_in(item))
    return ()


class Phase(StrEnum):
    """When a call happens."""

    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"


class Use(Struct, frozen=True):
    """Calls of one node from one place in the model."""

    node: int
    """Index into ``Trace.nodes``."""
    module: str
    """Module path with layer numbers as ``*``: ``model.layers.*.self_attn``; "" for the root."""
    file: str
    """The user's file, relative to the working directory or to its package; "" if none."""
    line: int
    """1-based line in ``file``; 0 if none."""
    count: int
    phase: Phase = Phase.FORWARD


NOT_SEEN = "not-seen"
"""The code of a gap of no kind of its own."""


class Gap(Struct, frozen=True, eq=False):
    """Something that the trace could not see; it counts as unknown."""

    where: str
    """Module path, or file:line."""
    reason: str
    """One sentence."""
    code: str = NOT_SEEN
    """Stable: what kind of gap it is, one of the following or the default, by its reason alone."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gap) and self._key == other._key

    def __lt__(self, other: "Gap") -> bool:
        return self._key < other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[str, str]:
        return self.where, self.reason


RUN_ENDED = "run-ended"
"""Nothing of the model was seen after it."""
MODULE_FAILED = "module-failed"
"""A module raised; what comes after it went on with its input."""
VALUE_ASSUMED = "value-assumed"
"""The model decides by a value that depends on data; one was taken."""
SHAPE_ASSUMED = "shape-assumed"
"""An operator has no rule for its result's shape; that of its input was taken."""
DEVICE_NAMED = "device-named"
"""The model names a device; it ran as if it named that of the target."""
KERNEL_NOT_RUN = "kernel-not-run"
"""A kernel of the model's own was launched on an emulated device; nothing ran it."""
QUANTISED = "weights-quantised"
"""Operators of a library compute with the weights."""
NOT_IN_FORMAT = "not-in-format"
"""A saved graph holds something that its format is not known to have."""
NOT_AS_OLDER = "not-traced-as-older-torch"
"""The model calls what the target's torch lacks, and did not run with that hidden."""


def run_ended(where: str, message: str) -> Gap:
    """The gap of a run that ended before the model did, by what ended it."""
    return Gap(where, Sentence("the run ended here: {said}", said=message), RUN_ENDED)


COMPILED = "_opcheck_compiled"
"""The attribute of a module that holds how it was to be compiled: a :class:`Compilation`."""
GIVEN_BACKEND = "that it was given"
"""What stands for its name where torch keeps none: after ``Module.compile``."""


class Compilation(Struct, frozen=True, order=True):
    """How ``torch.compile`` was asked to compile something."""

    backend: str
    """Its name, or that of the function which is the backend."""
    mode: str = ""
    fullgraph: bool = False
    dynamic: str = ""
    """``true``, ``false``, or "" where nothing was said of it."""
    options: tuple[str, ...] = ()
    """``name=value`` of each, sorted."""
    function: bool = False
    """Whether a function was given, and no name."""
    suppressed: bool = False
    """Whether what fails to compile runs as it is written: ``suppress_errors`` of Dynamo is on."""

    @property
    def captures_graphs(self) -> bool:
        """Whether graphs of the device are to be captured as well, which replay its kernels."""
        return self.mode in ("reduce-overhead", "max-autotune") or _CAPTURES in self.options


_CAPTURES = "triton.cudagraphs=True"


INSIDE = "compiled"
"""The mode of calls that a compiled function makes: where that was called, as its region says."""


class CompiledRegion(Struct, frozen=True, order=True):
    """Code that was to be compiled, and ran as it is written."""

    where: str
    """Module path, or file:line."""
    how: Compilation


class Kernel(Struct, frozen=True):
    """How often a device with one target's registrations is asked to run one overload."""

    op: OpName
    count: int
    missing: bool
    """True where the target registers no kernel and no composite exists: fallback or error."""
    cpu_kernel: bool = True
    """Whether a CPU can run it, so that a host fallback would work."""
    phase: Phase = Phase.FORWARD


class AsOlder(Struct, frozen=True):
    """How a model was run to take the way that it takes with an older torch."""

    torch: str
    """``major.minor``; what it lacks was hidden from the model's code and its libraries."""
    hidden: tuple[str, ...]
    """What of that they looked for, as ``torch.nn.functional.grouped_mm``; sorted."""
    refused: str = ""
    """Why it is not the target's own: the model does not load with that."""


class Trace(Struct, frozen=True):
    """All calls of a model on one device type."""

    torch_version: str
    """Version of the torch that recorded it, or that wrote the file, as ``2.13.0``."""
    device_type: str
    """``npu``, …; the name that tensors reported while the model ran."""
    mode: str
    """``inference`` or ``train``."""
    nodes: tuple[Node, ...]
    uses: tuple[Use, ...]
    sequence: tuple[int, ...]
    """Indices into ``uses`` in call order, one per call."""
    gaps: tuple[Gap, ...] = ()
    modules_not_called: tuple[str, ...] = ()
    kernels: Mapping[str, tuple[Kernel, ...]] = field(default_factory=dict)
    """Exact kernels asked for, keyed by ``str(Target)``; only where they were asked for."""
    notes: tuple[str, ...] = ()
    """What the reader should know about how this trace was made."""
    dynamic: tuple[Site, ...] = ()
    """Where sizes matter that the user marked; only where some were."""
    differentiated: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Index into ``nodes`` -> arguments that some call in the forward of a step needs gradients of,
    for those that need any; sorted."""

    taken_apart: tuple[Use, ...] = ()
    """Composites that autograd took apart in a training step, of which ``uses`` has the parts. What
    a target asks of the composite itself holds all the same; dtypes are as autocast gave them."""
    costs: Costs | None = None
    """What the calls cost and what they made live; only where that was asked for."""
    compiled: tuple[CompiledRegion, ...] = ()
    """What ``torch.compile`` was asked to compile, sorted; it ran as it is written."""
    launches: tuple[Launch, ...] = ()
    """Kernels of the model's own, sorted: no operator of PyTorch stands for them."""
    older: AsOlder | None = None
    """The torch that the model's code found; None: the one that recorded the trace."""
    unknown_classes: tuple[UnknownClass, ...] = ()
    """Classes that keep ``torch.export`` from the model, sorted; of models that are exported."""

    @property
    def calls(self) -> int:
        """Number of calls that the model makes, composites counted once."""
        return len(self.sequence)
