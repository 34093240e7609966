"""Documents carry what sentences are made of, and give them back when they are read."""

from typing import Any

import pytest

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence, sentences
from opcheck.model.report import Reason
from opcheck.model.trace import Gap, run_ended
from opcheck.views.document.parts import gap_value, reason_value
from opcheck.views.document.reading import Node, read_gap, read_reason

LACKS = Sentence("{vendor} registers no kernel for {op}", vendor="ascend", op="aten::relu")
REASON = Reason("no-kernel", Sentence("it runs as {op}: {said}", op="aten::relu", said=LACKS))
VALUE = {
    "code": "no-kernel",
    "text": "it runs as aten::relu: ascend registers no kernel for aten::relu",
    "arguments": {
        "op": "aten::relu",
        "said": {
            "text": "ascend registers no kernel for aten::relu",
            "arguments": {"vendor": "ascend", "op": "aten::relu"},
        },
    },
}


def node(value: object) -> Node:
    return Node(value, "report", Sentence("a report"))


def parts(text: str) -> list[tuple[str, dict[str, str]]]:
    return [(part.template, dict(part.arguments)) for part in sentences(text)]


def test_a_reason_is_written_with_its_arguments_and_read_with_its_template() -> None:
    assert reason_value(REASON) == VALUE
    found = read_reason(node(VALUE))
    assert found == REASON
    assert parts(found.text) == parts(REASON.text)


def test_a_plain_text_has_no_arguments() -> None:
    assert reason_value(Reason("a", "words")) == {"code": "a", "text": "words"}


def test_a_gap_is_written_with_its_code_and_read_again() -> None:
    gap = run_ended("head", "killed")
    assert gap_value(gap) == {
        "where": "head",
        "code": "run-ended",
        "reason": "the run ended here: killed",
        "arguments": {"said": "killed"},
    }
    found = read_gap(node(gap_value(gap)))
    assert (found, found.code) == (gap, "run-ended")
    assert parts(found.reason) == parts(gap.reason)


@pytest.mark.parametrize(
    ("reason", "code"), [("the run ended here: killed", "run-ended"), ("not run", "not-seen")]
)
def test_a_gap_of_before_there_were_codes_is_read(reason: str, code: str) -> None:
    found = read_gap(node({"where": "head", "reason": reason}))
    assert (found, found.code) == (Gap("head", reason), code)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"op": "aten::relu"},
        {"vendor": "{op}", "op": "aten::relu"},
        {"vendor": "ascend", "op": "another"},
        {"said": "ascend registers no kernel for aten::relu"},
        {"{op}": "x", "__class__": "y"},
    ],
    ids=str,
)
def test_arguments_that_do_not_give_the_text_leave_it_plain(arguments: Any) -> None:
    text = "ascend registers no kernel for aten::relu"
    found = read_reason(node({"code": "a", "text": text, "arguments": arguments}))
    assert (found.text, parts(found.text)) == (text, [(text, {})])


@pytest.mark.parametrize("arguments", [[], "text", {"op": 1}, {"op": {"arguments": {}}}], ids=str)
def test_what_are_no_arguments_is_refused(arguments: Any) -> None:
    with pytest.raises(UsageError):
        read_reason(node({"code": "a", "text": "b", "arguments": arguments}))


def test_deep_arguments_are_read() -> None:
    value: Any = {"text": "x"}
    for _ in range(200):
        value = {"text": "x", "arguments": {"said": value}}
    assert read_reason(node({"code": "a", **value})).text == "x"
