"""Standard answers about upgrades, one for each kind."""

from collections.abc import Mapping

from msgspec.structs import replace

from opcheck.commands.upgrade.values import Blocked, Move, MoveKind, Upgrade
from opcheck.model.target import Target
from opcheck.model.verdict import Verdict
from tests.views.samples import STANDARD

_REPORT = STANDARD["three-targets"]
_TARGET = _REPORT.targets[2]


def _at(sdk: str, torch: str, chip: str = "310p") -> Target:
    return Target("ascend", chip, sdk, torch, "npu")


_FOUND = tuple(finding for finding in _TARGET.findings if not finding.verdict.on_device)
_IDS = {finding.verdict: finding.id for finding in _FOUND}
_GONE: Mapping[Verdict, Mapping[MoveKind, Target]] = {
    Verdict.UNSUPPORTED: {MoveKind.CHIP: _at("26.1.0", "2.12", "910b")},
    Verdict.UNKNOWN: {
        MoveKind.TORCH: _at("26.0.0", "2.9"),
        MoveKind.RELEASE: _at("26.1.0", "2.10"),
        MoveKind.CHIP: _at("26.0.0", "2.7", "910b"),
    },
}
_NOTHING = Upgrade(
    opcheck_version=_REPORT.opcheck_version,
    torch_version=_REPORT.torch_version,
    model=_REPORT.model,
    trace=_REPORT.trace,
    target=_at("26.0.0", "2.7"),
    runs=True,
    support_rate=1.0,
    blocked=(),
    moves=(),
    tried=0,
)
_STUCK = replace(
    _NOTHING,
    runs=False,
    support_rate=0.5,
    blocked=tuple(Blocked(finding, {}) for finding in _FOUND),
    tried=12,
)
_TO_TORCH = Move(MoveKind.TORCH, _at("26.0.0", "2.9"), (_IDS[Verdict.UNKNOWN],), (), False, 0.6667)
_TO_RELEASE = Move(
    MoveKind.RELEASE, _at("26.1.0", "2.10"), (_IDS[Verdict.UNKNOWN],), (), None, 0.75
)
_TO_CHIP = Move(
    MoveKind.CHIP,
    _at("26.1.0", "2.12", "910b"),
    (_IDS[Verdict.UNSUPPORTED], _IDS[Verdict.UNKNOWN]),
    (),
    True,
    0.8333,
)
_MOVES = replace(
    _STUCK,
    blocked=tuple(Blocked(finding, _GONE.get(finding.verdict, {})) for finding in _FOUND),
    moves=(_TO_TORCH, _TO_CHIP),
)
UPGRADES: Mapping[str, Upgrade] = {
    "nothing": _NOTHING,
    "stuck": replace(_STUCK, trace=STANDARD["unknown"].trace),
    "moves": _MOVES,
    "to-torch": replace(_MOVES, moves=(_TO_TORCH,)),
    "to-release": replace(_MOVES, moves=(_TO_RELEASE,)),
    "breaks": replace(_MOVES, moves=(replace(_TO_CHIP, brings=("aten::nonzero",)),)),
}
