"""Which messages a run of the tests says, in each of its processes but those that a test begins."""

import json
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from opcheck.lang import sentence, speech
from opcheck.lang.catalogue import Catalogue

FOLDER = "OPCHECK_TESTS_SAID"
"""Variable of the environment that names the folder; where it is not set nothing is noted."""
_seen: set[str] = set()


def note(text: str) -> None:
    """Take note of a text; nothing is written meanwhile, since tests look at what is opened."""
    _seen.add(text)


def write() -> None:
    """Write down what this process has noted."""
    lines = (f"{json.dumps(str(text))}\n" for text in _seen)
    path = Path(os.environ[FOLDER], str(os.getpid()))
    path.write_text("".join(lines), encoding="utf-8")


def begin() -> None:
    """Note what is said from here on in this process."""
    made = sentence.Sentence.__new__

    def new(cls: type, template: str, /, **arguments: object) -> Any:
        note(template)
        return made(cls, template, **arguments)

    sentence.Sentence.__new__ = staticmethod(new)  # type: ignore[method-assign]
    prose = Catalogue._prose

    def prose_or_part_of_it(self: Catalogue, text: str) -> str:
        note(text)
        return prose(self, text)

    Catalogue._prose = prose_or_part_of_it  # type: ignore[method-assign]
    for name in ("tell", "wording", "has_translation"):
        before = getattr(speech, name)
        after = _noting(before)
        for module in [*sys.modules.values()]:  # some were imported with pytest's plugin
            if getattr(module, "__name__", "").startswith("opcheck"):
                for other, value in [*vars(module).items()]:
                    if value is before:
                        setattr(module, other, after)


def _noting(told: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(told)
    def wrapper(text: str, *rest: Any, **named: Any) -> Any:
        note(getattr(text, "template", text))
        return told(text, *rest, **named)

    return wrapper


def texts() -> frozenset[str]:
    """What all processes have noted."""
    lines = (
        line
        for path in Path(os.environ[FOLDER]).iterdir()
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    return frozenset(map(json.loads, lines))


FEW = 10
"""How many more a run may leave out: some are said only where something takes long, or is there."""
UNSAID = Path(__file__).parent / "lang" / "unsaid.txt"
"""Messages that no test has the package say yet: a line each, as JSON."""


def expected() -> frozenset[str]:
    """Messages that the code makes; those of the help and of the database have tests of their own.

    A message with several forms counts as said where one is.
    """
    from tests.lang.messages import PACKAGE, help_messages, literals, shape
    from tests.lang.test_catalogue import CLICK, ENTRIES

    sources = {m.text for path in PACKAGE.rglob("*.py") for m in literals(path)}
    known = {shape(text) for text in help_messages()}
    return frozenset(
        entry.english
        for entry in ENTRIES
        if (entry.by_template or entry.english in sources)
        and entry.english not in CLICK
        and shape(entry.english) not in known
    )


def unsaid() -> list[str]:
    """Messages that were not said, as far as the list of them does not have them."""
    from tests.lang.test_catalogue import ENTRIES

    said = texts()
    plurals = {entry.english: entry.plural for entry in ENTRIES}
    listed = set(map(json.loads, UNSAID.read_text(encoding="utf-8").splitlines()))
    return sorted(
        text
        for text in expected() - said - listed
        if not plurals[text] or plurals[text] not in said
    )
