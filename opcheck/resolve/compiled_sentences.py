"""What is said of back ends of ``torch.compile``."""

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import Compiler
from opcheck.model.trace import GIVEN_BACKEND, Compilation


def given(how: Compilation) -> Sentence:
    """Of a back end that no name tells."""
    if how.backend == GIVEN_BACKEND:
        return Sentence(
            "is compiled by torch.compile with the backend that it was given; what the compiler "
            "makes of it was not seen"
        )
    return Sentence(
        "is compiled by torch.compile with {backend}, which is no backend of PyTorch's; what it "
        "makes of this model was not seen",
        backend=how.backend,
    )


def not_known(name: str, *, graphs: bool) -> Sentence:
    """Of a back end, or a mode that captures graphs, of which nobody has said anything."""
    if graphs:
        return Sentence(
            "nobody has said whether torch.compile captures graphs there in the mode {backend}",
            backend=name,
        )
    return Sentence(
        "nobody has said whether torch.compile has the backend {backend} there", backend=name
    )


def raises(name: str, known: Compiler) -> Sentence:
    """That a back end raises on a target, and which one is there."""
    if known.instead:
        return Sentence(
            'torch.compile with the backend {backend} raises there, "{text}"; '
            "the backend {instead} exists",
            backend=name, text=known.error, instead=known.instead,
        )  # fmt: skip
    return Sentence(
        'torch.compile with the backend {backend} raises there, "{text}"',
        backend=name, text=known.error,
    )  # fmt: skip


def skips(name: str, known: Compiler, *, graphs: bool) -> Sentence:
    """That what was asked for is left out."""
    if graphs:
        return Sentence(
            'in the mode {backend} torch.compile captures no graphs there and warns, "{text}"',
            backend=name, text=known.error,
        )  # fmt: skip
    return Sentence(
        "with the backend {backend} torch.compile leaves the code as it is there and warns, "
        '"{text}"',
        backend=name, text=known.error,
    )  # fmt: skip


def there(name: str, known: Compiler, *, graphs: bool) -> Sentence:
    """That a back end is there, what it needs, and that nobody saw what it makes of the model."""
    if graphs:
        return Sentence(
            "torch.compile captures graphs there in the mode {backend}; whether those of this "
            "model can be captured was not seen",
            backend=name,
        )
    said = Sentence(
        "torch.compile has the backend {backend} there; what it makes of this model was not seen",
        backend=name,
    )
    if known.needs:
        said = Sentence("{said}; it needs {text}", said=said, text=known.needs)
    if known.note:
        said = Sentence("{said}; {said_note}", said=said, said_note=known.note)
    return said


def converts(name: str, dtype: str, chip: str) -> Sentence:
    """That a kernel which converts a dtype does not compile."""
    return Sentence(
        "torch.compile with the backend {backend} writes a kernel that converts {dtype}, "
        "which does not compile for {chip}",
        backend=name, dtype=dtype, chip=chip,
    )  # fmt: skip
