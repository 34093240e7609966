"""What is taken over from another target that is alike, beside the same decided by itself."""

from random import Random

import pytest
from msgspec.structs import replace

from opcheck.db.store import Database
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Composite, Node, Trace
from opcheck.model.verdict import Verdict
from opcheck.resolve.findings import Walks, resolve
from opcheck.resolve.walk import Walk
from tests.resolve import made

NAMES = tuple(f"aten::op{number}" for number in range(6))
NODES = (
    made.node(NAMES[0]),
    made.node(NAMES[1]),
    made.node(NAMES[2], 0, 1, composite=Composite.EXPLICIT),
    made.node(NAMES[3], 2, composite=Composite.IMPLICIT),
    made.node(NAMES[4], 0, composite=Composite.EXPLICIT),
    made.node(NAMES[5], cpu=False),
)
LACKS = made.condition(Verdict.UNSUPPORTED, text="{argument} is {actual}")
NAMES_CHIP = made.condition(Verdict.UNSUPPORTED)


def on(chip: str, matrix: SupportMatrix) -> SupportMatrix:
    return replace(matrix, target=replace(matrix.target, chip=chip))


def decided(monkeypatch: pytest.MonkeyPatch, *matrices: SupportMatrix) -> list[str]:
    """The overloads that the last of these targets decides itself."""
    told: list[str] = []
    decide = Walk.decide

    def listening(self: Walk, node: Node) -> object:
        if self.matrix is matrices[-1]:
            told.append(str(node.op))
        return decide(self, node)

    monkeypatch.setattr(Walk, "decide", listening)
    walks, trace = Walks(), made.trace(*NODES)
    for matrix in matrices:
        walk = walks.over(trace, matrix)
        for index in range(len(NODES)):
            walk.resolution(index)
    return told


def test_a_chip_that_is_alike_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = made.matrix(*NAMES[:2])
    assert decided(monkeypatch, matrix) == [*NAMES[:2], NAMES[2], NAMES[3], NAMES[4], NAMES[5]]
    assert decided(monkeypatch, matrix, on("other", matrix)) == []


def test_what_rests_on_a_difference_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = made.matrix(*NAMES[:2])
    other = made.matrix(*NAMES[:2], conditions={NAMES[1]: [LACKS]})
    found = decided(monkeypatch, matrix, on("other", other))
    assert sorted(found) == [NAMES[1], NAMES[2], NAMES[3]]


def test_a_sentence_with_the_chip_is_not_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = made.matrix(*NAMES[:2], conditions={NAMES[0]: [NAMES_CHIP]})
    found = decided(monkeypatch, matrix, on("other", matrix))
    assert sorted(found) == [NAMES[0], NAMES[2], NAMES[3], NAMES[4]]


@pytest.mark.parametrize("part", ["sdk", "torch", "device_type", "vendor"])
def test_nothing_is_taken_over_from_another_release(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = made.matrix(*NAMES[:2])
    other = replace(matrix, target=replace(matrix.target, **{part: "2.8"}))
    assert len(decided(monkeypatch, matrix, other)) == len(NODES)


def test_nothing_is_taken_over_where_the_fallback_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = made.matrix(*NAMES[:2])
    assert len(decided(monkeypatch, matrix, replace(matrix, fallback=made.NONE))) == len(NODES)


KINDS = (LACKS, NAMES_CHIP, made.condition(Verdict.FALLBACK, code="slow"))


def drawn_matrix(random: Random, chip: str) -> SupportMatrix:
    of = random.sample((*NAMES, "*"), random.randrange(3))
    conditions = {op: random.choices(KINDS, k=random.randrange(1, 3)) for op in of}
    registered = random.sample(NAMES, random.randrange(len(NAMES)))
    return on(chip, made.matrix(*registered, conditions=conditions))


def drawn_trace(random: Random) -> Trace:
    nodes: list[Node] = []
    for place in range(random.randrange(1, 9)):
        composite = random.choice((None, Composite.EXPLICIT, Composite.IMPLICIT))
        below = random.sample(range(place), random.randrange(place + 1)) if composite else ()
        cpu = random.random() < 0.5
        nodes.append(made.node(random.choice(NAMES), *below, composite=composite, cpu=cpu))
    return made.trace(*nodes)


@pytest.mark.parametrize("seed", range(10))
def test_every_target_has_what_it_has_alone(seed: int) -> None:
    random = Random(seed)
    for _ in range(20):
        trace, walks = drawn_trace(random), Walks()
        for chip in ("a", "b", "c", "d"):
            matrix = drawn_matrix(random, chip)
            assert resolve(trace, matrix, walks) == resolve(trace, matrix)


@pytest.fixture(scope="module", params=["cuda", "npu", "mps"])
def attention(request: pytest.FixtureRequest) -> Trace:
    import torch
    from torch import nn

    from opcheck.trace import trace_model

    model = nn.Sequential(
        nn.Conv2d(3, 16, 4, 4), nn.Flatten(2), nn.TransformerEncoderLayer(16, 2, 32)
    )
    return trace_model(model.eval(), (torch.zeros(1, 3, 64, 64),), {}, device_type=request.param)


def test_every_chip_of_the_database_has_what_it_has_alone(attention: Trace) -> None:
    database, walks = Database.open(), Walks()
    targets = [t for t in database.targets() if t.device_type == attention.device_type]
    assert len(targets) > 3
    for target in targets:
        matrix = database.matrix(target)
        assert resolve(attention, matrix, walks) == resolve(attention, matrix)
