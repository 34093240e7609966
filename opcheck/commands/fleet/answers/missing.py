"""What is missing on targets, what helps most first: for each pool of targets one ranking."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from opcheck.commands.fleet.answers.cover import Needs, steps
from opcheck.commands.fleet.answers.values import Goal, Missing, Need, Pool, Ranking, Step
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Cause, Ending, Run
from opcheck.lang.sentence import from_data
from opcheck.model.verdict import Confidence, Verdict

_Key = tuple[str, ...]
"""What makes two causes one need: of a kernel only its overload, however its lack is told."""
_BLOCKED = {Goal.RUNS: "runs IS NOT 1", Goal.DEVICE: "(runs IS NOT 1 OR verdict = 'fallback')"}
_IN_THE_WAY = {
    Goal.RUNS: (Verdict.UNSUPPORTED, Verdict.UNKNOWN),
    Goal.DEVICE: (Verdict.UNSUPPORTED, Verdict.UNKNOWN, Verdict.FALLBACK),
}


class _Cause(Struct, frozen=True):
    """One row of ``causes``."""

    key: _Key
    op: str
    cause: Cause
    code: str
    text: str
    confidence: Confidence


class _Answer(Struct, frozen=True):
    """One answer that does not reach the goal."""

    position: int
    """In the run, where a script has one for each target."""
    model: str
    causes: tuple[_Cause, ...]
    """All that is in its way."""
    unseen: bool

    @property
    def keys(self) -> frozenset[_Key]:
        return frozenset(cause.key for cause in self.causes)


def missing(
    store: Store,
    run: Run,
    *,
    targets: Sequence[int],
    goal: Goal = Goal.RUNS,
    pool: Pool = Pool.VENDOR,
    causes: Sequence[Cause] = tuple(Cause),
    top: int | None = None,
) -> Missing:
    """Rank what keeps the models of a run off some of its targets, given by their positions.

    Only needs of the kinds ``causes`` are counted on; ``top`` is how many steps are given.
    """
    pools: dict[str, list[int]] = defaultdict(list)
    for at in targets:
        target = run.targets[at]
        pools[target.vendor if pool is Pool.VENDOR else target.target].append(at)
    read = _reader(store, goal)
    answers = dict(store.connection.execute(
        "SELECT target_position, COUNT(result) FROM answers WHERE run=? GROUP BY target_position",
        (run.id,),
    ).fetchall())  # fmt: skip
    return Missing(run, goal, tuple(causes), tuple(
        _ranking(store, run, name, some, goal, causes, top, read, answers)
        for name, some in pools.items()
    ))  # fmt: skip


def _ranking(
    store: Store,
    run: Run,
    name: str,
    targets: Sequence[int],
    goal: Goal,
    causes: Sequence[Cause],
    top: int | None,
    read: Callable[[str], tuple[_Cause, ...]],
    answers: Mapping[int, int],
) -> Ranking:
    blocked = list(_blocked(store, run, targets, goal, read))
    seen = [answer for answer in blocked if not answer.unseen]
    open_ = [answer for answer in seen if all(one.cause in causes for one in answer.causes)]
    found, more = _steps(open_, seen, top)
    return Ranking(
        name, tuple(run.targets[at].target for at in targets),
        sum(answers.get(at, 0) for at in targets), len(blocked),
        len({answer.model for answer in blocked}), len(blocked) - len(seen),
        len(seen) - len(open_), found, more,
    )  # fmt: skip


def _blocked(
    store: Store,
    run: Run,
    targets: Sequence[int],
    goal: Goal,
    read: Callable[[str], tuple[_Cause, ...]],
) -> Iterator[_Answer]:
    """Answers that do not reach the goal; the rest of a model that was not seen may hold more."""
    marks = ",".join("?" * len(targets))
    rows = store.connection.execute(
        "SELECT position, name, gaps <> '[]' OR answers.ending <> ?, (SELECT group_concat(cause) "
        "FROM blockers WHERE blockers.result = answers.result) FROM answers "
        "JOIN models ON models.id = answers.model "
        f"WHERE run=? AND target_position IN ({marks}) AND result IS NOT NULL "
        f"AND {_BLOCKED[goal]}",
        (Ending.SCANNED, run.id, *targets),
    )
    for position, name, unseen, causes in rows:
        found = read(causes or "")
        yield _Answer(position, name, found, bool(unseen) or not found)


def _reader(store: Store, goal: Goal) -> Callable[[str], tuple[_Cause, ...]]:
    """Reads ids of causes with commas, and leaves out what does not stand in the way."""
    known = {
        row["id"]: _cause(row)
        for row in store.connection.execute("SELECT * FROM causes")
        if row["verdict"] in _IN_THE_WAY[goal]
    }

    @cache
    def read(ids: str) -> tuple[_Cause, ...]:
        numbers = map(int, filter(None, ids.split(",")))
        return tuple(known[number] for number in numbers if number in known)

    return read


def _cause(row: Mapping[str, str]) -> _Cause:
    cause, op = Cause(row["cause"]), row["op"]
    match cause:
        case Cause.KERNEL:
            key: _Key = (op, cause)
        case Cause.UNKNOWN:
            key = (op, cause, row["code"])
        case Cause.CONDITION:
            key = (op, cause, row["code"], row["text"])
    return _Cause(
        key, op, cause, row["code"], from_data(row["text"]), Confidence(row["confidence"])
    )


def _steps(
    open_: Sequence[_Answer], seen: Iterable[_Answer], top: int | None
) -> tuple[tuple[Step, ...], int]:
    """The first steps, and how many more there are."""
    met: Counter[_Key] = Counter()
    said: dict[_Key, Counter[_Cause]] = defaultdict(Counter)
    for answer in seen:
        met.update(answer.keys)
        for cause in answer.causes:
            said[cause.key][cause] += 1
    # numbered so that of needs that help alike those that most answers meet come first
    keys = sorted(met, key=lambda key: (-met[key], key))
    numbers = {key: number for number, key in enumerate(keys)}
    waiting: dict[Needs, list[_Answer]] = defaultdict(list)
    for answer in open_:
        waiting[frozenset(numbers[key] for key in answer.keys)].append(answer)
    bundles = list(steps({needs: len(some) for needs, some in waiting.items()}))
    shown = bundles if top is None else bundles[:top]
    needs = {number: _need(said[keys[number]], met[keys[number]])
             for bundle in shown for number in bundle}  # fmt: skip
    return tuple(_steps_of(shown, waiting, needs)), len(bundles) - len(shown)


def _steps_of(
    bundles: Iterable[Needs], waiting: dict[Needs, list[_Answer]], needs: Mapping[int, Need]
) -> Iterator[Step]:
    """Each bundle with what it unblocks; ``waiting`` is emptied of it."""
    met: Needs = frozenset()
    answers = 0
    models: set[str] = set()
    for bundle in bundles:
        met |= bundle
        free = [some for some in waiting if some <= met]
        gained = sorted((answer for some in free for answer in waiting.pop(some)),
                        key=lambda answer: answer.position)  # fmt: skip
        answers += len(gained)
        models.update(answer.model for answer in gained)
        names = dict.fromkeys(answer.model for answer in gained)
        yield Step(
            tuple(needs[number] for number in sorted(bundle)),
            tuple(names), len(gained), answers, len(models),
        )  # fmt: skip


def _need(said: Counter[_Cause], answers: int) -> Need:
    most = min(said, key=lambda cause: (-said[cause], cause.text, cause.code))
    return Need(most.op, most.cause, most.code, most.text, most.confidence, answers)
