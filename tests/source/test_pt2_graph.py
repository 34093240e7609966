"""A saved graph read without torch says what torch itself exported."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._export.serde import schema, serialize

from opcheck.errors import SourceError
from opcheck.model.trace import Constant, Gap, OpName, TensorMeta
from opcheck.source.pt2.file import SCHEMA_MAJORS
from opcheck.source.pt2.graph import GraphCall, GraphTrace, read_trace
from opcheck.source.pt2.values import DTYPES, LAYOUTS, MEMORY_FORMATS
from tests.lang.told import in_chinese
from tests.source.pt2_files import (
    Branching,
    Sized,
    Tiny,
    archive_of,
    changed,
    document_of,
    export,
    nodes_of,
)

FLAT = TensorMeta("float32", (6, 4), (4, 1))
HALVES = (
    TensorMeta("float32", (6, 2), (4, 1)), TensorMeta("float32", (6, 2), (4, 1), offset=8),
)  # fmt: skip


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("pt2") / "tiny.pt2", Tiny(), (torch.randn(6, 4),))


def by_op(trace: GraphTrace, op: str) -> list[GraphCall]:
    return [call for call in trace.calls if call.op == OpName.parse(op)]


def test_calls_come_in_order_with_their_operators(tiny: Path) -> None:
    assert [str(call.op) for call in read_trace(tiny).calls if call.op.base[0] != "_"] == [
        "aten::linear", "aten::relu", "aten::linear", "aten::relu", "aten::sum.dim_IntList",
        "aten::add_.Tensor", "aten::split.Tensor", "aten::complex", "aten::to.dtype",
        "aten::gt.Scalar", "aten::masked_fill.Scalar", "aten::to.dtype",
    ]  # fmt: skip


def test_a_call_is_told_whole(tiny: Path) -> None:
    line = next(
        number
        for number, text in enumerate(Path("tests/source/pt2_files.py").read_text().splitlines(), 1)
        if "torch.split" in text
    )
    assert by_op(read_trace(tiny), "aten::split.Tensor") == [
        GraphCall(
            OpName("aten", "split", "Tensor"),
            (("self", FLAT), ("split_size", 2), ("dim", 1)),
            (HALVES,),
            "",
            "tests/source/pt2_files.py",
            line,
        )
    ]


def test_layer_numbers_are_stars(tiny: Path) -> None:
    assert {call.module for call in by_op(read_trace(tiny), "aten::linear")} == {"layers.*.*"}


def test_constants_keep_their_kind(tiny: Path) -> None:
    trace = read_trace(tiny)
    assert [dict(call.arguments)["dtype"] for call in by_op(trace, "aten::to.dtype")] == [
        Constant("dtype", "complex128"),
        Constant("dtype", "bfloat16"),
    ]
    (fill,) = by_op(trace, "aten::masked_fill.Scalar")
    assert dict(fill.arguments)["value"] == float("-inf")


@pytest.mark.since("2.10")
def test_a_part_without_calls_is_named(tiny: Path) -> None:
    trace = read_trace(tiny)
    assert trace.modules_not_called == ("unused",)
    assert (trace.gaps, trace.notes) == ((), ())
    assert trace.torch_version == torch.__version__.partition("+")[0]


def test_both_branches_are_read(tmp_path: Path) -> None:
    trace = read_trace(export(tmp_path / "m.pt2", Branching(), (torch.randn(6, 4),)))
    assert [str(call.op) for call in trace.calls] == [
        "aten::sum", "aten::gt.Scalar", "higher_order::cond", "aten::sin", "aten::cos",
        "aten::mul.Tensor",
    ]  # fmt: skip
    assert trace.notes == ("every branch of a conditional is counted; a run takes one of them",)
    assert in_chinese(trace.notes) == ["条件的每个分支都计入；实际运行只走其中之一"]
    (cond,) = by_op(trace, "higher_order::cond")
    assert cond.arguments == (
        ("0", TensorMeta("bool", (), ())),
        ("1", Constant("other", "true_graph_0")),
        ("2", Constant("other", "false_graph_0")),
        ("3", (FLAT,)),
    )


@pytest.mark.since("2.10")
def test_sizes_are_those_of_the_export(tmp_path: Path) -> None:
    batch = ({0: torch.export.Dim("batch")},)
    trace = read_trace(export(tmp_path / "m.pt2", Sized(), (torch.randn(6, 4),), batch))
    (view,) = by_op(trace, "aten::view")
    assert view.arguments == (("self", FLAT), ("size", (12, -1)))
    assert not view.data_dependent
    (found,) = by_op(trace, "aten::nonzero")
    assert found.outputs == (TensorMeta("int64", (2, 2), (1, 2)),)
    assert found.data_dependent
    exported, assumed = trace.notes
    assert exported.startswith("dynamic sizes are those of the export: ")
    assert exported.endswith("=6")
    assert assumed == "sizes that depend on data are assumed: u0=2"


def test_custom_operators_keep_their_namespace(tmp_path: Path) -> None:
    library = torch.library.Library("opcheck_test_graph", "FRAGMENT")
    library.define("twice(Tensor x, *, int times=2) -> Tensor")
    library.impl("twice", lambda x, *, times=2: x * times, "CompositeExplicitAutograd")
    library.impl("twice", lambda x, *, times=2: torch.empty_like(x), "Meta")

    class Custom(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            twice: torch.Tensor = torch.ops.opcheck_test_graph.twice(x, times=3)
            return twice

    trace = read_trace(export(tmp_path / "m.pt2", Custom(), (torch.randn(6, 4),)))
    (call,) = trace.calls
    assert str(call.op) == "opcheck_test_graph::twice"
    assert call.arguments == (("x", FLAT), ("times", 3))


@pytest.mark.since("2.13")
def test_the_layout_until_torch_2_7_reads_the_same(tiny: Path, tmp_path: Path) -> None:
    """That layout: the program at the top, pickles beside it, nodes without names and kinds."""
    import json

    document = document_of(tiny)
    document["schema_version"] = {"major": 8, "minor": 2}
    for node in nodes_of(document):
        del node["name"], node["is_hop_single_tensor_return"]
        for item in node["inputs"]:
            del item["kind"]
    old = archive_of(
        tmp_path / "old.pt2",
        {
            "version": "8.2",
            "serialized_exported_program.json": json.dumps(document),
            "serialized_state_dict.pt": b"never read",
        },
    )
    assert read_trace(old).calls == read_trace(tiny).calls


def test_unknown_codes_are_gaps_and_not_guesses(tiny: Path, tmp_path: Path) -> None:
    def new_dtype(document: dict[str, Any]) -> None:
        for meta in document["graph_module"]["graph"]["tensor_values"].values():
            meta["dtype"] = 99

    trace = read_trace(changed(tiny, tmp_path / "m.pt2", new_dtype))
    major, minor = schema.SCHEMA_VERSION
    reason = f"dtype code 99 of export schema {major}.{minor} has no known meaning"
    assert trace.gaps == (Gap("", reason),)
    assert trace.calls[0].outputs == (TensorMeta("unknown_99", (6, 4), (4, 1)),)


@pytest.mark.since("2.13")
def test_what_is_no_operator_is_refused(tiny: Path, tmp_path: Path) -> None:
    def foreign(document: dict[str, Any]) -> None:
        nodes_of(document)[0]["target"] = "mylib.helper"

    with pytest.raises(
        SourceError, match=r"node 0 \(linear\).*'mylib.helper', which is no operator"
    ):
        read_trace(changed(tiny, tmp_path / "m.pt2", foreign))


@pytest.mark.since("2.13")
def test_a_damaged_node_is_pointed_at(tiny: Path, tmp_path: Path) -> None:
    def cut(document: dict[str, Any]) -> None:
        nodes_of(document)[1]["inputs"] = [{"name": "self", "arg": {"as_tensor": {"name": "gone"}}}]

    path = changed(tiny, tmp_path / "m.pt2", cut)
    with pytest.raises(SourceError) as raised:
        read_trace(path)
    name = nodes_of(document_of(tiny))[1]["name"]
    assert raised.value.message == (
        f"{path}: m/models/model.json: node 1 ({name}) cannot be read "
        "(it uses 'gone', which nothing before it defines)"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(graph_module=None),
        lambda d: d["graph_module"].update(graph=[]),
        lambda d: d["graph_module"]["graph"].update(nodes={"a": 1}),
        lambda d: d["graph_module"]["graph"].update(nodes=[None]),
        lambda d: d["graph_module"]["graph"].update(tensor_values=None),
        lambda d: d.update(range_constraints=3),
        lambda d: nodes_of(d)[0].update(target=5),
        lambda d: nodes_of(d)[0].update(inputs=[{"name": "x", "arg": {}}]),
        lambda d: nodes_of(d)[0].update(metadata={"stack_trace": 3}),
    ],
)
def test_any_other_shape_of_json_is_one_clear_error(
    change: Any, tiny: Path, tmp_path: Path
) -> None:
    path = changed(tiny, tmp_path / "m.pt2", change)
    with pytest.raises(SourceError) as raised:
        read_trace(path)
    assert raised.value.message.startswith(f"{path}: m/models/model.json: ")
    assert raised.value.hint == "save the model again with torch.export.save"


@pytest.mark.since("2.13")
def test_codes_are_those_of_the_installed_torch() -> None:
    """torch._export is private; checked with torch 2.13."""

    def names(codes: Mapping[Any, Any]) -> dict[int, str]:
        return {int(code): str(value).partition(".")[2] for value, code in codes.items()}

    assert dict(DTYPES) == names(serialize._TORCH_TO_SERIALIZE_DTYPE)
    assert dict(LAYOUTS) == names(serialize._TORCH_TO_SERIALIZE_LAYOUT)
    assert dict(MEMORY_FORMATS) == names(serialize._TORCH_TO_SERIALIZE_MEMORY_FORMAT)
    assert schema.SCHEMA_VERSION[0] == SCHEMA_MAJORS[-1]


def test_reading_loads_no_torch(tiny: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from opcheck.source.pt2.graph import read_trace;"
        "read_trace(Path(sys.argv[1])); print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tiny)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


class Pieces(torch.nn.Module):
    """Views of an input, and a parameter that was a view where it was exported."""

    def __init__(self) -> None:
        super().__init__()
        self.flat = torch.nn.Parameter(torch.zeros(9)[1:])

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        left, right = x.chunk(2, dim=1)
        kept = [left.relu(), right.relu(), self.flat.relu(), right.clone().relu()]
        return *kept, x[1:].relu()


def begins(file: Path) -> list[int | None]:
    calls = by_op(read_trace(file), "aten::relu")
    given = [dict(call.arguments)["self"] for call in calls]
    return [value.offset for value in given if isinstance(value, TensorMeta)]


def test_a_view_begins_where_the_file_says(tmp_path: Path) -> None:
    file = export(tmp_path / "pieces.pt2", Pieces(), (torch.randn(3, 4),))
    assert begins(file) == [0, 8, 0, 0, 16]


def test_where_a_view_begins_is_not_known_of_a_file_that_does_not_say(tmp_path: Path) -> None:
    def without(document: Any) -> None:
        for meta in document["graph_module"]["graph"]["tensor_values"].values():
            del meta["storage_offset"]

    file = export(tmp_path / "pieces.pt2", Pieces(), (torch.randn(3, 4),))
    assert begins(changed(file, tmp_path / "old.pt2", without)) == [None, None, 0, None, None]
