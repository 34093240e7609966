"""The page of what really happens counts right, wrong and unknown answers apart."""

import torch

from benchmarks.exports import delegated, dynamic_page
from benchmarks.exports.__main__ import (
    COREML,
    OPENVINO,
    counts,
    page,
    unknown,
    wrong,
)
from benchmarks.exports.compared import Compared, Said
from benchmarks.exports.happened import MODEL, OPERATOR, Call, opened
from benchmarks.exports.placed import DELEGATED, GONE, LEFT, PARTLY, PlacedCall
from opcheck.model.dynamic import DynamicInput
from opcheck.model.exporting import Stage


def row(case: str, stage: Stage, said: Said, error: str = "") -> Compared:
    kind = case.split()[0]
    dtype = "float32" if kind == OPERATOR else ""
    return Compared(case, kind, dtype, stage, error, said)


ROWS = (
    row("model net", Stage.PROVED, Said(True, True)),
    row("model other", Stage.CAPTURE, Said(None, None), "Guard: u0"),
    row("operator add float32", Stage.VALUES, Said(True, True)),
    row("operator sin float32", Stage.RUNTIME, Said(True, False), "no kernel | of Sin"),
    row("operator cos float32", Stage.CONVERSION, Said(True, True), "<none> for cos"),
)


def test_a_refusal_of_the_runtime_is_converted_and_does_not_run() -> None:
    assert (ROWS[3].conversion, ROWS[3].running) == (True, True)
    assert (ROWS[4].conversion, ROWS[4].running) == (False, False)
    assert (ROWS[1].conversion, ROWS[1].running) == (None, None)


def test_counts_leave_out_of_the_rate_what_was_not_said() -> None:
    assert counts(ROWS, "conversion") == "3 | 1 | 1 | 75.0%"
    assert counts(ROWS[1:2], "running") == "0 | 0 | 1 | -"


def test_the_page_lists_what_was_wrong_alone() -> None:
    assert list(wrong(ROWS)) == [
        "| operator cos float32 | conversion: none> for cos | it runs |",
    ]
    written = page(ROWS)
    assert "2 models and 3 operators were exported." in written
    assert "| models of the zoo | 2 | conversion | 1 | 0 | 1 | 100.0% |" in written
    assert "| operators | 0 | 1 | 1 | 1 | 0 |" in written
    assert MODEL in written


def test_the_page_of_open_dimensions_counts_operators_and_models_apart() -> None:
    rows = (
        row(
            "dynamic-model net", Stage.CAPTURE, Said(None, None, "shape-branch: nobody | has said")
        ),
        row("dynamic-operator add float32", Stage.PROVED, Said(True, True)),
        row("dynamic-operator cos float32", Stage.RUNTIME, Said(True, True), "Slice"),
    )
    written = dynamic_page.section(rows, 3, "onnxruntime-cpu")
    assert "2 operators and 1 models were exported; 3 more have no sample" in written
    assert "| operators | 2 | conversion | 2 | 0 | 0 | 100.0% |" in written
    assert "| operators | 2 | running | 1 | 1 | 0 | 50.0% |" in written
    assert "| dynamic-operator cos float32 | runtime: Slice | it runs |" in written
    assert "| dynamic-model net | capture | shape-branch: nobody \\| has said |" in written


def test_what_is_left_open_is_what_the_model_takes_longer() -> None:
    def named(*found: DynamicInput) -> list[str]:
        return [str(each) for each in found]

    x, y = torch.ones(3, 2), torch.ones(3, 2)
    both = Call(torch.add, (x, y), {})
    assert named(*opened(both, both.inputs, {})) == ["0:0", "1:0"]
    alone = Call(torch.mm, (x, torch.ones(2, 3)), {})
    assert named(*opened(alone, alone.inputs, {})) == ["0:0"]
    fixed = Call(lambda t: t.reshape(3, 2), (x,), {})
    assert opened(fixed, fixed.inputs, {}) == ()
    assert opened(both, (torch.ones(1, 2), torch.ones(1, 2)), {}) == ()


def test_the_page_of_openvino_counts_what_is_not_said_by_cause() -> None:
    why = "aten::{op}: not-looked-up: whether it converts was not looked up"
    rows = (
        row("operator a float32", Stage.PROVED, Said(None, None, why.format(op="a"))),
        row("operator b float32", Stage.CONVERSION, Said(None, None, why.format(op="b"))),
        row("operator c float32", Stage.PROVED, Said(True, True)),
    )
    line = "| not-looked-up: whether it converts was not looked up | 2 | 1 | a, b |"
    assert list(unknown(rows)) == [line]
    assert line in page(rows, OPENVINO)
    assert line not in page(rows)


def test_what_was_measured_before_it_was_mended_stands_on_the_page_of_its_target_alone() -> None:
    rows = [row("operator abs float32", Stage.CONVERTED, Said(True, True))]
    line = "| the first 120 | | | | 89.0% of 292 |"
    assert line in page(rows, COREML).splitlines()
    assert line not in page(rows, OPENVINO).splitlines()


def test_a_call_of_which_a_part_is_left_is_not_delegated() -> None:
    parts = ("aten::cat",)
    rows = tuple(
        delegated.PlaceSaid("model net", MODEL, PlacedCall("aten::cat", (), place, parts), said, "")
        for place, said in (
            (DELEGATED, DELEGATED), (PARTLY, DELEGATED), (PARTLY, LEFT), (GONE, LEFT),
            (LEFT, delegated.NO_PLACE),
        )
    )  # fmt: skip
    assert delegated.rates(rows) == {MODEL: (2, 3)}
    assert list(delegated.classes(rows)) == [
        "| aten::cat | delegated | left | 1 | left: aten::cat |"
    ]
    counted = list(delegated.table(delegated.Held(rows, (), 0)))
    assert counted[2] == "| calls of models | delegated | 1 | 1 | 0 |"
    assert counted[3] == "| calls of models | left | 0 | 1 | 1 |"
    assert counted[4] == "| calls of models | does not run, or unknown | 0 | 1 | 0 |"
