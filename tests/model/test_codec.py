"""Values survive the way to JSON text and back, and nothing else is taken for one."""

import json
from typing import Any

import pytest
from msgspec import Struct

from opcheck.lang.sentence import Sentence, sentences
from opcheck.model.codec import MalformedError, from_json, to_json
from opcheck.model.emulation import EmulationRequest
from opcheck.model.jobs import Job
from opcheck.model.report import Summary
from opcheck.model.request import ModelSpec
from opcheck.model.target import Target, TargetSpec
from opcheck.model.trace import (
    Composite,
    Constant,
    Gap,
    Kernel,
    Node,
    OpName,
    Phase,
    TensorMeta,
    Trace,
    Use,
)
from opcheck.model.verdict import Verdict
from opcheck.model.work import DeviceWork, WorkRequest, WorkResult
from tests.views.emulations import EMULATIONS

TENSOR = TensorMeta("float32", (1, 3), (3, 1))
NODE = Node(
    op=OpName.parse("aten::cat"),
    arguments=(
        ("tensors", (TENSOR, TENSOR)),
        ("dim", -1),
        ("scale", 0.5),
        ("whole", 2.0),
        ("flag", True),
        ("mode", "reflect"),
        ("none", None),
        ("dtype", Constant("dtype", "float16")),
        ("nested", ((1, 2), (TENSOR, None))),
    ),
    outputs=(TENSOR,),
    composite=Composite.IMPLICIT,
    children=((1, 2),),
    note="näme",
)
LEAF = Node(OpName.parse("aten::relu"), (), children=None, data_dependent=True)
TRACE = Trace(
    torch_version="2.13.0",
    device_type="npu",
    mode="inference",
    nodes=(NODE, LEAF),
    uses=(Use(0, "model.layers.*", "net.py", 3, 2, Phase.BACKWARD),),
    sequence=(0, 0),
    gaps=(Gap("head", "not run"),),
    kernels={"ascend-910b@26.1.0+torch2.7": (Kernel(OpName.parse("aten::cat"), 2, True),)},
)


class Sets(Struct, frozen=True):
    names: frozenset[str]
    targets: frozenset[Target]
    rate: float | None
    either: Gap | OpName | None


class Counted(Struct, frozen=True):
    op: OpName
    count: int
    phase: Phase = Phase.FORWARD


@pytest.mark.parametrize(
    "value",
    [
        TRACE,
        WorkResult(TRACE, "hf", "abc", ("a note",)),
        WorkRequest(
            ModelSpec("a.py:f", ("x=1",), trust=True),
            ((DeviceWork("npu", exact={"t": ("aten::cat", "aten::relu")}),),),
        ),
        Job(WorkRequest(ModelSpec("a.py:f"), ((DeviceWork("npu"),),)), 2**30, None, "stack"),
        Job(
            EmulationRequest(ModelSpec("a.py:f"), TargetSpec("a-b", "1"), check=True),
            2**30,
            1.5,
            "stack",
        ),
        EMULATIONS["mixed"],
        EMULATIONS["disagreeing"],
        EMULATIONS["stopped"],
        Summary(None, None, {Verdict.NATIVE: 2}, {}, 0, 0),
        Sets(frozenset("ab"), frozenset([Target("a", "b", "1", "2.1", "npu")]), 1.0, None),
        Sets(frozenset(), frozenset(), None, OpName.parse("aten::add.Tensor")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_survives(value: Any) -> None:
    assert from_json(type(value), json.loads(json.dumps(to_json(value)))) == value


def test_a_list_of_numbers_keeps_their_types() -> None:
    restored = from_json(Node, json.loads(json.dumps(to_json(NODE))))
    assert [type(value) for _, value in restored.arguments] == [
        type(value) for _, value in NODE.arguments
    ]


@pytest.mark.parametrize(
    ("cls", "data", "message"),
    [
        (Gap, None, "want Gap with 3 fields, got None"),
        (Gap, {"Gap": ["a"]}, "want Gap with 3 fields, got {'Gap': ['a']}"),
        (Gap, {"Use": ["a", "b"]}, "want Gap with 3 fields, got {'Use': ['a', 'b']}"),
        (Gap, {"Gap": ["a", 1]}, "Gap.reason: want str, got 1"),
        (Counted, {"Counted": [{"OpName": ["aten", "x", 0]}, 1, "forward"]},
         "Counted.op: OpName.overload: want str, got 0"),
        (Counted, {"Counted": [{"OpName": ["aten", "x", ""]}, True, "forward"]},
         "Counted.count: want int, got True"),
        (Counted, {"Counted": [{"OpName": ["aten", "x", ""]}, 1, "sideways"]},
         "Counted.phase: want one of forward, backward, optimizer, got 'sideways'"),
        (TensorMeta, {"TensorMeta": ["float32", [1, "2"], [], False]},
         "TensorMeta.shape: want int, got '2'"),
        (TensorMeta, {"TensorMeta": ["float32", 3, [], False]},
         "TensorMeta.shape: want a list, got 3"),
        (Sets, {"Sets": [[], [], "x", None]},
         "Sets.rate: want float or NoneType or int, got 'x'"),
        (Sets, {"Sets": [[], [], 1.0, {"Target": []}]},
         "Sets.either: want Gap or OpName or NoneType, got {'Target': []}"),
    ],
)  # fmt: skip
def test_other_data_is_refused_with_its_place(cls: type, data: Any, message: str) -> None:
    with pytest.raises(MalformedError) as caught:
        from_json(cls, data)
    assert str(caught.value) == message


@pytest.mark.slow
def test_a_large_trace_comes_back_as_it_was() -> None:
    trace = Trace("2.13.0", "npu", "inference", (NODE,) * 3000, TRACE.uses * 3000, (7,) * 50_000)
    assert from_json(Trace, json.loads(json.dumps(to_json(trace)))) == trace


SAID = Sentence("{op}: {said}", op="aten::relu", said=Sentence("no {what}", what="kernel"))


def test_a_sentence_keeps_its_parts() -> None:
    gap = Gap("head", SAID)
    found = from_json(Gap, json.loads(json.dumps(to_json(gap))))
    assert found == gap
    assert [(s.template, dict(s.arguments)) for s in sentences(found.reason)] == [
        ("{op}: {said}", {"op": "aten::relu", "said": "no kernel"}),
        ("no {what}", {"what": "kernel"}),
    ]


def _nested(levels: int) -> Any:
    inner: Any = "x" * 1000
    for _ in range(levels):
        inner = {"Sentence": ["{a}" * 100, {"a": inner}]}
    return inner


@pytest.mark.parametrize(
    "text",
    [
        {"Sentence": []},
        {"Sentence": ["{a}", {"a": 1}]},
        {"Sentence": ["{a}", {"b": "text"}]},
        {"Sentence": ["{a}", {"a": ["text"]}]},
        {"Sentence": ["{a}", {"a": "b"}], "other": 1},
        _nested(2),
        _nested(40),
    ],
    ids=lambda text: str(text)[:40],
)
def test_what_is_no_sentence_is_refused(text: Any) -> None:
    with pytest.raises(MalformedError):
        from_json(Gap, {"Gap": ["head", text]})


def test_what_was_kept_before_a_field_was_added_is_read() -> None:
    assert from_json(Gap, {"Gap": ["head", "not run"]}) == Gap("head", "not run")
