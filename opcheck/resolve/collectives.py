"""The fate of a collective: PyTorch hands it to the vendor's backend, which has it or has not."""

from opcheck.model.matrix import SupportMatrix
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve import fate as codes
from opcheck.resolve.fate import Fate

NAMESPACE = "c10d"


def collective(op: str, matrix: SupportMatrix) -> Fate:
    """What becomes of a ``c10d`` operator on a target; there is no way over the host."""
    known = matrix.collectives.get(op)
    if known is None:
        backend = f"{matrix.target.vendor}'s backend of torch.distributed"
        text = f"nobody has said whether {backend} has what {op} asks for"
        return Fate(Verdict.UNKNOWN, codes.COLLECTIVE_NOT_KNOWN, text)
    inferred = all(found.method is Method.INFERRED for found in known.evidence)
    sure = Confidence.LOW if inferred else Confidence.HIGH
    if known.has:
        text = f"{known.backend} has {known.method}, which PyTorch hands {op} to"
        return Fate(Verdict.NATIVE, codes.COLLECTIVE, text, sure, known.evidence)
    if not known.backend:
        text = f"{matrix.target.vendor} has no backend of torch.distributed for this device"
        return Fate(Verdict.UNSUPPORTED, codes.NO_COLLECTIVE, text, sure, known.evidence)
    text = f"PyTorch hands {op} to {known.method} of {known.backend}, which does not support it"
    return Fate(Verdict.UNSUPPORTED, codes.NO_COLLECTIVE, text, sure, known.evidence)
