"""The sources that a policy to start from proposes, each with a comment on why it is one."""

import os
from collections.abc import Iterator
from pathlib import Path

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.project import Candidate, Found, Lacks
from opcheck.model.text import printable
from opcheck.source.finding.find import find
from opcheck.views.project.sentences import lacks, line_of
from opcheck.views.terminal.notation import plural

_FOUND = "# These were found by reading the files."
_LACKING = """
# These cannot be checked as they are: say what they lack, and take the comment sign away.
"""


def found_in(folder: Path) -> Found:
    """What of a folder can be checked.

    Raises:
        UsageError: there is no such folder.
    """
    if not os.path.isdir(folder):
        raise UsageError(
            Sentence("{text} is not a folder", text=folder),
            Sentence("name the folder of the project, or leave it out"),
        )
    return find(folder)


def text_of(found: Found) -> str:
    """The part of the policy that lists the sources; "" where nothing was found."""
    if not found.candidates:
        return ""
    lines = [
        "# These were found by reading the files.",
        "sources:" if found.ready else "# sources:",
    ]
    for one in found.ready:
        lines += [f"  # {_one_line(_why(one))}", f"  {line_of(one)}"]
    text = "\n".join([*lines, ""])
    if found.lacking:
        text += _LACKING
    for one in found.lacking:
        text += f"#  {line_of(one)}  # {_one_line(lacks(one))}\n"
    return text


def _why(one: Candidate) -> Sentence:
    if one.inputs_from is None:
        return one.reason
    return Sentence("{said}; inputs: {said_from}", said=one.reason, said_from=one.inputs_from)


def _one_line(text: str) -> str:
    """In English, as all comments of the file, and nothing that would end the comment."""
    return " ".join(printable(str(text), kept="").split())


def told(found: Found) -> Iterator[Sentence]:
    """How many sources are listed, and what of the folder is not."""
    if found.ready:
        yield Sentence("{said} listed", said=plural(len(found.ready), "source"))
    inputs = sum(one.lacks is Lacks.INPUTS for one in found.lacking)
    if inputs:
        yield Sentence("{count} without known inputs, as comments", count=f"{inputs:,}")
    if len(found.lacking) > inputs:
        count = len(found.lacking) - inputs
        yield Sentence("{count} that need arguments, as comments", count=f"{count:,}")
    yield from found.notes
