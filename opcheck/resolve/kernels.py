"""Whether a kernel is there for a call: one of the target's own, or one of the host's."""

from opcheck.model.matrix import Entry, SupportMatrix
from opcheck.model.trace import Node
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve import fate as codes
from opcheck.resolve.fate import Fate, Step

DISPATCHER = Evidence(Method.DISPATCHER, "pytorch/pytorch")
"""Of what PyTorch itself does, in any version."""


def own(node: Node, matrix: SupportMatrix) -> Step:
    """Answer whether the target has a kernel for a call, or a converter."""
    op = str(node.op)
    compiled = bool(matrix.fallback.elsewhere)
    what = "converter" if compiled else "kernel"
    entry = matrix.entries.get(op)
    if entry is None:
        return Step(f"{what}: none is registered for {op}")
    # a compiler converts by name, whatever device the tensors are on
    if not compiled and node.composite and only_on_host(node):
        return Step("kernel: not asked, for all tensors of this call are in host memory")
    return Step(f"{what}: registered for {op}{_how(entry)}", _registered(op, entry, what))


def of_two_places(node: Node) -> Step:
    """Refuse a call whose tensors are partly in host memory."""
    text = "tensors: one is in host memory, where the others are on the device"
    return Step(text, _host_tensor(node))


def of_host(node: Node, matrix: SupportMatrix) -> Step:
    """Answer whether the host runs a call that the target has nothing for."""
    op, fallback = str(node.op), matrix.fallback
    vendor = matrix.target.vendor
    on_cpu = matrix.extensions.get(op, node.cpu_kernel)
    evidence = fallback.evidence
    if fallback.elsewhere:
        text = f"{vendor} has no converter for {op}, {fallback.elsewhere}"
        return Step(
            f"host: what has no converter is left to PyTorch, {fallback.elsewhere}",
            Fate(Verdict.FALLBACK, codes.RUNS_ELSEWHERE, text, evidence=evidence),
        )
    if fallback.to_cpu and on_cpu:
        text = f"{vendor} registers no kernel for {op}, so every call runs on the host CPU"
        return Step("host: a CPU kernel takes it", Fate(
            Verdict.FALLBACK, codes.HOST_FALLBACK, text,
            evidence=evidence, fallback_bytes=crossing(node),
        ))  # fmt: skip
    code, step = codes.NO_KERNEL, "host: the target has no fallback"
    text = f"{vendor} registers no kernel for {op} and has no host fallback"
    if fallback.to_cpu:
        text = f"{vendor} registers no kernel for {op}, and its host fallback has none either"
        code, step = codes.NO_KERNEL_ANYWHERE, "host: there is no CPU kernel to fall back to"
    elif fallback.enable and on_cpu:
        text = f"{vendor} registers no kernel for {op}; the host runs it with {fallback.enable}"
        step = f"host: the target falls back with {fallback.enable} alone"
    outside = Confidence.HIGH if node.op.namespace == "aten" else Confidence.MEDIUM
    sure = max(outside, _sure(evidence), key=lambda confidence: confidence.rank)
    return Step(step, Fate(Verdict.UNSUPPORTED, code, text, sure, evidence))


def only_on_host(node: Node) -> bool:
    """Whether only host tensors go in, so that the dispatcher does not ask the device for it."""
    tensors = node.tensors()
    return bool(tensors) and all(tensor.host for _, tensor in tensors)


def crossing(node: Node) -> int:
    """Bytes of the device tensors that one call on the host takes and gives."""
    taken = sum(tensor.nbytes for _, tensor in node.tensors() if not tensor.host)
    return taken + sum(tensor.nbytes for tensor in node.output_tensors())


def _how(entry: Entry) -> str:
    return f" ({', '.join(entry.implementation)})" if entry.implementation else ""


def _registered(op: str, entry: Entry, what: str) -> Fate:
    how = _how(entry)
    who = entry.package or "the vendor"
    return Fate(
        Verdict.NATIVE, codes.REGISTERED, f"{who} registers a {what} for {op}{how}",
        _sure(entry.evidence), entry.evidence,
    )  # fmt: skip


def _sure(evidence: tuple[Evidence, ...]) -> Confidence:
    """How sure an answer is that rests on some evidence: little where all of it is inferred."""
    inferred = bool(evidence) and all(found.method is Method.INFERRED for found in evidence)
    return Confidence.LOW if inferred else Confidence.HIGH


def _host_tensor(node: Node) -> Fate:
    name, tensor = next((n, t) for n, t in node.tensors() if t.host and t.shape)
    text = (
        f"{name} ({tensor}) was made in host memory and meets device tensors: the device raises "
        "'Expected all tensors to be on the same device'; make it with device=x.device or "
        "register it as a buffer"
    )
    return Fate(
        Verdict.UNSUPPORTED, codes.HOST_TENSOR, text, Confidence.MEDIUM, (DISPATCHER,)
    )  # fmt: skip
