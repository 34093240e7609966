"""What the database says of the reasons that an emulated device gave: how sure, and by what. Pure.

A device that runs keeps no evidence beside each call; the matrix that it was made of has it.
"""

from collections.abc import Iterator

from opcheck.model.costs import Chip
from opcheck.model.emulation import Caution, Emulation, HostCalls, Refusal
from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.script import Basis, ChipMemory, Fact
from opcheck.model.trace import Node, OpName
from opcheck.model.verdict import Confidence, Evidence
from opcheck.resolve import resolution as codes
from opcheck.resolve.findings import of_target
from opcheck.resolve.kernels import DISPATCHER, of_host

_LACKING = frozenset({codes.HOST_FALLBACK, codes.NO_KERNEL, codes.NO_KERNEL_ANYWHERE})


def basis_of(found: Emulation, matrix: SupportMatrix, chip: Chip) -> Basis:
    """The facts behind all that is refused, runs on the host or runs with a catch, and the room."""
    calls: tuple[Refusal | HostCalls | Caution, ...]
    calls = (*found.refusals, *found.host_calls, *found.cautions)
    pairs = sorted({(item.op, item.reason.code) for item in calls})
    facts = tuple(_fact(op, code, matrix) for op, code in pairs)
    advisories = tuple(of_target(matrix, found.torch_version, "run"))
    return Basis(matrix.target.device_type, matrix.database_date, facts, advisories, _memory(chip))


def _memory(chip: Chip) -> ChipMemory | None:
    known = [product.memory for product in chip.products if product.memory is not None]
    if not known:
        return None
    return ChipMemory(int(min(one.value for one in known)), int(max(one.most for one in known)))


def _fact(op: str, code: str, matrix: SupportMatrix) -> Fact:
    conditions = [c for c in matrix.conditions_for(op) if c.code == code]
    if conditions:
        least = max((c.confidence for c in conditions), key=lambda sure: sure.rank)
        return Fact(op, code, least, tuple(dict.fromkeys(_evidence(conditions))))
    if code in _LACKING:
        node = Node(OpName.parse(op), (), cpu_kernel=code == codes.HOST_FALLBACK)
        step = of_host(node, matrix).resolution
        if step is not None and step.code == code:
            return Fact(op, code, step.confidence, step.evidence)
    if code == codes.HOST_TENSOR:
        return Fact(op, code, Confidence.MEDIUM, (DISPATCHER,))
    return Fact(op, code, Confidence.MEDIUM, ())


def _evidence(conditions: list[Condition]) -> Iterator[Evidence]:
    for condition in conditions:
        yield from condition.evidence
