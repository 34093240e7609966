"""No message is said as finished English, but by data: what is told keeps what it is made of."""

import ast
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from opcheck.lang.catalogue import BY_TEMPLATE, read_po
from opcheck.lang.speech import Language, catalogue
from opcheck.lang.template import places
from tests.lang.data_texts import texts_of_database, used_by_database
from tests.lang.messages import PACKAGE, PLACE, literals, shape, text_of
from tests.lang.test_catalogue import CATALOGUE, SHAPES, words_of
from tests.lang.test_errors import WORDS, calls, nodes, texts

HEADER, *ENTRIES = read_po(CATALOGUE.read_text(encoding="utf-8"), CATALOGUE.name)
TELLERS = frozenset({"tell", "split", "prose", "markup", "translated", "from_data"})
"""What shows a text in the reader's language."""
DATABASE = ("opcheck/db/conditions.py", "opcheck/db/contradictions.py", "opcheck/db/store.py")
"""Where texts of conditions are made that a line of the database stands for."""
OF_DATA = frozenset({"db/audit", "db/importers", "db/probe_overlay.py", "db/schema"})
"""Rooms that write texts into the database, or tell of one to those who edit it."""
OTHERS = frozenset(
    {
        "opcheck/emulate/errors.py",  # a note of an exception, as the vendor's runtime has it
        "opcheck/model/codec.py",  # between processes: a bug says it
        "opcheck/runtime/inferencer.py",  # a library's warnings and failures
        "opcheck/runtime/precision.py",
        "opcheck/commands/doctor/checks/torch_builds.py",  # names with versions
        "opcheck/commands/doctor/pairing.py",
        "opcheck/commands/choose/views/text.py",
        "opcheck/views/terminal/emulation.py",
        "opcheck/views/targets.py",
        "opcheck/rewrite/text.py",  # code that is written
    }
)
RETURNING = (
    "resolve", "rewrite", "trace", "emulate", "sandbox", "source", "db", "commands/fleet/engine.py",
)  # fmt: skip
"""Rooms whose sentences stand in reports and stores, which older versions wrote without parts."""


def modules(room: str) -> Iterator[Path]:
    """The modules of a room; of the database, those that make texts of conditions."""
    if room == "db":
        yield from (PACKAGE.parent / name for name in DATABASE)
        yield from (PACKAGE / "db/importers").rglob("*.py")
    elif room.endswith(".py"):
        yield PACKAGE / room
    else:
        yield from (PACKAGE / room).rglob("*.py")


def templates() -> frozenset[int]:
    """The nodes that stand in the template of a sentence."""
    return frozenset(
        id(node)
        for call in calls()
        if call.name == "Sentence" and call.node.args
        for node in ast.walk(call.node.args[0])
    )


def finished() -> Iterator[tuple[str, str]]:
    """Every text with places that is filled in where it is written, as a template."""
    inside = templates()
    for path, node in nodes():
        where = path.as_posix()
        if id(node) in inside or where in (*DATABASE, *OTHERS) or where.startswith("opcheck/lang/"):
            continue
        if any(where.startswith(f"opcheck/{room}") for room in OF_DATA):
            continue
        if isinstance(node, ast.JoinedStr):
            yield f"{where}:{node.lineno}", shape(text_of(node))


def test_no_message_is_filled_in_where_it_is_written() -> None:
    """An f-string of the shape of a message would be finished English, and stay that."""
    found = [
        (where, text)
        for where, text in finished()
        if WORDS.search(text.replace(PLACE, "")) and PLACE in text and text in SHAPES
    ]
    assert found == []


def test_what_is_told_is_not_put_together_there() -> None:
    """``tell`` takes a sentence: an f-string, a sum or a join has lost its parts."""
    told = [call for call in calls() if call.name in TELLERS and call.node.args]
    assert len(told) > 300
    made = [call.where for call in told if _is_put_together(call.node.args[0])]
    assert [where for where in made if not where.startswith("opcheck/db/")] == []


def _is_put_together(node: ast.expr) -> bool:
    match node:
        case ast.JoinedStr(values=values):
            return any(isinstance(value, ast.FormattedValue) for value in values)
        case ast.BinOp():
            return True
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join" | "format")):
            return True
        case ast.IfExp(body=one, orelse=other):
            return _is_put_together(one) or _is_put_together(other)
    return False


def test_a_template_with_a_choice_in_it_is_a_message_each_time() -> None:
    """``Sentence(f"{how} of {{arg}}")``: some message is what it comes to."""
    known = catalogue(Language.CHINESE).templates
    open_ = [call for call in calls() if call.name == "Sentence" and call.node.args]
    chosen = [call for call in open_ if isinstance(call.node.args[0], ast.JoinedStr)]
    assert len(chosen) > 20
    assert [call.where for call in chosen if not _fits(call.node.args[0], known)] == []


def _fits(node: ast.expr, known: object) -> bool:
    assert isinstance(node, ast.JoinedStr)
    parts = [str(v.value) if isinstance(v, ast.Constant) else None for v in node.values]
    if not WORDS.search(re.sub(r"\\{\\w*\\}", "", "".join(filter(None, parts)))):
        return True  # no words of ours: a sign behind a sentence
    pattern = re.compile("".join(".*" if p is None else re.escape(p) for p in parts), re.DOTALL)
    return any(map(pattern.fullmatch, known))  # type: ignore[call-overload]  # texts


COUNTED = {"plural": "", "and_more": "more ", "more": "more ", "write_left_out": "more "}
"""What takes a count and a noun, and what it puts before the noun."""


def nouns() -> Iterator[tuple[str, str]]:
    for call in calls():
        if call.name in COUNTED and len(call.node.args) > 1:
            for noun in texts(call.node.args[-1]):
                if noun and not noun.startswith("f'"):
                    yield call.where, f"{COUNTED[call.name]}{noun}"


def test_every_noun_that_is_counted_is_in_the_catalogue() -> None:
    known = catalogue(Language.CHINESE).templates
    found = {noun: where for where, noun in nouns()}
    assert len(found) > 40
    forms = {f"{{count}} {noun}{ending}": at for noun, at in found.items() for ending in ("", "s")}
    assert {form: at for form, at in forms.items() if form not in known} == {}


@pytest.mark.slow
def test_a_message_is_looked_for_in_texts_only_where_data_says_it() -> None:
    """The others have the flag, so that nothing is taken for them."""
    used = used_by_database(HEADER, tuple(ENTRIES))
    assert len(texts_of_database()) > 1500
    assert len(used) > 200
    returning = [
        set(chain.from_iterable(words_of(m.text) for path in modules(room) for m in literals(path)))
        for room in RETURNING
    ]
    facts = (PACKAGE / "db/importers").rglob("*.yaml")  # what an import writes
    returning.append(set(chain.from_iterable(words_of(path.read_text("utf-8")) for path in facts)))
    idle = [
        entry.english
        for entry in ENTRIES
        if places(entry.english) and not entry.by_template and entry.english not in used
        if not any(words_of(entry.english) <= words for words in returning)
    ]
    assert idle == [], f"no data says it: #, {BY_TEMPLATE}"
