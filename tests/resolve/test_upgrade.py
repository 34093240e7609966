"""What moving to another target of the vendor does for a model."""

from msgspec.structs import replace

from opcheck.commands.upgrade.answer import Moves, moves
from opcheck.commands.upgrade.values import Blocked, Move, MoveKind
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import Target
from opcheck.model.trace import Trace, Use
from opcheck.model.verdict import Verdict
from opcheck.resolve.findings import resolve
from tests.resolve.made import NONE, condition, dtype, matrix, node, tensor, trace

TODAY = matrix("aten::add", fallback=NONE)
FINE = node("aten::add")
MODEL = trace(
    FINE,
    node("aten::mul"),
    node("aten::pow"),
    uses=tuple(Use(i, "net", "net.py", 5 + i, 1) for i in range(3)),
)


def at(sdk: str, *registered: str, chip: str = "chip", torch: str = "2.9") -> SupportMatrix:
    target = Target("vendor", chip, sdk, torch, "npu")
    return replace(matrix(*registered, fallback=NONE), target=target)


def tried(model: Trace, *candidates: tuple[MoveKind, SupportMatrix]) -> Moves:
    return moves(model, resolve(model, TODAY), candidates)


def ids(model: Trace, *ops: str) -> tuple[str, ...]:
    found = {finding.op: finding.id for finding in resolve(model, TODAY).findings}
    return tuple(found[op] for op in ops)


def test_a_finding_is_gone_in_the_nearest_target_of_each_kind() -> None:
    other_torch = at("1.0", "aten::add", "aten::mul", torch="2.8")
    first, second = at("2.0", "aten::add", "aten::pow"), at("3.0", "aten::add", "aten::pow")
    chip = at("1.0", "aten::add", "aten::mul", "aten::pow", chip="other")
    found = tried(
        MODEL,
        (MoveKind.TORCH, other_torch),
        (MoveKind.RELEASE, first),
        (MoveKind.RELEASE, second),
        (MoveKind.CHIP, chip),
    )
    mul, power = (f for f in resolve(MODEL, TODAY).findings if f.op != "aten::add")
    assert found.blocked == (
        Blocked(mul, {MoveKind.TORCH: other_torch.target, MoveKind.CHIP: chip.target}),
        Blocked(power, {MoveKind.RELEASE: first.target, MoveKind.CHIP: chip.target}),
    )


def test_a_larger_move_is_told_only_where_it_gains_more() -> None:
    one = at("1.0", "aten::add", "aten::mul", torch="2.8")
    no_more = at("2.0", "aten::add", "aten::pow")
    both = at("1.0", "aten::add", "aten::mul", "aten::pow", chip="other")
    found = tried(MODEL, (MoveKind.CHIP, both), (MoveKind.RELEASE, no_more), (MoveKind.TORCH, one))
    assert found.worthwhile == (
        Move(MoveKind.TORCH, one.target, ids(MODEL, "aten::mul"), (), False, 0.6667),
        Move(MoveKind.CHIP, both.target, ids(MODEL, "aten::mul", "aten::pow"), (), True, 1.0),
    )


def test_what_a_move_breaks_counts_against_it() -> None:
    swaps = at("2.0", "aten::mul")
    found = tried(MODEL, (MoveKind.RELEASE, swaps))
    assert found.worthwhile == ()
    assert found.blocked[0].gone == {MoveKind.RELEASE: swaps.target}
    better = at("2.0", "aten::mul", "aten::pow")
    (move,) = tried(MODEL, (MoveKind.RELEASE, better)).worthwhile
    assert (len(move.removes), move.brings, move.gain) == (2, ("aten::add",), 1)


def test_a_finding_is_gone_only_where_all_of_its_calls_stay_on_the_device() -> None:
    half = node("aten::mul", given={"self": tensor("float16")})
    whole = node("aten::mul", given={"self": tensor("float32")})
    model = trace(half, whole, uses=(Use(0, "a", "net.py", 1, 1), Use(1, "b", "net.py", 2, 1)))
    refuses = condition(Verdict.UNSUPPORTED, dtype("float16"))
    partly = replace(at("2.0", "aten::mul"), conditions={"aten::mul": (refuses,)})
    found = tried(model, (MoveKind.RELEASE, partly))
    assert [blocked.gone for blocked in found.blocked] == [{}]
    assert found.worthwhile == ()


def test_a_fallback_is_in_the_way_too() -> None:
    model = trace(node("aten::mul"))
    today = resolve(model, matrix())
    assert [finding.verdict for finding in today.findings] == [Verdict.FALLBACK]
    (move,) = moves(model, today, [(MoveKind.RELEASE, at("2.0", "aten::mul"))]).worthwhile
    assert move.removes == (today.findings[0].id,)


def test_where_nothing_blocks_there_is_nothing_to_move_for() -> None:
    assert tried(trace(FINE), (MoveKind.RELEASE, at("2.0"))) == Moves((), ())
