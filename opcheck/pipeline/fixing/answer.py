"""What is said of a plan that was carried out."""

from collections.abc import Iterable

from opcheck.model.fix import Fix, FixRequest, Followed, Left, Proof
from opcheck.model.report import Report
from opcheck.version import __version__


def answer(
    request: FixRequest,
    report: Report,
    *,
    files: tuple[str, ...] = (),
    followed: Iterable[Followed] = (),
    left: Iterable[Left] = (),
    proof: Proof | None = None,
    unproven: str = "",
) -> Fix:
    """Put the answer together; ``report`` is the plan."""
    return Fix(
        opcheck_version=__version__,
        torch_version=report.torch_version,
        model=report.model,
        target=report.targets[0].target,
        kind=request.kind,
        files=files,
        text="",
        followed=tuple(followed),
        left=tuple(left),
        proof=proof,
        unproven=unproven,
    )
