"""Standard answers about a fleet as a whole, one for each kind."""

from collections.abc import Mapping

from msgspec.structs import replace

from opcheck.commands.fleet.answers.values import (
    Because,
    BlockedBy,
    Change,
    Changed,
    Difference,
    Failure,
    FleetView,
    Goal,
    Missing,
    Need,
    Ranking,
    Standing,
    Step,
    Summary,
    TargetChanges,
    TargetTally,
)
from opcheck.commands.fleet.values import (
    Answer,
    Answers,
    Blocker,
    Cause,
    Ending,
    Filters,
    Run,
    RunTarget,
)
from opcheck.lang.sentence import from_data
from opcheck.model.verdict import Confidence, Verdict


def _target(
    chip: str, vendor: str = "ascend", sdk: str = "26.1.0", torch: str = "2.12"
) -> RunTarget:
    return RunTarget(
        f"{vendor}-{chip}@{sdk}+torch{torch}", vendor, chip, sdk, torch, "npu",
        "1234567890abcdef", "2026-10-01",
    )  # fmt: skip


_A, _B, _C = _target("910b"), _target("310p"), _target("h100", "nvidia", "13.0")
_OLD = _target("910b", sdk="26.0.0", torch="2.9")
_RUN = Run(
    2, "models.yaml", "2026-11-21T20:00:00Z", "2026-11-21T20:15:00Z", "0.1.0", "2.13.0", "local",
    (_A, _B, _C), 300, 300,
)  # fmt: skip
_BEFORE = replace(_RUN, id=1, begun="2026-11-14T20:00:00Z", targets=(_OLD, _B, _C))


def _tally(target: RunTarget, rate: float | None, *counts: int) -> TargetTally:
    return TargetTally(target, dict(zip(Standing, counts, strict=True)), rate)


_SUMMARY = Summary(
    _RUN,
    {ending: {Ending.SCANNED: 295, Ending.FAILED: 3, Ending.TIMED_OUT: 2}.get(ending, 0)
     for ending in Ending},
    (
        _tally(_A, 0.9871, 180, 90, 5, 20, 5),
        _tally(_B, 0.9123, 100, 90, 5, 100, 5),
        _tally(_C, 1.0, 295, 0, 0, 0, 5),
    ),
    184,
    1,
    (
        Failure(Ending.FAILED,
                from_data("models.py: cannot be loaded: no module named 'flash_attn'"),
                "install it", ("vit-flash", "bert-flash", "swin-flash")),
        Failure(Ending.TIMED_OUT, from_data("not over after 120 s"), "give it more with --timeout",
                ("giant", "video-giant")),
    ),
)  # fmt: skip

_ERFCX = Need(
    "aten::special_erfcx", Cause.KERNEL, "no-kernel",
    from_data("ascend registers no kernel for aten::special_erfcx and has no host fallback"),
    Confidence.HIGH, 41,
)  # fmt: skip
_SVD = replace(_ERFCX, op="aten::_linalg_svd", answers=20)
_QR = replace(_ERFCX, op="aten::linalg_qr", answers=12)
_DOUBLE = Need(
    "aten::mm", Cause.CONDITION, "dtype-not-supported",
    from_data("float64 is not among the dtypes that the documentation lists"), Confidence.MEDIUM, 9,
)  # fmt: skip
_NOBODY = Need(
    "torchvision::nms", Cause.UNKNOWN, "not-in-database",
    from_data("nobody has said whether there is a kernel"), Confidence.LOW, 30,
)  # fmt: skip
_STEPS = (
    Step((_ERFCX,), ("erf-a", "erf-b"), 4, 4, 2),
    Step((_SVD, _QR), ("pca-a", "pca-b", "erf-a"), 3, 7, 4),
    Step((_DOUBLE,), ("double",), 1, 8, 5),
)
_ASCEND = Ranking("ascend", (_A.target, _B.target), 590, 130, 105, 10, 0, _STEPS, 4)
_MISSING = Missing(_RUN, Goal.RUNS, tuple(Cause), (
    _ASCEND,
    Ranking("nvidia", (_C.target,), 295, 0, 0, 0, 0, (), 0),
))  # fmt: skip
_OPEN = replace(
    _MISSING,
    run=replace(_RUN, ended="", done=120),
    goal=Goal.DEVICE,
    causes=(Cause.KERNEL,),
    rankings=(
        Ranking(_A.target, (_A.target,), 118, 23, 23, 2, 20,
                (Step((_ERFCX, _NOBODY), ("erf-a",), 1, 1, 1),), 0),
        Ranking(_B.target, (_B.target,), 118, 3, 3, 1, 2, (), 0),
    ),
)  # fmt: skip

_FLOAT64 = "is float64, which arc does not have: the kernel raises"
_ARC = tuple(
    replace(_DOUBLE, op=f"aten::{op}", text=from_data(f"{tensor} {_FLOAT64}"))
    for op in ("add", "arange", "cat", "clone", "cos", "div", "mm", "mul")
    for tensor in ("self", "the result")
)
_MANY = replace(_OPEN, rankings=(
    Ranking(_A.target, (_A.target,), 118, 1, 1, 0, 0, (Step(_ARC, ("sines",), 1, 1, 1),), 0),
))  # fmt: skip

_GONE = BlockedBy(
    "aten::special_erfcx", Cause.KERNEL, "no-kernel", Verdict.UNSUPPORTED, _ERFCX.text,
    Confidence.HIGH,
)  # fmt: skip
_SLOW = replace(_GONE, op="aten::sort", code="host-fallback", verdict=Verdict.FALLBACK)
_CAME = BlockedBy(
    "aten::mm", Cause.CONDITION, "dtype-not-supported", Verdict.UNSUPPORTED, _DOUBLE.text,
    Confidence.MEDIUM,
)  # fmt: skip
_RELEASE = (Because.TARGET, Because.DATABASE)


def _changed(model: str, before: Standing, after: Standing, **rest: object) -> Changed:
    made = Changed(model, Change.of(before, after), before, after, _RELEASE, (), (), "")
    return replace(made, **rest)


_CHANGES = TargetChanges(_OLD, _A, 288, (
    _changed("double", Standing.DEVICE, Standing.BROKEN, came=(_CAME, _SLOW)),
    *(_changed(f"erf-{at}", Standing.BROKEN, Standing.DEVICE, went=(_GONE,)) for at in range(8)),
    _changed("sorter", Standing.DEVICE, Standing.FALLBACK, came=(_SLOW,)),
    _changed("giant", Standing.DEVICE, Standing.NO_ANSWER, reason=from_data("not over after 120 s"),
             because=(Because.DATABASE, Because.OPCHECK)),
))  # fmt: skip
_BETTER = TargetChanges(_OLD, _A, 298, (
    _changed("quick", Standing.FALLBACK, Standing.DEVICE, went=(_SLOW,)),
    _changed("back", Standing.NO_ANSWER, Standing.DEVICE, because=()),
))  # fmt: skip
_DIFFERENCE = Difference(
    _BEFORE, _RUN, ("new-model",), ("gone-model", "gone-too"), (), (),
    (_CHANGES, TargetChanges(_B, _B, 299, ()), TargetChanges(_C, _C, 299, ())),
)  # fmt: skip
_LACKS = Blocker(
    _GONE.op, _GONE.cause, _GONE.code, _GONE.verdict, _GONE.text, _GONE.confidence, 2,
    ("aten::special_erfcx",), "head", "net.py", 12,
)  # fmt: skip
_HALF = replace(
    _LACKS, op="aten::mm", cause=Cause.CONDITION, code="dtype-not-supported",
    verdict=Verdict.FALLBACK, called=("aten::linear", "aten::matmul"), module="", file="", line=0,
)  # fmt: skip
_ODD = (0, "odd", "net.py:odd", Ending.SCANNED, "")
_LATE = (
    1,
    "late",
    "net.py:late",
    Ending.TIMED_OUT,
    from_data("no answer within 600 s (at net.py:7)"),
)
_ANSWERS = Answers(_RUN, Filters(), (
    Answer(*_ODD, _A.target, Verdict.FALLBACK, True, 0.6667, (_HALF,)),
    Answer(*_ODD, _B.target, Verdict.UNSUPPORTED, False, 0.3333, (_LACKS,) * 3 + (_HALF,)),
    Answer(*_LATE, _A.target, Verdict.UNKNOWN, None, None),
    Answer(2, "gone", "gone.pt2", Ending.FAILED, from_data("gone.pt2: no such file"), "",
           None, None, None),
))  # fmt: skip
FLEETS: Mapping[str, FleetView] = {
    "answers": _ANSWERS,
    "answers-none": Answers(_RUN, Filters(models=("absent",)), ()),
    "summary": _SUMMARY,
    "summary-one": replace(
        _SUMMARY, run=replace(_RUN, targets=(_C,)), targets=_SUMMARY.targets[2:], failures=()
    ),
    "missing": _MISSING,
    "missing-open": _OPEN,
    "missing-many": _MANY,
    "diff": _DIFFERENCE,
    "diff-alike": replace(
        _DIFFERENCE, new=(), gone=(), targets=(replace(_CHANGES, before=_A), replace(
            _CHANGES, before=_B, after=_B)),
    ),
    "diff-better": replace(_DIFFERENCE, new=(), gone=(), targets=(_BETTER,)),
    "diff-same": replace(_DIFFERENCE, new=(), gone=(), targets=_DIFFERENCE.targets[1:]),
    "diff-apart": replace(
        _DIFFERENCE, targets=(), new_targets=(_A.target,), gone_targets=(_OLD.target,)
    ),
}  # fmt: skip
