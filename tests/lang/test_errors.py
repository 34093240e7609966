"""Every error is a sentence of the catalogue with its arguments, and is told in Chinese whole."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from opcheck.errors import OpcheckError, SourceError, UsageError
from opcheck.lang.sentence import Sentence, chained, sentence_of, verbatim
from opcheck.lang.speech import Language, catalogue, speaking, tell
from opcheck.model.codec import sentence_from_json, to_json
from opcheck.source.building.failures import failed
from opcheck.source.pt2.check import what_is
from opcheck.source.pt2.targets import parse_target
from tests.lang.messages import PACKAGE, is_prose, nodes_of

MAKERS = frozenset({"Sentence", "verbatim", "sentence_of", "chained"})
"""What gives a sentence."""
WORDS = re.compile(r"[A-Za-z]{2}")
PLACE = re.compile(r"\{[^{}]*\}")


class Call(NamedTuple):
    """A call in the sources of the package."""

    where: str
    name: str
    node: ast.Call


@cache
def nodes() -> tuple[tuple[Path, ast.AST], ...]:
    """Every node of the sources."""
    return tuple(
        (path.relative_to(PACKAGE.parent), node)
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in nodes_of(path)
    )


@cache
def calls() -> tuple[Call, ...]:
    return tuple(
        Call(f"{path}:{node.lineno}", _last(node.func), node)
        for path, node in nodes()
        if isinstance(node, ast.Call)
    )


@cache
def errors() -> frozenset[str]:
    """``OpcheckError`` and all that derive from it, and what options are refused with."""
    bases = {
        node.name: {_last(base) for base in node.bases}
        for _, node in nodes()
        if isinstance(node, ast.ClassDef)
    }
    known = {OpcheckError.__name__, "BadParameter"}
    while more := {name for name, above in bases.items() if above & known} - known:
        known |= more
    return frozenset(known)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def texts(node: ast.expr) -> Iterator[str]:
    """The literal texts that an expression may be, without what stands in calls."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr():
            yield ast.unparse(node)
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            yield from texts(one)
            yield from texts(other)
        case ast.BoolOp(values=values):
            for value in values:
                yield from texts(value)


def given(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def test_no_error_is_made_with_finished_english() -> None:
    """mypy wants a sentence there; this shows that none is given as a text with an ignore."""
    made = [call for call in calls() if call.name in errors()]
    assert len(made) > 400
    assert [call.where for call in made for value in given(call.node) if [*texts(value)]] == []


def test_our_words_are_never_given_as_those_of_others() -> None:
    """``verbatim`` takes what a library says, or a name; so does the text of an exception of ours.

    ``ValueError(Sentence(...))`` keeps its parts for the error that takes it over.
    """
    given_words = {
        (call.where, text)
        for call in calls()
        if call.name in {"verbatim", "sentence_of"}
        for value in given(call.node)
        for text in texts(value)
        if is_prose(text)
    }
    assert given_words == set()


def templates_of_sources() -> Iterator[tuple[Call, str]]:
    """Every template with words that the sources make a sentence of."""
    for call in calls():
        if call.name == "Sentence" and call.node.args:
            for text in texts(call.node.args[0]):
                if not text.startswith("f'") and WORDS.search(PLACE.sub("", text)):
                    yield call, text


def test_every_sentence_in_the_sources_is_in_the_catalogue() -> None:
    known = catalogue(Language.CHINESE).templates
    templates = {text: call.where for call, text in templates_of_sources()}
    assert len(templates) > 700
    assert {text: where for text, where in templates.items() if text not in known} == {}


def test_no_argument_of_a_sentence_is_english_prose() -> None:
    """Words that stand in a place are a sentence themselves, or they would stay English.

    In reasons, constant words of a place are looked up: reports have them as texts.
    """
    prose = {
        (call.where, text)
        for call in calls()
        if call.name == "Sentence" and not call.where.startswith("opcheck/resolve/")
        for keyword in call.node.keywords
        for text in texts(keyword.value)
        if is_prose(text)
    }
    assert prose == set()


def test_an_error_is_told_whole() -> None:
    error = UsageError(
        Sentence("--step {text}: cannot cast to {text_dtype}", text="'x'", text_dtype="'int3'")
    )
    assert error.message == str(error) == "--step 'x': cannot cast to 'int3'"
    with speaking(Language.CHINESE):
        assert tell(error.message) == "--step 'x'：无法转换为 'int3'"
        what = Sentence("{name}() of {text}", name="build", text="net.py")
        assert tell(failed(what, KeyError("x")).message) == "net.py 的 build() 抛出 KeyError：'x'"


def test_words_of_others_are_never_taken_for_ours() -> None:
    """A library may say what a message of ours says."""
    with speaking(Language.CHINESE):
        assert tell(Sentence("no such file")) == "没有这个文件"
        assert tell(verbatim("no such file")) == "no such file"
        assert tell(sentence_of(ValueError("no such file"))) == "no such file"
        assert tell(sentence_of(ValueError(Sentence("no such file")))) == "没有这个文件"


def test_an_error_is_not_recognised_from_its_english() -> None:
    with speaking(Language.CHINESE):
        error = Sentence("{text} is not JSON: {text_why}", text="a", text_why="b")
        assert tell(error) == "a 不是 JSON：b"
        assert tell(str(error)) == "a is not JSON: b"


def test_details_of_a_damaged_program_are_sentences() -> None:
    """They stand in the error that takes them over, and are told with it."""
    rooms = ("opcheck/source/pt2/", "opcheck/source/building/pt2/")
    raised = [
        call
        for call in calls()
        if call.name in {"ValueError", "RefusedError"} and call.where.startswith(rooms)
    ]
    assert len(raised) > 70
    assert [call.where for call in raised for value in given(call.node) if [*texts(value)]] == []
    with pytest.raises(ValueError, match="no operator") as refused:
        parse_target("os.system")
    with speaking(Language.CHINESE):
        assert tell(what_is(refused.value)) == "它调用 'os.system'，这不是算子"


def test_sentences_in_a_row_have_the_signs_of_the_language() -> None:
    both = chained([Sentence("no such file"), Sentence("at once")], "; ")
    assert both == "no such file; at once"
    with speaking(Language.CHINESE):
        assert tell(both) == "没有这个文件；一开始就"


@pytest.mark.parametrize(
    "message",
    [
        Sentence("no such file"),
        Sentence("{text_file}: {said}", text_file=Path("a.py"), said=Sentence("no such file")),
        verbatim("whatever {text} a library says"),
    ],
)
def test_an_error_of_another_process_keeps_its_parts(message: Sentence) -> None:
    sent = json.dumps(to_json(SourceError(message).message))
    found = sentence_from_json(json.loads(sent))
    assert (found, found.template, found.arguments) == (
        message,
        message.template,
        message.arguments,
    )


def test_a_text_of_another_process_is_somebody_elses() -> None:
    with speaking(Language.CHINESE):
        assert tell(sentence_from_json("no such file")) == "no such file"
