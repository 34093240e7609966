"""The Chinese catalogue holds what the code can say, with the same places, and nothing else."""

import re
from itertools import chain

import pytest
from rich.cells import cell_len

from opcheck.app.language import read_back
from opcheck.lang.catalogue import read_po
from opcheck.lang.speech import Language, catalogue
from opcheck.lang.template import Template, places
from opcheck.views.terminal.canvas import LABEL
from tests.lang.messages import PACKAGE, Message, help_messages, is_prose, literals, shape

CATALOGUE = PACKAGE / "lang" / "zh.po"
ENTRIES = read_po(CATALOGUE.read_text(encoding="utf-8"), CATALOGUE.name)[1:]
ENGLISH = tuple(chain.from_iterable((entry.english, entry.plural) for entry in ENTRIES))
SHAPES = frozenset(map(shape, ENGLISH))
KNOWN = "\n".join(map(shape, ENGLISH))

COMMANDS = PACKAGE / "commands"
TOLD = (
    "views/terminal",
    "views/conditions.py",
    "views/report/github.py",
    "views/interchange.py",
    "views/targets.py",
    "views/html",
    "views/report/markdown.py",
    "views/report/html.py",
    "views/markdown_text.py",
    "commands/fleet/html",
    "commands/gate/sentences.py",
    "commands/run/sentences.py",
    *(f"commands/{path.parent.name}/{path.name}" for path in COMMANDS.glob("*/terminal*")),
    *(f"commands/{path.parent.name}/{path.name}" for path in COMMANDS.glob("*/views")),
    "resolve",
)
"""Where every sentence must have its Chinese."""
NOT_SAID = (
    "views/terminal/groups.py",
    "views/html/template.py",
    "commands/gate/views/sarif.py",
    "commands/run/views/sarif.py",
    "commands/gate/views/csv.py",
    "commands/fleet/views/csv.py",
)
"""Modules whose texts are patterns to read with, for a browser, or for programs."""
STYLES = re.compile(r"bold|dim|red|green|yellow|magenta")


def _modules(*rooms: str) -> list[Message]:
    paths = chain.from_iterable(
        [PACKAGE / room] if room.endswith(".py") else sorted((PACKAGE / room).rglob("*.py"))
        for room in rooms
    )
    skipped = {PACKAGE / name for name in NOT_SAID}
    return [message for path in paths if path not in skipped for message in literals(path)]


def fixed(text: str) -> list[str]:
    """The parts of a message between its places, as far as they are words."""
    parts = re.split(r"\{\}", shape(text))
    return [part.strip(" ,;:.()[]'\"") for part in parts if re.search(r"[A-Za-z]{2}", part)]


SAID = [m for m in _modules(*TOLD) if is_prose(m.text) and not STYLES.fullmatch(m.text.split()[0])]


def test_there_are_messages() -> None:
    assert len(SAID) > 200
    assert len(ENTRIES) > 400


@pytest.mark.parametrize("message", SAID, ids=lambda message: f"{message.path}:{message.line}")
def test_every_sentence_has_an_entry(message: Message) -> None:
    missing = [part for part in fixed(message.text) if part not in KNOWN]
    assert not missing, f"zh.po has no message with {missing}: add {message.text!r}"


@pytest.mark.parametrize("text", sorted(help_messages()))
def test_every_help_text_has_an_entry(text: str) -> None:
    assert catalogue(Language.CHINESE).tell(read_back(text)) != text, f"zh.po lacks {text!r}"


def test_a_translation_has_the_places_of_its_message() -> None:
    wrong = [
        f"line {entry.line}"
        for entry in ENTRIES
        for english in filter(None, (entry.english, entry.plural))
        if not entry.forms
        or not all(form and set(places(form)) == set(places(english)) for form in entry.forms)
    ]
    assert wrong == []


def test_an_entry_is_recognised_as_itself() -> None:
    """A text made of a message is read as that message, and not as a heavier one."""
    samples = {"count": "12", "percent": "35.0%", "list": "a, b", "text": "any text", "said": "yes"}
    read, made = {}, {}
    for entry in ENTRIES:
        for english in filter(None, (entry.english, entry.plural)):
            made[english] = {name: _sample(name, samples) for name in places(english)}
            read[english] = Template(english).read(english.format_map(made[english]))
    assert read == made


def _sample(name: str, samples: dict[str, str]) -> str:
    return next((text for prefix, text in samples.items() if name.startswith(prefix)), "word")


def test_messages_differ() -> None:
    keys = [(entry.context, entry.english) for entry in ENTRIES]
    assert len(set(keys)) == len(keys)


@pytest.mark.slow
def test_no_entry_is_unused() -> None:
    """Every word of an entry is one that the sources say, in one literal or in a few that meet."""
    rooms: dict[str, set[str]] = {}
    shapes: set[str] = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0]
        for message in literals(path):
            shapes.add(message.shape)
            rooms.setdefault(room, set()).update(words_of(message.text))
    for path in sorted((PACKAGE.parent / "compat_db").rglob("*.yaml")):
        rooms["db"] |= words_of(path.read_text(encoding="utf-8"))
    everywhere = help_messages()
    shapes |= {shape(text) for text in everywhere}
    rooms["help"] = set(chain.from_iterable(map(words_of, everywhere)))
    unused = [
        entry.english
        for entry in ENTRIES
        if not ({shape(entry.english), shape(entry.plural)} & shapes)
        and not any(words_of(entry.english) <= words for words in rooms.values())
    ]
    assert not [text for text in unused if text not in CLICK]


CLICK = frozenset(
    entry.english
    for entry in ENTRIES
    if re.match(
        r"Usage|Options|Arguments|Commands|\[|COMMAND|Show this|Try|Error|Missing|No such|Got |"
        r"Option |Invalid value",
        entry.english,
    )
)
"""What the library of the command line says, whose sources are not ours."""


def words_of(text: str) -> set[str]:
    """The words of a message, each without the ``s`` of a plural."""
    plain = re.findall(r"[A-Za-z']{2,}", re.sub(r"\{[^{}]*\}", " ", text))
    return {word.removesuffix("s") for word in plain}


def test_a_label_leaves_a_gap_before_what_it_labels() -> None:
    labels = [entry for entry in ENTRIES if entry.context == "label"]
    assert len(labels) > 10
    for entry in labels:
        assert max(map(cell_len, (entry.english, *entry.forms))) < LABEL, entry.english
