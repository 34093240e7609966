"""What is said of a project's sources, in every format in the same words."""

import json
from collections.abc import Iterator

from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell
from opcheck.model.project import Candidate, Lacks, ProjectReport, SourceResult

NOT_CHECKED = ("Not checked", "no answer on these sources")
LACKING = ("Found", "and not to be checked as they are")
NOTES = ("Notes", "what was left out")
CHECKED = "Checked"
TO_ADD = "add"
SHAPE = "SHAPE:DTYPE"
"""Stands for what nobody has said of an input."""


def counted(found: ProjectReport) -> Sentence:
    """How many sources run everywhere, and how many have no answer."""
    runs = [one.runs for one in found.sources if not one.error]
    whole = runs.count(True)
    return Sentence(
        "{count_runs} of {count} sources run on every target; {count_open} not checked",
        count_runs=f"{whole:,}",
        count=f"{len(found.sources) + len(found.lacking):,}",
        count_open=f"{len(found.sources) - len(runs) + len(found.lacking):,}",
    )


def lacks(one: Candidate) -> Sentence:
    """What a source lacks."""
    names = ", ".join(one.names)
    if one.lacks is Lacks.INPUTS:
        return Sentence("needs inputs: its forward takes {list}", list=names)
    if one.is_script:
        return Sentence("needs arguments on its command line: {list}", list=names)
    return Sentence("needs arguments: {list}", list=names)


def remedy(one: Candidate) -> Sentence:
    """What makes it a source that can be checked."""
    if one.made_as:
        text = f"def build(): return {one.made_as}"
        return Sentence("write a function without arguments and list it: {text}", text=text)
    if one.lacks is Lacks.ARGUMENTS and not one.is_script:
        return Sentence("write a function without arguments that passes them, and list that")
    return Sentence("list it under sources in opcheck.yaml: {text}", text=line_of(one))


def line_of(one: Candidate) -> str:
    """The line of an ``opcheck.yaml`` that lists a source, with places for what it lacks."""
    if one.is_script:
        words = " ".join(f"{name} VALUE" if name.startswith("-") else name.upper() for name in
                         one.names)  # fmt: skip
        pairs: dict[str, object] = {
            "script": f"{quoted_word(one.source)} {words}".strip(),
            **one.options,
        }
    else:
        inputs = list(one.inputs)
        if one.lacks is Lacks.INPUTS:
            inputs = [f"{name}={SHAPE}" for name in one.names]
        pairs = {"source": one.source, **({"input": inputs} if inputs else {})}
        if len(pairs) == 1:
            return f"- {json.dumps(one.source, ensure_ascii=False)}"
    inner = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in
                      pairs.items())  # fmt: skip
    return f"- {{{inner}}}"


def quoted_word(path: str) -> str:
    """A path as a word of a command line."""
    import shlex

    return shlex.quote(path)


def unanswered(found: ProjectReport) -> Iterator[tuple[str, Sentence | str, Sentence | str]]:
    """Each source without a whole answer: its name, why, and what to do."""
    for one in found.sources:
        if one.error:
            yield one.name, one.error, one.hint
    for lacking in found.lacking:
        yield lacking.source, lacks(lacking), remedy(lacking)


def named_error(one: SourceResult) -> str:
    """Why a source has no whole report, in one line."""
    return tell(one.error)
