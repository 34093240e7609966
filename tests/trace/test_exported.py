"""Runs for targets that models are exported for: what code finds there, and what keeps it out."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._functorch._aot_autograd.utils import KNOWN_TYPES
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from opcheck.db.store import Database
from opcheck.model.kept_out import KeptOut, UnknownClass
from opcheck.model.target import TargetKind, TargetSpec
from opcheck.model.verdict import Verdict
from opcheck.resolve.findings import resolve
from opcheck.trace import trace_model
from opcheck.trace.running.exported import EXPORTED_TYPES, KNOWN, as_exported
from tests.trace.look import calls

GIVEN = torch.linspace(-1, 1, 6)


@pytest.fixture(scope="module")
def database() -> Database:
    return Database.open()


class Box:
    """No container that PyTorch knows."""

    def __init__(self, content: Tensor) -> None:
        self.content = content


class Calling(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.register_buffer("flag", torch.tensor(True))

    def forward(self, *given: Any) -> Any:
        return self.function(self, *given)


def test_code_finds_itself_exported_in_the_block_alone() -> None:
    with as_exported("npu"):
        assert not torch.compiler.is_exporting()
    with as_exported("ort"):
        assert torch.compiler.is_exporting()
        assert torch.compiler.is_compiling()
    assert not torch.compiler.is_compiling()


def test_a_trace_takes_the_way_of_an_export() -> None:
    def model(x: Tensor) -> Tensor:
        if not torch.compiler.is_exporting() and bool((x > 0).all()):
            return x
        return x.relu() + torch.arange(6)

    found = {
        device_type: calls(trace_model(model, (GIVEN,), {}, device_type=device_type))
        for device_type in ("ort", "npu")
    }
    assert found["ort"] == ["aten::relu", "aten::arange", "aten::add.Tensor"]
    assert found["npu"][:3] == ["aten::gt.Scalar", "aten::all", "aten::is_nonzero"]


def test_classes_that_no_export_takes_or_gives_are_noted() -> None:
    model = Calling(lambda _, x, box: {"sum": [x + box.content, Box(x)], "size": x.shape})
    trace = trace_model(model, (GIVEN, Box(GIVEN)), {}, device_type="ort")
    line = Calling.forward.__code__.co_firstlineno
    where = f"tests/trace/test_exported.py:{line}"
    assert trace.unknown_classes == (
        UnknownClass("Box", KeptOut.GIVEN, where), UnknownClass("Box", KeptOut.RETURNED, where),
    )  # fmt: skip
    elsewhere = trace_model(model, (GIVEN, Box(GIVEN)), {}, device_type="npu")
    assert elsewhere.unknown_classes == ()


def _attention(x: Tensor) -> Tensor:
    x = x.transpose(1, 2)
    return torch.nn.functional.scaled_dot_product_attention(x, x, x).transpose(1, 2)


_LAID = {"memory_format": torch.contiguous_format}


@pytest.mark.parametrize(("batch", "function", "refused"), [
    (2, lambda x: x.reshape(x.shape[0], 5, 12).view(-1, 12), True),
    (2, lambda x: x.contiguous().flatten(2).view(-1, 12), True),
    (2, lambda x: x.clone().flatten(2).view(-1, 12), True),
    (1, lambda x: x.reshape(x.shape[0], 5, 12).view(-1, 12), False),
    (2, lambda x: x.flatten(2).reshape(-1, 12), False),
    (2, lambda x: x.flatten(2) @ torch.ones(12, 3), False),
    (2, lambda x: x.clone(**_LAID).flatten(2).view(-1, 12), False),
    (2, lambda x: x.transpose(1, 2).reshape(x.shape[0], -1), False),
    (2, lambda x: x.permute(1, 0, 2, 3).contiguous().view(-1, 12), False),
])  # fmt: skip
def test_a_view_of_attention_that_its_decomposition_breaks_is_noted_and_refused(
    database: Database, batch: int, function: Callable[..., Any], refused: bool
) -> None:
    given = torch.linspace(-1, 1, batch * 60).reshape(batch, 5, 3, 4)
    model = Calling(lambda _, x: function(_attention(x))).eval()
    trace = trace_model(model, (given,), {}, device_type="executorch")
    assert [found.what for found in trace.unknown_classes] == [KeptOut.VIEWED] * refused
    for target in ("executorch-portable", "executorch-xnnpack"):
        report = resolve(trace, database.matrix(database.resolve(TargetSpec(target))))
        codes = [found.reason.code for found in report.findings if found.op == "torch::export"]
        assert codes == ["converter-raises"] * refused
    graph = torch.export.export(model, (given,), strict=False)
    if refused:
        with pytest.raises(ValueError, match="Cannot view a tensor"):
            graph.run_decompositions()
    else:
        graph.run_decompositions()


@pytest.mark.parametrize("target", ["onnxruntime-cpu", "openvino-cpu", "executorch-portable"])
def test_the_switch_that_leaves_a_cache_out_is_named(database: Database, target: str) -> None:
    caches = pytest.importorskip("transformers")
    found = database.resolve(TargetSpec(target))
    for made, named in ((caches.DynamicCache(), True), (Box(GIVEN), False)):
        model = Calling(lambda _, x, made=made: (x.relu(), made))
        trace = trace_model(model, (GIVEN,), {}, device_type=found.device_type)
        report = resolve(trace, database.matrix(found))
        (said,) = (each for each in report.findings if each.reason.code == "class-not-known")
        assert ("use_cache=False in the call" in said.reason.text) is named


def test_a_tensor_that_is_given_twice_is_noted_and_refused_where_a_converter_raises(
    database: Database,
) -> None:
    def twice(_: Calling, x: Tensor) -> Any:
        y = x.relu()
        return y, {"again": y.relu_()}

    for function, repeated in (
        (twice, True),
        (lambda _, x: (x, x, x.relu()), False),
        (lambda _, x: (x.relu(), x.relu()), False),
    ):
        trace = trace_model(Calling(function), (GIVEN,), {}, device_type="openvino")
        assert [found.what for found in trace.unknown_classes] == [KeptOut.REPEATED] * repeated
        for target, refused in (("openvino-cpu", repeated), ("onnxruntime-cpu", False)):
            report = resolve(trace, database.matrix(database.resolve(TargetSpec(target))))
            codes = [found.reason.code for found in report.findings]
            assert ("result-given-twice" in codes) is refused


def test_statistics_and_complex_numbers_are_noted_where_the_model_uses_them(
    database: Database,
) -> None:
    def norm(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return torch.native_layer_norm(x, [2], None, None, 1e-5)

    pairs = torch.zeros(3, 2)
    functions: tuple[tuple[Callable[..., Any], KeptOut | None, str], ...] = (
        (lambda _, x: norm(x), KeptOut.STATISTICS, "converter-raises"),
        (lambda _, x: norm(x)[0] * norm(x)[2], KeptOut.STATISTICS, "converter-raises"),
        (lambda _, x: torch.ops.aten.native_layer_norm.default(x, [2], None, None, 1e-5)[1],
         KeptOut.STATISTICS, "converter-raises"),
        (lambda _, x: norm(x)[0], None, ""),
        (lambda _, x: nn.functional.layer_norm(x, [2]), None, ""),
        (lambda _, x: torch.view_as_complex(x), KeptOut.COMPLEX, "numbers-not-converted"),
        (lambda _, x: torch.view_as_real(torch.view_as_complex(x)), None, ""),
    )  # fmt: skip
    for function, what, code in functions:
        trace = trace_model(Calling(function), (pairs,), {}, device_type="openvino")
        assert [found.what for found in trace.unknown_classes] == [what] * bool(what)
        report = resolve(trace, database.matrix(database.resolve(TargetSpec("openvino-cpu"))))
        assert [f.reason.code for f in report.findings if f.op == "torch::export"] == [code] * (
            what is not None
        )


def test_an_input_whose_dimensions_lie_in_another_order_is_noted_and_refused(
    database: Database,
) -> None:
    def added(_: Calling, x: Tensor) -> Tensor:
        return x + 1

    images = torch.zeros(1, 2, 3, 4)
    for given, orders in (
        (images, []),
        (images.to(memory_format=torch.channels_last), ["[0, 2, 3, 1]"]),
        (torch.zeros(2, 3).t(), ["[1, 0]"]),
        (torch.zeros(4, 6)[:, ::2], []),
        (torch.zeros(1).expand(3), []),
    ):
        trace = trace_model(Calling(added), (given,), {}, device_type="coreml")
        assert [found.name for found in trace.unknown_classes] == orders
        for target, refused in (
            ("coreml-cpu", bool(orders)), ("coreml-cpu@8.3", False), ("openvino-cpu", False)
        ):  # fmt: skip
            report = resolve(trace, database.matrix(database.resolve(TargetSpec.parse(target))))
            assert ("torch::export" in [found.op for found in report.findings]) is refused


def test_every_class_that_is_known_torch_knows() -> None:
    assert set(KNOWN) <= set(KNOWN_TYPES)


def test_device_types_are_those_of_the_vendors(database: Database) -> None:
    targets = [database.resolve(TargetSpec(t.name)) for t in database.of_kind(TargetKind.EXPORT)]
    assert {target.device_type for target in targets} == EXPORTED_TYPES


CASES: tuple[tuple[str, Callable[..., Any], type[Exception] | None], ...] = (
    ("class returned", lambda _, x: (x + 1, Box(x)), RuntimeError),
    ("set returned", lambda _, x: {x + 1}, RuntimeError),
    ("containers", lambda _, x: {"a": (x + 1, [None, 1.5, "b"]), "size": x.shape}, None),
    ("branch", lambda _, x: x + 1 if x.sum() > 0 else x, GuardOnDataDependentSymNode),
    ("buffer", lambda m, x: x + 1 if m.flag else x, GuardOnDataDependentSymNode),
    ("range", lambda _, x: x + 1 if (torch.arange(3) > 1).any() else x,
     GuardOnDataDependentSymNode),
    ("number", lambda _, x: x + 1 if torch.tensor(3) > 2 else x, None),
    ("equal", lambda _, x: x + 1 if torch.equal(x, x + 1) else x, DataDependentOutputException),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "function", "raised"), CASES, ids=[c[0] for c in CASES])
def test_torch_export_raises_where_a_scan_says_so(
    name: str, function: Callable[..., Any], raised: type[Exception] | None, database: Database
) -> None:
    model = Calling(function)
    trace = trace_model(model, (GIVEN,), {}, device_type="ort")
    report = resolve(trace, database.matrix(database.resolve(TargetSpec("onnxruntime-cpu"))))
    refused = [f for f in report.findings if f.verdict is Verdict.UNSUPPORTED]
    if raised is None:
        assert not refused
        torch.export.export(model, (GIVEN,), strict=False)
    else:
        assert [f.reason.code for f in refused] in (["not-captured"], ["class-not-known"])
        with pytest.raises(raised):
            torch.export.export(model, (GIVEN,), strict=False)


def test_a_class_is_a_finding_at_the_code_of_the_model(database: Database) -> None:
    model = Calling(lambda _, x, box: x + box.content)
    trace = trace_model(model, (GIVEN, Box(GIVEN)), {}, device_type="ort")
    report = resolve(trace, database.matrix(database.resolve(TargetSpec("onnxruntime-cpu"))))
    finding = report.findings[0]
    (place,) = finding.uses
    assert (finding.op, finding.reason.code, place.file) == (
        "torch::export", "class-not-known", "tests/trace/test_exported.py",
    )  # fmt: skip
    assert str(finding.reason.text).startswith("the model takes a Box, which torch.export raises")
    assert [e.path for e in finding.evidence] == ["torch/_export/non_strict_utils.py"]
    assert report.summary.runs is False
