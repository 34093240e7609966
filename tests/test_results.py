"""Answers of a worker are read as they would be one by one."""

import json

import pytest
from msgspec.structs import replace

from opcheck.model.codec import Json, MalformedError, from_json, to_json
from opcheck.model.trace import Constant
from opcheck.model.work import WorkResult
from opcheck.sandbox.parent.answers import Results
from tests.resolve import made


def result(device_type: str, *ops: str) -> WorkResult:
    """A trace of some calls, the first of which names the device."""
    first = made.node("aten::zeros", given={"device": Constant("device", device_type)})
    trace = made.trace(first, *(made.node(op) for op in ops))
    return WorkResult(replace(trace, device_type=device_type), "python", "feed")


def written(one: WorkResult) -> Json:
    return json.loads(json.dumps(to_json(one)))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "ops",
    [[("aten::a", "aten::b")] * 2, [("aten::a",), ("aten::a", "aten::b")],
     [("aten::a", "aten::b"), ("aten::b",)], [("aten::a",), ()]],
)  # fmt: skip
def test_traces_are_read_whole_whatever_came_before(ops: list[tuple[str, ...]]) -> None:
    results = Results()
    for device_type, names in zip(("npu", "cuda"), ops, strict=True):
        one = result(device_type, *names)
        assert results.read(written(one)) == one


def test_one_is_not_true() -> None:
    results = Results()
    for value in (1, True, 1.0):
        node = made.node("aten::a", given={"dim": value})
        one = WorkResult(made.trace(node), "python", "feed")
        ((_, read),) = results.read(written(one)).trace.nodes[0].arguments
        assert type(read) is type(value)


def test_what_is_alike_is_the_same() -> None:
    results = Results()
    npu, cuda = (results.read(written(result(name, "aten::a"))) for name in ("npu", "cuda"))
    assert npu.trace.nodes[1] is cuda.trace.nodes[1]
    assert npu.trace.nodes[0] is not cuda.trace.nodes[0]


@pytest.mark.parametrize(
    "data",
    [None, {}, {"WorkResult": []}, {"WorkResult": [{"Trace": [1, 2, 3, 4]}]},
     {"WorkResult": [{"Trace": ["", "", "", [{"Node": []}], [], [], [], [], {}, [], [], []]}]}],
    ids=str,
)  # fmt: skip
def test_what_is_none_is_refused_as_it_would_be_alone(data: Json) -> None:
    with pytest.raises(MalformedError):
        from_json(WorkResult, data)
    with pytest.raises(MalformedError):
        Results().read(data)
