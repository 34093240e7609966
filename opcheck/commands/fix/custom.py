"""A project for a kernel of one's own, for one overload that a model needs and a target lacks."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from opcheck.commands.fix.files import require_folder, write_folder
from opcheck.commands.fix.suggestions import answer
from opcheck.commands.fix.values import Fix, FixRequest, Followed
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Label, Tier
from opcheck.model.trace import OpName, Trace
from opcheck.pipeline.database import Progress, require_age
from opcheck.pipeline.reports import report_of
from opcheck.pipeline.traces import gathered, worked
from opcheck.resolve.walk import Walk

if TYPE_CHECKING:
    from opcheck.rewrite.custom.base import Toolchain

UNPROVEN = "nothing has built or run it; its README says how, and its own test is the proof"


def custom(request: FixRequest, database: Database, progress: Progress, output: Progress) -> Fix:
    """Write the project into a folder of its own.

    Raises:
        UsageError: the model does not need the overload, no project can be written for it, or
            the folder is in the way.
    """
    from opcheck.rewrite.custom.project import Project, package_name, project

    scan = request.scan
    matrix = database.matrix(database.resolve(scan.targets[0]))
    chain = _toolchain(request.toolchain, matrix)
    require_age(scan, database, (matrix,))
    progress(Sentence("reading {text}", text=scan.model.source))
    scanned = gathered(worked(scan, (matrix,), progress, output))
    trace = scanned.of(matrix.target)
    blamed = _blamed(trace, matrix)
    op = _wanted(request.operator, blamed, trace)
    nodes = [node for node in trace.nodes if str(node.op) == op]
    made = project(op, matrix, chain, nodes, scan.model.source)
    if not isinstance(made, Project):
        raise UsageError(
            Sentence("no project can be written for {op}: {said}", op=op, said=made),
            Sentence("see opcheck plan"),
        )
    folder = Path(request.path or package_name(op))
    require_folder(folder, write=request.write)
    files = write_folder(folder, made.files)
    unproven = Sentence(UNPROVEN)
    if made.left:
        unproven = Sentence(f"{UNPROVEN}; left to write: {{text}}", text=made.left)
    return answer(
        request,
        report_of(scan.model.source, scanned, (matrix,)),
        files=files,
        followed=[
            Followed(finding, op, "custom-operator", Tier.CUSTOM, Label.TOLERANCE)
            for finding in blamed[op]
        ],
        unproven=unproven,
    )


def _toolchain(name: str, matrix: SupportMatrix) -> "Toolchain":
    from opcheck.rewrite.custom.base import of_vendor, refused

    vendor = matrix.target.vendor
    chains = of_vendor(vendor)
    if not chains:
        raise UsageError(
            Sentence(
                "no project can be written for {op}: {said}", op=matrix.target, said=refused(vendor)
            )
        )
    if not name:
        return chains[0]
    for chain in chains:
        if chain.name == name:
            return chain
    known = ", ".join(chain.name for chain in chains)
    raise UsageError(
        Sentence("{name} builds nothing for {target}", name=name, target=matrix.target),
        Sentence("give one of: {text}", text=known),
    )


def _blamed(trace: Trace, matrix: SupportMatrix) -> Mapping[str, tuple[str, ...]]:
    """Overload that the target does not run -> operators of the model that come to it."""
    from opcheck.rewrite.remedies import culprits

    walk = Walk(trace.nodes, matrix, trace.torch_version)
    found: dict[str, dict[str, None]] = {}
    for index in dict.fromkeys(use.node for use in trace.uses):
        if not walk.resolution(index).verdict.on_device:
            for inner in culprits(trace.nodes, index, walk):
                calls = found.setdefault(str(trace.nodes[inner].op), {})
                calls[str(trace.nodes[index].op)] = None
    return {op: tuple(sorted(found[op])) for op in sorted(found)}


def _wanted(name: str, blamed: Mapping[str, tuple[str, ...]], trace: Trace) -> str:
    """The overload that a name stands for: its own, one inside it, or a form of it.

    Raises:
        UsageError: none or several, or one that needs no kernel.
    """
    text = name if "::" in name else f"aten::{name}"
    for found in (
        [op for op in blamed if op == text],
        [op for op in blamed if _functional(op) == _functional(text) != ""],
        [op for op, calls in blamed.items() if text in calls],
        [op for op in blamed if _base(op) == text],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(
                Sentence("{name} comes to several overloads", name=name), _either(found)
            )
    if not blamed:
        raise UsageError(
            Sentence("the target runs everything that the model calls"),
            Sentence("see opcheck scan"),
        )
    if any(str(node.op) == text for node in trace.nodes):
        raise UsageError(Sentence("the target runs {op} as it is", op=name), _either(blamed))
    raise UsageError(Sentence("the model does not call {op}", op=name), _either(blamed))


def _either(ops: Iterable[str]) -> Sentence:
    return Sentence("give one of: {text}", text=", ".join(ops))


def _functional(op: str) -> str:
    from opcheck.rewrite.variants import functional

    try:
        return functional(op)
    except ValueError:
        return ""


def _base(op: str) -> str:
    parsed = OpName.parse(op)
    return f"{parsed.namespace}::{parsed.base}"
