"""What is told is one language or the other: no English words stand within a Chinese sentence."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from opcheck.db.by_hand.advice import sentence
from opcheck.db.store import Database
from opcheck.lang.sentence import Sentence, from_data
from opcheck.lang.speech import Language, speaking, tell
from opcheck.views.formats import Page, report_view
from tests.lang.messages import PACKAGE, Message, is_prose, literals, nodes_of
from tests.lang.test_catalogue import KNOWN, fixed
from tests.lang.test_languages import texts_of
from tests.views.plans import PLANS
from tests.views.samples import STANDARD

QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|“[^”]*”")
SENTENCE = re.compile(r"[：；。()（）]|\s{2,}")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
ITEM = re.compile(r"^(?=\S|  - )", re.MULTILINE)
"""Where a key of a file of the database begins, or an item of its list."""
UNTOLD = re.compile(r"[A-Za-z]+(?: [a-z]+){3,}")
"""Four words of English in a row."""
CHINESE = re.compile(r"[\u4e00-\u9fff]")
SMALL_WORDS = re.compile(
    r"(?<![\w.:/=-])(?:is|are|the|of|has|have|which|while|not|no|it|its|for|with|on|by|and|that|an?|or)"
    r"(?![\w.:/=(-])"
)
VALUES = {"argument": "self", "actual": "int64", "chip": "910b", "target": "ascend-910b"}
DECLINED = (
    "rewrite/candidates.py",
    "rewrite/custom/base.py",
    "rewrite/custom/signature.py",
    "rewrite/custom/suggest.py",
    "rewrite/parts/program.py",
    "rewrite/planner.py",
    "rewrite/record.py",
    "rewrite/rules",
    "rewrite/same_overload.py",
    "rewrite/source/call_sites.py",
    "rewrite/structural/fixed_size.py",
    "rewrite/structural/masked_lines.py",
    "rewrite/structural/mask_to_where.py",
)
"""Where it is said why a way is none, and what the others give up."""
CLAUSES = ("choices@*.yaml", "earlier.yaml")
"""PyTorch's tables whose texts reports say."""
RAISED = re.compile(r"\w+_ expects |side can only|renorm: |lengths or offsets")
"""What a stand-in raises in PyTorch's own words."""


def mixed(text: str) -> list[str]:
    """The sentences of a told text that have words of both languages, quotes left out."""
    parts = SENTENCE.split(QUOTED.sub(" ", text))
    return [part for part in parts if CHINESE.search(part) and SMALL_WORDS.search(part)]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "text" and isinstance(inner, str):
                yield inner
            else:
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


@cache
def conditions() -> tuple[str, ...]:
    """Every text of a condition, in the database's files and as a table of all vendors makes it.

    With the clauses of PyTorch's own tables, that say why a call runs as it does on a device.

    What releases have in common is read once.
    """
    items: set[str] = set()
    for path in (PACKAGE.parent / "compat_db").rglob("*.yaml"):
        _, _, after = path.read_text(encoding="utf-8").partition("\nconditions:\n")
        items.update(item for item in ITEM.split(after) if "text" in item)
    tables = [(PACKAGE.parent / "compat_db" / "pytorch").glob(name) for name in CLAUSES]
    read = [yaml.load(path.read_text(encoding="utf-8"), LOADER) for path in chain(*tables)]
    texts = {text for item in items for text in _texts(yaml.load(item, LOADER))}
    texts.update(said["text"] for made in Database.open().additions for said in made.conditions)
    texts.update(text for data in read for text in _texts(data))
    return tuple(sorted(texts))


def filled(text: str) -> str:
    """The text of a condition as a call would fill it."""
    return re.sub(r"\{(\w+)\}", lambda place: VALUES.get(place[1], "word"), text)


def test_a_half_told_sentence_is_seen() -> None:
    assert mixed("complex tensors cannot be made while jit_compile 为 on")
    assert not mixed('self 为 int64：kernel 报错 "it is not supported"')


@pytest.mark.slow
def test_no_condition_mixes_languages() -> None:
    assert len(conditions()) > 300
    with speaking(Language.CHINESE):
        told = {text: tell(from_data(filled(text))) for text in conditions()}
    assert {text: said for text, said in told.items() if mixed(said)} == {}


@pytest.mark.slow
@pytest.mark.parametrize("how", [filled, str], ids=["of one use", "of several"])
def test_every_condition_has_its_chinese(how: Callable[[str], str]) -> None:
    """But for those that are the vendor's own words, in quotes."""
    with speaking(Language.CHINESE):
        told = {text: tell(from_data(how(text))) for text in conditions()}
    english = [text for text, said in told.items() if not CHINESE.search(said)]
    assert [text for text in english if is_prose(QUOTED.sub("", text))] == []


@pytest.mark.slow
@pytest.mark.parametrize("how", [filled, str], ids=["of one use", "of several"])
def test_every_advisory_is_told_whole(how: Callable[[str], str]) -> None:
    """What goes wrong, in which release it is mended, and what to do until then."""
    paths = (PACKAGE.parent / "compat_db" / "advisories").rglob("*.yaml")
    found = [yaml.load(path.read_text(encoding="utf-8"), LOADER) for path in paths]
    assert len(found) > 400
    with speaking(Language.CHINESE):
        told = {said["id"]: tell(from_data(how(sentence(said)))) for said in found}
    english = {name: UNTOLD.findall(QUOTED.sub(" ", said)) for name, said in told.items()}
    assert {name: words for name, words in english.items() if words} == {}


@pytest.mark.parametrize("sample", [*STANDARD, *PLANS])
def test_no_line_of_a_report_mixes_languages(sample: str) -> None:
    report = {**STANDARD, **PLANS}[sample]
    with speaking(Language.CHINESE):
        page = Page(width=10_000, verbose=True, explain=True)
        told = report_view("text").render(report, page) + report_view("text").render(report, page)
    for brought in sorted(texts_of(report), key=len, reverse=True):
        told = told.replace(brought, "") if " " in brought else told
    assert [part for line in told.splitlines() for part in mixed(line)] == []


@pytest.mark.parametrize(
    "text",
    [
        "a word of a sentence that nobody wrote; the kernel hands the call to the host CPU",
        "on the acl_op path, which 910a takes while jit_compile is on (the default), nobody knows",
    ],
)
def test_what_is_half_known_stays_english(text: str) -> None:
    with speaking(Language.CHINESE):
        assert mixed(tell(from_data(text))) == []
        assert tell(from_data(text)).startswith(text[:20])


def test_after_a_colon_english_stands_alone() -> None:
    with speaking(Language.CHINESE):
        hint = Sentence("hint: {said}", said="nobody wrote this sentence")
        assert tell(hint) == "提示：nobody wrote this sentence"


def _reasons() -> list[Message]:
    paths = [PACKAGE / name for name in DECLINED]
    files = [f for path in paths for f in ([path] if path.suffix else sorted(path.rglob("*.py")))]
    return [
        message
        for path in files
        for message in literals(path)
        if is_prose(message.text) and "\n" not in message.text
        if not RAISED.match(message.text) and message.line not in raised(path)
    ]


@cache
def raised(path: Path) -> frozenset[int]:
    """The lines of errors in finished English: those of a rule's code, which is the user's then."""
    return frozenset(
        node.exc.args[0].lineno
        for node in nodes_of(path)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args
        if isinstance(node.exc.args[0], ast.JoinedStr)
    )


REASONS = _reasons()


def test_there_are_reasons() -> None:
    assert len(REASONS) > 150


@pytest.mark.parametrize("message", REASONS, ids=lambda message: f"{message.path}:{message.line}")
def test_a_reason_has_its_chinese(message: Message) -> None:
    missing = [part for part in fixed(message.text) if part not in KNOWN]
    assert not missing, f"zh.po has no message with {missing}: add {message.text!r}"
