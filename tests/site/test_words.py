"""The site says nothing that has no Chinese."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from opcheck.lang.speech import Language, catalogue, speaking, tell
from opcheck.model.verdict import Verdict
from tools.site import words
from tools.site.pages import TEMPLATES, script_words

ENTRIES = catalogue(Language.CHINESE).entries


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)


def test_every_word_has_an_entry() -> None:
    known = {entry.english for entry in ENTRIES} | {"English", "中文"}
    said = {text for name, value in vars(words).items() if name.isupper() for text in _texts(value)}
    assert len(said) > 100
    assert sorted(said - known) == []


def test_every_sentence_has_an_entry() -> None:
    known = {entry.english for entry in ENTRIES}
    tree = ast.parse(Path(words.__file__).read_text(encoding="utf-8"))
    templates = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "Sentence"
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(templates) > 4
    assert templates - known == set()


def test_every_word_is_used() -> None:
    folder = Path(words.__file__).parent
    sources = [*TEMPLATES.glob("*.html"), *folder.glob("*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    names = [name for name in vars(words) if name.isupper()]
    names += [
        name
        for name, value in vars(words).items()
        if getattr(value, "__module__", "") == words.__name__
    ]
    unused = [name for name in names if text.count(name) == 1]
    assert unused == []


def test_the_script_has_its_words_in_both_languages() -> None:
    english, chinese = (script_words()[one.value] for one in Language)
    assert '"native"' in english
    assert "\\u539f\\u751f" in chinese
    scripts = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.js"))
    assert [key for key in words.FOR_SCRIPT if key not in scripts] == []


def test_what_a_release_changed_is_told_in_both_languages() -> None:
    assert tell(words.became(Verdict.NATIVE, 1234)) == "1,234 are now native"
    with speaking(Language.CHINESE):
        said = tell(words.became(Verdict.NATIVE, 1234))
    assert "1,234" in said
    assert "原生" in said
