"""Whether the target's torch has an overload, and whether device or host have a kernel for it."""

from collections.abc import Collection, Iterable

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import Earlier, Entry, Fallback, SupportMatrix
from opcheck.model.trace import AsOlder, Composite, Constant, Node, OpName
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve import resolution as codes
from opcheck.resolve.resolution import Resolution, Step, listed

_ASKED_FOR_LISTS = frozenset({"CUDA", "XPU", "PrivateUse1"})
"""Where optimizers and ``clip_grad_norm_`` call ``_foreach_`` functions without being told to:
``_get_foreach_kernels_supported_devices`` of ``torch.utils._foreach_utils``."""


def absent_from(matrix: SupportMatrix, op: OpName) -> str:
    """Say why the target's torch lacks the overload; "" where it has it or nobody knows."""
    seen = matrix.history.get(str(op))
    if seen is None or op.namespace != "aten":
        return ""
    first, last = seen
    torch = matrix.target.torch
    if number(torch) < number(first):
        return Sentence(
            "torch {version} on the target does not have {op} yet (first in {first}): "
            "there the same code takes another way",
            version=torch, op=str(op), first=first,
        )  # fmt: skip
    if number(torch) > number(last):
        text = "torch {version} on the target no longer has {op} (last in {last})"
        return Sentence(text, version=torch, op=str(op), last=last)
    return ""


def earlier(matrix: SupportMatrix, op: OpName) -> Earlier | None:
    """What the target's torch calls in place of one that it has not yet, or not as a composite."""
    seen, torch = matrix.history.get(str(op)), number(matrix.target.torch)
    without = matrix.whole.get(str(op))
    older = seen is not None and torch < number(seen[0])
    older = older or (without is not None and torch <= number(without.last))
    return matrix.earlier.get(str(op)) if older else None


def called_instead(said: Earlier, called: Collection[str], matrix: SupportMatrix) -> frozenset[str]:
    """Those of the calls of a composite that an older torch made in its place, or none.

    A trace of training shows no implicit composite: what it runs as stands for it.
    """
    found: set[str] = set()
    for ask in said.asks:
        known = None if ask in called else matrix.inherited.get(ask)
        implicit = known is not None and known.composite is Composite.IMPLICIT
        shown = set(known.parts or ()) if known is not None and implicit else {ask}
        if shown.isdisjoint(called):
            return frozenset()
        found |= shown.intersection(called)
    return frozenset(found)


def whole(node: Node, matrix: SupportMatrix) -> Node | None:
    """The call as a torch has it that lacks the composite; None where the target's has it.

    Optimizers of a newer torch ask some devices for lists of tensors of which an older one asked
    for one tensor after the other: what such a device lacks there says nothing of those calls.
    """
    seen = matrix.whole.get(str(node.op))
    if seen is None or only_on_host(node):
        return None
    if node.op.base.startswith("_foreach_") and matrix.dispatch_key in _ASKED_FOR_LISTS:
        return None
    if not number(seen.first) <= number(matrix.target.torch) <= number(seen.last):
        return None
    return replace(node, composite=None, cpu_kernel=seen.cpu_kernel)


def torch_differs(running: str, matrix: SupportMatrix, done: str) -> str:
    """Say that what was ``done`` rests on another torch than the target's; "" where it does not."""
    if number(running) == number(matrix.target.torch):
        return ""
    return Sentence(
        f"{done} with torch {{version}}, while the target runs torch {{wanted}}: "
        "composites may be decomposed differently there",
        version=running, wanted=matrix.target.torch,
    )  # fmt: skip


def traced_as_older(older: AsOlder, matrix: SupportMatrix) -> str:
    """Say that a trace is one of an older torch, as far as Python code decides."""
    names = listed(older.hidden) if older.hidden else Sentence("nothing")
    told = Sentence(
        "traced as torch {version} takes it: what that lacks was hidden from the model's code and "
        "its libraries, which looked for {list}",
        version=older.torch, list=names,
    )  # fmt: skip
    if not older.refused:
        return told
    return Sentence(
        "{said}. With torch {version}, which the target runs, it does not load: {said_why}",
        said=told, version=matrix.target.torch, said_why=older.refused,
    )  # fmt: skip


def number(version: str) -> tuple[int, int]:
    """``2.13`` or ``2.13.0`` as (2, 13)."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


_TAKES_BOTH = frozenset(
    {
        *("index", "index_put", "index_put_", "_index_put_impl_"),
        *("_unsafe_index", "_unsafe_index_put"),
        *("copy", "copy_", "_copy_from", "_copy_from_and_resize", "_foreach_copy_"),
        *("to", "_to_copy", "type_as", "set_", "resize_as_", "is_set_to", "is_same_size"),
        *("lstm", "gru", "rnn_tanh", "rnn_relu", "_pack_padded_sequence", "_pad_packed_sequence"),
        *("tensor_split", "expand_as", "view_as", "reshape_as"),
        *("ctc_loss", "_use_cudnn_ctc_loss", "_cudnn_ctc_loss"),
        *("_use_miopen_ctc_loss", "miopen_ctc_loss"),
        # the seed and the offset of what was dropped, and lengths
        *("_flash_attention_backward", "_efficient_attention_backward"),
        "_scaled_dot_product_flash_attention_backward",
        "_scaled_dot_product_efficient_attention_backward",
        "_scaled_dot_product_fused_attention_overrideable_backward",
        "_nested_from_padded",
    }
)
"""Operators that take a host tensor of any size beside device tensors: ``device_check: NoCheck`` in
PyTorch's native_functions.yaml, without those whose TensorIterator looks at the devices itself."""
_COUNTED_ON_HOST = "batch_sizes"
"""How long packed sequences are: in host memory everywhere, and a list where cuDNN takes them."""


def mixes_host(node: Node, *, inside: bool) -> bool:
    """Whether a host tensor that is no scalar meets device tensors where that is an error.

    Kernels look at the devices of their tensors. A composite that the target takes apart
    (``inside``) does not: it may move the host tensor itself, as ``ctc_loss`` does with lengths.
    Operators of other libraries look, or do not, as each of them was written.
    """
    inside = inside and node.composite is not Composite.NON_FUNCTIONAL  # is served through a kernel
    if inside or node.op.namespace != "aten" or node.op.base in _TAKES_BOTH:
        return False
    tensors = [t for name, t in node.tensors() if name != _COUNTED_ON_HOST]
    return any(t.host and t.shape for t in tensors) and any(not t.host for t in tensors)


DISPATCHER = Evidence(Method.DISPATCHER, "pytorch/pytorch")
"""Of what PyTorch itself does, in any version."""
ON_HOST = "{vendor} registers no kernel for {op}, so every call runs on the host CPU"
NOT_ON_HOST = "{vendor} registers no kernel for {op}, and its host fallback has none either"
NOWHERE = "{vendor} registers no kernel for {op} and has no host fallback"
_NOT_BACK = (
    "{vendor} registers no kernel for {op}; the host has one, and a fallback cannot bring its "
    "quantized result back: PyTorch raises \"Could not run 'aten::_empty_affine_quantized'\""
)
_QUANTIZED = ("qint", "quint")
"""How torch names the dtypes that have a quantizer."""
_NO_KERNEL = "kernel: none is registered for {op}"
_NO_CONVERTER = "converter: none is registered for {op}"
_KERNEL = "kernel: registered for {op}"
_CONVERTER = "converter: registered for {op}"
_GIVES_KERNEL = "{vendor} registers a kernel for {op}"
_GIVES_CONVERTER = "{vendor} registers a converter for {op}"


def own(node: Node, matrix: SupportMatrix) -> Step:
    """Answer whether the target has a kernel for a call, or a converter."""
    op = str(node.op)
    compiled = matrix.compiles_graphs
    entry = matrix.entries.get(op)
    if entry is None:
        return Step(Sentence(_NO_CONVERTER if compiled else _NO_KERNEL, op=op))
    # a compiler converts by name, whatever device the tensors are on
    if not compiled and node.composite and only_on_host(node):
        return Step("kernel: not asked, for all tensors of this call are in host memory")
    return _registered(op, entry, compiled)


def of_two_places(node: Node) -> Step:
    """Refuse a call whose tensors are partly in host memory."""
    text = "tensors: one is in host memory, where the others are on the device"
    return Step(text, _host_tensor(node))


def under(fallback: Fallback, modes: Iterable[tuple[str, str]]) -> Fallback:
    """The fallback of a program that asks for the host by these modes, where it has to ask."""
    variable = fallback.enable.partition("=")[0]
    if not variable or (variable, "on") not in modes:
        return fallback
    return replace(fallback, to_cpu=True, enable="")


def of_host(node: Node, matrix: SupportMatrix) -> Step:
    """Answer whether the host runs a call that the target has nothing for."""
    op, fallback = str(node.op), under(matrix.fallback, node.modes)
    vendor = matrix.target.vendor
    on_cpu = matrix.extensions.get(op, node.cpu_kernel)
    evidence = fallback.evidence
    if fallback.elsewhere and not fallback.raises:
        where = fallback.elsewhere
        text = Sentence(
            "{vendor} has no converter for {op}, {said}", vendor=vendor, op=op, said=where
        )
        return Step(
            Sentence("host: what has no converter is left to PyTorch, {said}", said=where),
            Resolution(Verdict.FALLBACK, codes.RUNS_ELSEWHERE, text, evidence=evidence),
        )
    if matrix.exports or fallback.raises:
        return _not_converted(node, matrix)
    if fallback.to_cpu and on_cpu:
        return on_host(node, vendor, op, evidence)
    code, step = codes.NO_KERNEL, "host: the target has no fallback"
    text = Sentence(NOWHERE, vendor=vendor, op=op)
    if fallback.to_cpu:
        text = Sentence(NOT_ON_HOST, vendor=vendor, op=op)
        code, step = codes.NO_KERNEL_ANYWHERE, "host: there is no CPU kernel to fall back to"
    elif fallback.enable and on_cpu:
        text = Sentence(
            "{vendor} registers no kernel for {op}; the host runs it with {text_setting}",
            vendor=vendor, op=op, text_setting=fallback.enable,
        )  # fmt: skip
        step = Sentence(
            "host: the target falls back with {text_setting} alone", text_setting=fallback.enable
        )
    outside = Confidence.HIGH if node.op.namespace == "aten" else Confidence.MEDIUM
    sure = max(outside, _sure(evidence), key=lambda confidence: confidence.rank)
    return Step(step, Resolution(Verdict.UNSUPPORTED, code, text, sure, evidence))


def _not_converted(node: Node, matrix: SupportMatrix) -> Step:
    """What becomes of a call that an exporter, or a compiler of whole graphs, has nothing for."""
    vendor, evidence, op = matrix.target.vendor, matrix.fallback.evidence, str(node.op)
    text = Sentence("{vendor} has no converter for {op}", vendor=vendor, op=op)
    if not matrix.exports:
        text = Sentence(
            '{vendor} has no converter for {op} and raises, "{text_error}"',
            vendor=vendor, op=op, text_error=matrix.fallback.text.replace("{op}", op),
        )  # fmt: skip
    resolution = Resolution(
        Verdict.UNSUPPORTED, codes.NO_CONVERTER, text, _sure(evidence), evidence
    )
    if not matrix.exports:
        return Step("host: what a graph holds is not run by PyTorch", resolution)
    return Step("host: what is exported runs without PyTorch", resolution)


def _makes_quantized(node: Node) -> bool:
    """Whether a call is asked for a tensor with a quantizer."""
    kept = (value for _, value in node.arguments if isinstance(value, Constant))
    return any(value.kind == "dtype" and value.value.startswith(_QUANTIZED) for value in kept)


def only_on_host(node: Node) -> bool:
    """Whether only host tensors go in, so that the dispatcher does not ask the device for it."""
    tensors = node.tensors()
    return bool(tensors) and all(tensor.host for _, tensor in tensors)


def on_host(node: Node, vendor: str, op: str, evidence: tuple[Evidence, ...]) -> Step:
    """What becomes of a call that a fallback takes to the CPU's kernel of ``op``."""
    if _makes_quantized(node):
        text = Sentence(_NOT_BACK, vendor=vendor, op=op)
        told = (*evidence, DISPATCHER)
        refused = Resolution(Verdict.UNSUPPORTED, codes.NO_KERNEL, text, Confidence.MEDIUM, told)
        return Step("host: a quantized tensor does not come back from it", refused)
    text = Sentence(ON_HOST, vendor=vendor, op=op)
    return Step("host: a CPU kernel takes it", Resolution(
        Verdict.FALLBACK, codes.HOST_FALLBACK, text,
        evidence=evidence, fallback_bytes=crossing(node),
    ))  # fmt: skip


def crossing(node: Node) -> int:
    """Bytes of the device tensors that one call on the host takes and gives."""
    taken = sum(tensor.nbytes for _, tensor in node.tensors() if not tensor.host)
    return taken + sum(tensor.nbytes for tensor in node.output_tensors())


def _registered(op: str, entry: Entry, compiled: bool) -> Step:
    step, text = (_CONVERTER, _GIVES_CONVERTER) if compiled else (_KERNEL, _GIVES_KERNEL)
    about = {"op": op}
    if entry.implementation:
        about["list"] = ", ".join(entry.implementation)
        step, text = f"{step} ({{list}})", f"{text} ({{list}})"
    said = Sentence(text, vendor=entry.package or "the vendor", **about)
    resolution = Resolution(
        Verdict.NATIVE, codes.REGISTERED, said, _sure(entry.evidence), entry.evidence
    )
    return Step(Sentence(step, **about), resolution)


def _sure(evidence: tuple[Evidence, ...]) -> Confidence:
    """How sure an answer is that rests on some evidence: little where all of it is inferred."""
    inferred = bool(evidence) and all(found.method is Method.INFERRED for found in evidence)
    return Confidence.LOW if inferred else Confidence.HIGH


def _host_tensor(node: Node) -> Resolution:
    name, tensor = next((n, t) for n, t in node.tensors() if t.host and t.shape)
    text = Sentence(
        "{argument} ({tensor}) was made in host memory and meets device tensors: the device raises "
        "'Expected all tensors to be on the same device'; make it with device=x.device or "
        "register it as a buffer",
        argument=name, tensor=str(tensor),
    )  # fmt: skip
    return Resolution(
        Verdict.UNSUPPORTED, codes.HOST_TENSOR, text, Confidence.MEDIUM, (DISPATCHER,)
    )  # fmt: skip
