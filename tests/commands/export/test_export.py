"""``opcheck export``: how far a model comes, and how the scan is held against that."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from opcheck.commands.export.answer import export, require_writable
from opcheck.commands.export.command import _opset, _xml
from opcheck.commands.export.values import ExportAnswer, ExportQuestion
from opcheck.commands.export.views import json as json_view
from opcheck.commands.export.views import text as text_view
from opcheck.errors import UsageError
from opcheck.exporting.core_ml import CoreMl
from opcheck.exporting.execu_torch import ExecuTorch
from opcheck.exporting.exporter import Exporter
from opcheck.exporting.lite_rt import LiteRt
from opcheck.exporting.onnx_runtime import OnnxRuntime
from opcheck.exporting.open_vino import OpenVino
from opcheck.lang.speech import Language, speaking
from opcheck.model.dynamic import Site, SiteKind, SiteTaken, Taking, dynamic_inputs
from opcheck.model.emulation import Difference
from opcheck.model.exporting import Cause, ExportRequest, ExportRun, Stage
from opcheck.model.report import Finding, Reason
from opcheck.model.request import ModelSpec
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Phase
from opcheck.model.verdict import Confidence, Verdict
from opcheck.views.formats import Page

TARGET = "onnxruntime-cpu@1.32.0+torch2.13"
PROVED = ExportAnswer(
    "net.py:net",
    TARGET,
    ExportRun(
        Stage.PROVED,
        versions=(("torch", "2.13.0"), ("onnxruntime", "1.32.0")),
        opset=20,
        operators=(("Gemm", 2), ("Relu", 1)),
        differences=(Difference("output", (2, 4), "float32", 1.2e-7),),
    ),
    proved=True,
    output="net.onnx",
    predicted=True,
)
"""What there is to say of a model that comes through."""
MODEL = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return {body}

def net():
    return Net(), (torch.linspace(0.1, 0.9, 6).reshape(2, 3),)
"""
DETECTOR = """
import torch
from torchvision.ops import nms

class Net(torch.nn.Module):
    def forward(self, boxes, scores):
        return boxes[nms(boxes, scores, 0.5)]

def net():
    boxes = torch.tensor([[0, 0, 4, 4.0], [0, 0, 4, 5], [6, 6, 9, 9], [6, 6, 9, 9.5]])
    return Net(), (boxes, torch.tensor([0.9, 0.8, 0.7, 0.6]))
"""


def ended(stage: Stage, predicted: bool | None, error: str = "") -> ExportAnswer:
    return ExportAnswer("net.py:net", TARGET, ExportRun(stage, error), True, predicted=predicted)


def question(path: Path, body: str, target: str = "onnxruntime-cpu") -> ExportQuestion:
    file = path / "net.py"
    file.write_text(MODEL.format(body=body))
    return ExportQuestion(ModelSpec(f"{file}:net"), TargetSpec(target), prove=True)


def test_a_page_tells_each_step_and_what_the_scan_said() -> None:
    assert text_view.render(PROVED) == (
        "✔ net.py:net on onnxruntime-cpu@1.32.0+torch2.13: it was exported, runs there,\n"
        "and gives what PyTorch gives\n"
        "\n"
        "  ✔ captured by torch.export\n"
        "  ✔ converted\n"
        "  ✔ run by the runtime\n"
        "  ✔ gives PyTorch's values\n"
        "\n"
        "opset 20, 3 calls: Gemm ×2, Relu ×1\n"
        "  output, float32 [2,4]: at most 1.2e-07 off\n"
        "\n"
        "✔ the scan says that it runs, and that is what happened\n"
        "\n"
        "written: net.onnx\n"
        "with torch 2.13.0, onnxruntime 1.32.0\n"
    )


CUDA = "onnxruntime-cuda@1.32.0+torch2.13"


def test_a_page_tells_that_the_cpu_provider_stood_in() -> None:
    page = text_view.render(replace(PROVED, target=CUDA))
    assert page.splitlines()[:4] == [
        "✔ net.py:net on onnxruntime-cuda@1.32.0+torch2.13: it was exported, and ONNX",
        "Runtime's CPU provider gives what PyTorch gives",
        "  the target's own provider was not asked, only ONNX Runtime's CPU provider:",
        "  where each operator is placed is what it registers or documents",
    ]
    assert "- the scan says that it runs\n" in page  # not: and that is what happened


@pytest.mark.parametrize(
    ("stage", "predicted", "agrees"),
    [
        (Stage.PROVED, True, None),
        (Stage.PROVED, False, None),
        (Stage.RUNTIME, True, None),
        (Stage.CONVERSION, True, False),
        (Stage.CONVERSION, False, True),
    ],
)
def test_of_another_provider_the_conversion_alone_is_held_against_the_scan(
    stage: Stage, predicted: bool, agrees: bool | None
) -> None:
    assert replace(ended(stage, predicted), target=CUDA).agrees is agrees


def test_a_page_tells_where_the_way_ended() -> None:
    finding = Finding(
        "1", "aten::cumprod", Verdict.UNSUPPORTED, Confidence.HIGH,
        Reason("part-not-converted", "it has no converter"), 1, Phase.FORWARD, (), (),
    )  # fmt: skip
    answer = ExportAnswer(
        "net.py:net", TARGET, ExportRun(Stage.CONVERSION, "DispatchError: nothing for prims.prod"),
        True, predicted=True, blockers=(finding,) * 12,
    )  # fmt: skip
    page = text_view.render(answer)
    assert page.splitlines()[:9] == [
        "✘ net.py:net on onnxruntime-cpu@1.32.0+torch2.13: it is not converted",
        "  DispatchError: nothing for prims.prod",
        "",
        "  ✔ captured by torch.export",
        "  ✘ converted",
        "  - run by the runtime",
        "  - gives PyTorch's values",
        "",
        "✘ the scan says that it runs, and that is not what happened",
    ]
    assert "  2 more; --verbose lists all" in page.splitlines()
    assert text_view.render(answer, Page(quiet=True)).count("\n") == 2


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (ended(Stage.CAPTURE, None), "torch.export cannot capture it"),
        (ended(Stage.RUNTIME, False), "the runtime refuses the file"),
        (ended(Stage.VALUES, True), "it runs, and gives other values than PyTorch"),
        (
            ExportAnswer("net.py:net", TARGET, ExportRun(Stage.PROVED, random=True), True),
            "it was exported and runs there; PyTorch's own values are other ones each time",
        ),
        (
            ExportAnswer("net.py:net", TARGET, ExportRun(Stage.PROVED), False),
            "it was exported; --prove would run it",
        ),
        (
            ExportAnswer("net.py:net", CUDA, ExportRun(Stage.PROVED, random=True), True),
            "it was exported, and ONNX Runtime's CPU provider runs it; PyTorch's own values are"
            " other ones each time",
        ),
        (
            replace(ended(Stage.RUNTIME, False), target=CUDA),
            "it is converted, and ONNX Runtime's CPU provider refuses the file",
        ),
    ],
)
def test_each_end_has_its_words(answer: ExportAnswer, line: str) -> None:
    assert line in " ".join(text_view.render(answer).split())


@pytest.mark.parametrize(
    ("stage", "predicted", "agrees"),
    [
        (Stage.PROVED, True, True),
        (Stage.VALUES, True, True),
        (Stage.RUNTIME, False, True),
        (Stage.CONVERSION, True, False),
        (Stage.PROVED, False, False),
        (Stage.PROVED, None, None),
    ],
)
def test_the_scan_agrees_where_it_says_what_happened(
    stage: Stage, predicted: bool | None, agrees: bool | None
) -> None:
    assert ended(stage, predicted).agrees is agrees


def test_json_has_the_stage_and_both_answers() -> None:
    found = json.loads(json_view.render(PROVED))
    assert found["schema"] == "opcheck.export/1"
    assert (found["stage"], found["came_through"], found["agrees"]) == ("proved", True, True)
    assert found["outputs"] == [
        {"name": "output", "shape": [2, 4], "dtype": "float32", "largest": 1.2e-7}
    ]


def test_a_page_in_chinese_has_no_english_sentence() -> None:
    with speaking(Language.CHINESE):
        page = text_view.render(PROVED)
    assert "已导出" in page
    assert "what happened" not in page


def test_a_target_that_runs_pytorch_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no target that models are exported for") as error:
        export(question(tmp_path, "x", "nvidia-h100"))
    assert error.value.hint == (
        "name one of them: coreml-ane, coreml-cpu, coreml-gpu, executorch-portable, "
        "executorch-vulkan, executorch-xnnpack, litert-cpu, onnxruntime-cpu, "
        "onnxruntime-cuda, onnxruntime-dml, openvino-cpu"
    )


@pytest.mark.parametrize(
    ("target", "output_of", "opset", "error", "hint"),
    [
        ("openvino-cpu", "onnxruntime", 0, "--onnx keeps no file for openvino-cpu",
         "use --openvino"),
        ("onnxruntime-cpu", "openvino", 0, "--openvino keeps no file for onnxruntime-cpu",
         "use --onnx"),
        ("executorch-xnnpack", "openvino", 0, "--openvino keeps no file for executorch-xnnpack",
         "use --pte"),
        ("coreml-cpu", "openvino", 0, "--openvino keeps no file for coreml-cpu", "leave it out"),
        ("openvino-cpu", "openvino", 20, "--opset is a version of ONNX's operators, which "
         "openvino-cpu has none of", "leave it out, or export for onnxruntime-cpu"),
    ],
)  # fmt: skip
def test_options_of_another_format_are_refused(
    target: str, output_of: str, opset: int, error: str, hint: str
) -> None:
    asked = ExportQuestion(
        ModelSpec("net.py:net"), TargetSpec(target), output="net.file", output_of=output_of,
        opset=opset,
    )  # fmt: skip
    with pytest.raises(UsageError) as found:
        export(asked)
    assert (str(found.value), str(found.value.hint)) == (error, hint)


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        require_writable(str(tmp_path / "nowhere" / "model.onnx"))
    require_writable(str(tmp_path / "model.onnx"))


def test_versions_of_operators_are_those_that_torch_writes() -> None:
    import typer

    assert _opset("20") == 20
    with pytest.raises(typer.BadParameter, match="want 18 to 24"):
        _opset("11")


def test_a_model_of_openvino_is_kept_in_an_xml_file() -> None:
    import typer

    assert _xml("net.xml") == "net.xml"
    with pytest.raises(typer.BadParameter, match=r"not a file that ends in \.xml: 'net\.onnx'"):
        _xml("net.onnx")


def test_a_graph_of_no_onnx_names_no_opset() -> None:
    run = ExportRun(Stage.PROVED, operators=(("MatMul", 2), ("Relu", 1)))
    page = text_view.render(ExportAnswer("net.py:net", "openvino-cpu@2026.4.1", run, True))
    assert "3 calls: MatMul ×2, Relu ×1" in page.splitlines()


def test_an_opset_is_named_in_one_place(tmp_path: Path) -> None:
    asked = question(tmp_path, "x")
    with pytest.raises(UsageError, match="onnxruntime-cpu\\+opset21 names another opset than 20"):
        export(replace(asked, target=TargetSpec.parse("onnxruntime-cpu+opset21"), opset=20))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "stage", "predicted"),
    [
        ("(x @ x.T).relu()", Stage.PROVED, True),
        ("torch.cumprod(x, 0)", Stage.CONVERSION, False),
        ("x.double().atan()", Stage.RUNTIME, False),
        ("x + 1 if bool(x.sum() > 0) else x", Stage.CAPTURE, False),
    ],
)
def test_a_model_is_really_exported_and_run(
    tmp_path: Path, body: str, stage: Stage, predicted: bool | None
) -> None:
    for library in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(library)
    found = export(question(tmp_path, body))
    assert (found.run.stage, found.predicted) == (stage, predicted)
    assert found.came_through is (stage is Stage.PROVED)
    assert found.run.error or stage is Stage.PROVED


@pytest.mark.slow
def test_how_many_boxes_are_kept_stays_open_in_the_file(tmp_path: Path) -> None:
    """A scan takes every box for kept, which a file must not: a runtime counts by it."""
    for library in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(library)
    file = tmp_path / "net.py"
    file.write_text(DETECTOR)
    asked = ExportQuestion(ModelSpec(f"{file}:net"), TargetSpec("onnxruntime-cpu"), prove=True)
    run = export(asked).run
    assert (run.stage, run.error) == (Stage.PROVED, "")
    assert [each.shape for each in run.differences] == [(2, 4)]


@pytest.mark.slow
def test_a_file_is_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    for library in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(library)
    path = tmp_path / "net.onnx"
    asked = question(tmp_path, "x.relu()")
    found = export(
        ExportQuestion(asked.model, asked.target, prove=False, output=str(path), opset=21)
    )
    assert (found.output, found.run.opset, found.predicted) == (str(path), 21, None)
    assert found.target == f"{TARGET}+opset21"
    assert path.stat().st_size > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "stage", "predicted"),
    [
        ("(x @ x.T).relu()", Stage.PROVED, True),
        ("x.double().atan()", Stage.PROVED, True),
        ("torch.cumprod(x, 0)", Stage.CONVERSION, False),
        ("x + 1 if bool(x.sum() > 0) else x", Stage.CAPTURE, False),
    ],
)
def test_a_model_is_really_converted_by_openvino_and_run(
    tmp_path: Path, body: str, stage: Stage, predicted: bool | None
) -> None:
    pytest.importorskip("openvino", reason="180 MB: pip install 'opcheck[openvino]'")
    found = export(question(tmp_path, body, "openvino-cpu"))
    assert (found.run.stage, found.predicted) == (stage, predicted)
    assert found.came_through is (stage is Stage.PROVED)
    assert found.run.error or stage is Stage.PROVED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "body", "stage", "predicted"),
    [
        ("executorch-portable", "(x @ x.T).relu()", Stage.PROVED, True),
        ("executorch-portable", "torch.cumprod(x, 0)", Stage.CONVERSION, False),
        ("executorch-portable", "x.sort()[0]", Stage.RUNTIME, False),
        ("executorch-xnnpack", "x.sigmoid() + x.sinh()", Stage.PROVED, True),
        ("executorch-xnnpack", "x + 1 if bool(x.sum() > 0) else x", Stage.CAPTURE, False),
        ("executorch-vulkan", "x.sigmoid() + x.sinh()", Stage.CONVERTED, True),
        ("executorch-vulkan", "x.eq(float('inf'))", Stage.CONVERSION, False),
    ],
)
def test_a_model_is_really_lowered_by_executorch_and_run(
    tmp_path: Path, target: str, body: str, stage: Stage, predicted: bool | None
) -> None:
    pytest.importorskip("executorch", reason="pip install 'opcheck[executorch]'")
    found = export(question(tmp_path, body, target))
    assert (found.run.stage, found.predicted) == (stage, predicted)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "stage", "predicted"),
    [
        ("(x @ x.T).relu()", Stage.PROVED, True),
        ("(x * 2).long().sum()", Stage.PROVED, True),
        ("torch.cumprod(x, 0)", Stage.CONVERSION, False),
        ("torch.fft.rfft(x)", Stage.RUNTIME, False),
        ("x + 1 if bool(x.sum() > 0) else x", Stage.CAPTURE, False),
    ],
)
def test_a_model_is_really_converted_by_litert_and_run(
    tmp_path: Path, body: str, stage: Stage, predicted: bool | None
) -> None:
    pytest.importorskip("litert_torch", reason="pip install 'opcheck[litert]'")
    found = export(question(tmp_path, body, "litert-cpu"))
    assert (found.run.stage, found.predicted) == (stage, predicted)
    assert found.run.error or stage is Stage.PROVED


@pytest.mark.slow
def test_inputs_and_outputs_of_litert_go_by_their_names(tmp_path: Path) -> None:
    pytest.importorskip("litert_torch", reason="pip install 'opcheck[litert]'")
    import torch

    class Net(torch.nn.Module):
        def forward(self, named: Any, last: torch.Tensor) -> Any:
            whole = named["z"][1].sum()
            return {"b": named["q"] - last, "a": named["z"][0] * 3, "0": whole}

    x, wide = torch.ones(2, 3), torch.full((2, 3), 4.0)
    given = {"q": x, "z": (x * 2, torch.arange(3))}
    run = LiteRt().prove(Net(), (given,), {"last": wide}, str(tmp_path / "net.tflite"))
    assert (run.stage, run.error) == (Stage.PROVED, "")
    assert [each.dtype for each in run.differences] == ["float32", "float32", "int64"]


def test_an_error_of_litert_is_told_without_the_places_of_mlir() -> None:
    text = (
        "Failed to run converter passes:\n"
        "net.py:6:0: error: failed to legalize operation 'tfl.abs'\n"
        "net.py:6:0: note: see current operation\n"
    )
    assert LiteRt().told(ValueError(text)) == "ValueError: failed to legalize operation 'tfl.abs'"
    assert LiteRt().told(RuntimeError("Lowering not found: x\n\nWhile")) == (
        "RuntimeError: Lowering not found: x"
    )


@pytest.mark.slow
def test_inputs_find_their_places_in_what_openvino_converts(tmp_path: Path) -> None:
    pytest.importorskip("openvino", reason="180 MB: pip install 'opcheck[openvino]'")
    import torch

    class Net(torch.nn.Module):
        def forward(self, unread: object, named: Any, last: torch.Tensor) -> Any:
            return named["q"] - last, named["z"][1] * 3, named["h"] + 1

    x, wide = torch.ones(2, 3), torch.full((2, 3), 4.0)
    given = {"q": x, "h": x.bfloat16(), "z": (x, wide)}
    run = OpenVino().prove(Net(), (x, given), {"last": wide}, str(tmp_path / "net.xml"))
    assert (run.stage, run.error) == (Stage.PROVED, "")
    assert [each.dtype for each in run.differences] == ["float32", "float32", "bfloat16"]
    assert (tmp_path / "net.bin").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("body", "kept"), [("x.relu()", True), ("torch.cumprod(x, 0)", False)])
def test_a_model_of_openvino_is_kept_with_its_weights(
    tmp_path: Path, body: str, kept: bool
) -> None:
    pytest.importorskip("openvino", reason="180 MB: pip install 'opcheck[openvino]'")
    asked, path = question(tmp_path, body, "openvino-cpu"), tmp_path / "net.xml"
    found = export(
        ExportQuestion(asked.model, asked.target, output=str(path), output_of="openvino")
    )
    assert found.output == (str(path) if kept else "")
    assert (path.exists(), path.with_suffix(".bin").exists()) == (kept, kept)


def test_an_export_for_openvino_writes_a_file_of_weights_too() -> None:
    def files(vendor: str, path: str) -> tuple[str, ...]:
        return ExportRequest(ModelSpec("net.py:net"), "target", vendor, path).files

    assert files("openvino", "net.xml") == ("net.xml", "net.bin")
    assert files("onnxruntime", "net.onnx") == ("net.onnx",)
    assert files("openvino", "") == ()


def test_an_error_of_openvino_is_told_without_its_frame() -> None:
    text = (
        "Check 'false' failed at src/frontends/common/src/frontend.cpp:53:\n"
        "FrontEnd API failed with OpConversionFailure:\n"
        "Model wasn't fully converted.\n"
        "-- aten.abs.default with a message:\n"
        "[PyTorch Frontend] The operation doesn't allow complex type.\n"
        "Summary:\n"
        "-- Conversion is failed for: aten.abs.default\n"
    )
    assert OpenVino().told(RuntimeError(text)) == (
        "RuntimeError: aten.abs.default: The operation doesn't allow complex type."
    )


@pytest.mark.parametrize(
    ("exporter", "extra"),
    [(CoreMl(), "opcheck[coreml]"), (ExecuTorch(), "opcheck[executorch]"),
     (LiteRt(), "opcheck[litert]"), (OnnxRuntime(), "opcheck[onnx]"),
     (OpenVino(), "opcheck[openvino]")],
)  # fmt: skip
def test_without_the_libraries_the_extra_is_named(
    exporter: Exporter, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporter, "libraries", ("no_such_library",))
    with pytest.raises(UsageError, match="no_such_library is not installed") as error:
        exporter.require_installed()
    assert extra in str(error.value.hint)


FIXED = replace(
    ended(Stage.CAPTURE, False, "UserError: You marked L['x'].size()[0] as dynamic"),
    sizes=(
        SiteTaken(
            Site(SiteKind.SHAPE_BRANCH, "", "", "net.py", 7, 1, "3 == 3 is True with x:0 = 3"),
            Taking.NOT_ALLOWED, "torch.export raises", Confidence.MEDIUM, (),
        ),
    ),
)  # fmt: skip
FIXED = replace(FIXED, run=replace(FIXED.run, cause=Cause.SIZE))


def test_a_page_tells_which_line_keeps_a_marked_size_fixed() -> None:
    assert text_view.render(FIXED).splitlines() == [
        "✘ net.py:net on onnxruntime-cpu@1.32.0+torch2.13: torch.export cannot capture it",
        "  the code holds for one size alone of what --dynamic marks",
        "  UserError: You marked L['x'].size()[0] as dynamic",
        "",
        "  ✘ captured by torch.export",
        "  - converted",
        "  - run by the runtime",
        "  - gives PyTorch's values",
        "",
        "✔ the scan says that it does not run, and that is what happened",
        "  net.py:7: 3 == 3 is True with x:0 = 3; torch.export raises",
        "",
        "with",
    ]


@pytest.mark.parametrize(("cause", "told"), [
    (Cause.VALUE, "  Python decides by a value of a tensor, and the graph is made without values"),
    (Cause.NUMBER,
     "  Python needs a number that a tensor holds, and the graph is made without"),
    (Cause.DATA_SIZE,
     "  code decides by a size that depends on values, as of what a mask or nonzero"),
    (Cause.CACHE,
     "  its forward gives a cache for the next token: use_cache=False in the call, or"),
    (Cause.CLASS, "  its forward takes or gives an object of a class that torch.export does not"),
    (Cause.OTHER, "  GuardOnDataDependentSymNode: Eq(u0, 1)"),
])  # fmt: skip
def test_a_page_tells_the_line_of_the_model_that_is_not_captured(cause: Cause, told: str) -> None:
    run = ExportRun(
        Stage.CAPTURE, "GuardOnDataDependentSymNode: Eq(u0, 1)", cause=cause, place="net.py:7",
        code="if y.sum() > 3:",
    )  # fmt: skip
    lines = text_view.render(ExportAnswer("net.py:net", TARGET, run, True)).splitlines()
    assert lines[1:3] == ["  net.py:7: if y.sum() > 3:", told]


def test_a_page_tells_the_other_size_that_the_file_was_run_with() -> None:
    answer = replace(PROVED, run=replace(PROVED.run, sizes=(("x:0", 3), ("y:0", 3))))
    assert "  the same with x:0 = 3, y:0 = 3" in text_view.render(answer).splitlines()
    other = replace(answer, run=replace(answer.run, stage=Stage.RUNTIME))
    assert "  it ended with x:0 = 3, y:0 = 3" in text_view.render(other).splitlines()


CAUSES = {
    "x * 2 if x.sum() > 3 else x": Cause.VALUE,
    "torch.stack([x[i] for i in range(int(x.argmax()) // 3)])": Cause.NUMBER,
    "x if x[x > 0.2].shape[0] > 3 else -x": Cause.DATA_SIZE,
    "x + (1 if x.shape[0] == 2 else 2)": Cause.SIZE,
    "(x, __import__('transformers').DynamicCache())": Cause.CACHE,
    "(x, __import__('decimal').Decimal(1))": Cause.CLASS,
    "torch.from_numpy(x.numpy())": Cause.OTHER,
}


@pytest.mark.slow
@pytest.mark.parametrize("body", CAUSES)
def test_what_ends_a_capture_is_told_with_the_line(tmp_path: Path, body: str) -> None:
    from opcheck.exporting.captured import captured, not_captured

    file = tmp_path / "net.py"
    file.write_text(MODEL.format(body=body))
    space: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    model, inputs = space["net"]()
    with pytest.raises(Exception) as error:  # whatever torch.export raises
        captured(model, inputs, {}, dynamic_inputs(["x:0"]))
    found = not_captured(error.value, model)
    assert (found.stage, found.cause) == (Stage.CAPTURE, CAUSES[body])
    if found.cause in (Cause.CACHE, Cause.CLASS):
        assert (found.place, found.code) == ("net.py:5", "def forward(self, x):")
    elif found.cause is not Cause.SIZE:  # torch.export says it after the capture, of no line
        assert (found.place, found.code) == ("net.py:6", f"return {body}"[:100])


@pytest.mark.slow
@pytest.mark.parametrize(("body", "stage", "predicted", "sizes"), [
    ("x.relu() @ x.t()", Stage.PROVED, True, (("x:0", 3),)),
    ("x + 1 if x.shape[0] == 2 else x", Stage.CAPTURE, False, ()),
    ("torch.kron(x, x)", Stage.CAPTURE, False, ()),
])  # fmt: skip
def test_a_marked_size_is_left_open_and_tried(
    tmp_path: Path, body: str, stage: Stage, predicted: bool, sizes: tuple[tuple[str, int], ...]
) -> None:
    pytest.importorskip("onnxruntime", reason="120 MB: pip install 'opcheck[onnx]'")
    asked = question(tmp_path, body)
    marked = replace(asked, model=replace(asked.model, dynamic=dynamic_inputs(["x:0"])))
    found = export(marked)
    assert (found.run.stage, found.predicted, found.run.sizes) == (stage, predicted, sizes)
    assert bool(found.sizes) is not predicted


@pytest.mark.slow
def test_openvino_takes_a_marked_size_open(tmp_path: Path) -> None:
    pytest.importorskip("openvino", reason="180 MB: pip install 'opcheck[openvino]'")
    import torch

    class Net(torch.nn.Module):
        def forward(self, unread: object, x: torch.Tensor, y: torch.Tensor) -> Any:
            return x.relu() @ y

    inputs = (torch.ones(1), torch.ones(2, 3))
    run = OpenVino().prove(
        Net(), inputs, {"y": torch.ones(3, 4)}, str(tmp_path / "net.xml"),
        marked=dynamic_inputs(["x:0"]),
    )  # fmt: skip
    assert (run.stage, run.error, run.sizes) == (Stage.PROVED, "", (("x:0", 3),))


def test_executorch_takes_no_size_without_bounds(tmp_path: Path) -> None:
    from torch import nn

    with pytest.raises(UsageError, match="plans memory for the largest sizes") as error:
        ExecuTorch().prove(
            nn.ReLU(), (), {}, str(tmp_path / "x.pte"), marked=dynamic_inputs(["x:0"])
        )
    assert "max=SIZE" in str(error.value.hint)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("coreml-cpu@9.0", "only Apple's own systems run it"),
        ("executorch-vulkan@1.4.1+torch2.13", "the wheel's runtime lacks the delegate"),
    ],
)
def test_a_model_that_nothing_here_runs_is_told_as_converted(target: str, said: str) -> None:
    run = ExportRun(Stage.CONVERTED, operators=(("relu", 1),))
    answer = ExportAnswer("net.py:net", target, run, True, predicted=True)
    page = text_view.render(answer)
    assert said in " ".join(page.split())
    assert "run by the runtime" not in page
    assert answer.came_through
    assert answer.agrees is None
