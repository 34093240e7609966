"""Where a fact was seen, and where on the web: the first few sources in short, or all of them."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from urllib.parse import quote

from opcheck.lang.sentence import Sentence, verbatim, with_sign
from opcheck.model.verdict import Evidence
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Atom, Canvas, linked, split
from opcheck.views.terminal.notation import source

_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_REPOSITORY = re.compile(r"[\w-]+/[\w.-]+")
_HOST = re.compile(r"[\w-]+(\.[\w-]+)+")
_THREAD = re.compile(r"(issues|pull)/\d+")
_FILE = re.compile(r"[^\s,*?{}()]+")
"""A path, and not a description of several."""
_PACKAGED: Mapping[str, str] = {
    "torchgen/packaged/ATen/": "aten/src/ATen/",
    "torchgen/packaged/autograd/": "tools/autograd/",
}
"""Where PyTorch's wheels have what the repository has elsewhere."""


def web_address(fact: Evidence) -> str:
    """The page that shows it, at its commit and line; "" where there is none to be sure of."""
    if not _FILE.fullmatch(fact.path):
        return ""
    if _HOST.fullmatch(fact.source):
        return f"https://{fact.source}/{_quoted(fact.path)}"
    if not _REPOSITORY.fullmatch(fact.source):
        return ""
    repository = f"https://github.com/{fact.source}"
    if not fact.commit:
        return f"{repository}/{fact.path}" if _THREAD.fullmatch(fact.path) else ""
    if not _COMMIT.fullmatch(fact.commit):
        return ""
    line = "" if fact.line is None else f"#L{fact.line}"
    return f"{repository}/blob/{fact.commit}/{_quoted(_in_repository(fact.path))}{line}"


def _in_repository(path: str) -> str:
    for there, here in _PACKAGED.items():
        if path.startswith(there):
            return here + path.removeprefix(there)
    return path


def _quoted(path: str) -> str:
    """As in an address; what is no Unicode, as a report from a file may have it, is replaced."""
    return quote(path, errors="replace")


FEW = 2
"""How many are shown unless all are asked for."""


def write_evidence(canvas: Canvas, evidence: Sequence[Evidence]) -> None:
    """Where it was seen, the first few or all of it."""
    lines = _in_full(evidence) if canvas.page.full else [_brief(fact) for fact in evidence[:FEW]]
    for i, line in enumerate(lines):
        canvas.field("" if i else words.EVIDENCE, line, 4)
    left = 0 if canvas.page.full else len(evidence) - len(lines)
    if left:
        canvas.field("", split(words.more(left, "source"), "dim"), 4)


def first_source(evidence: Sequence[Evidence]) -> list[Atom]:
    """The first one, and how many others there are."""
    first, *others = evidence
    more = split(words.and_more(len(others), "source"), "dim") if others else []
    return [*_brief(first), *more]


def cited(fact: Evidence) -> list[Atom]:
    """In short, without how it became known."""
    return split(verbatim(source(fact, verbose=False)), linked("dim", web_address(fact)))


def _brief(fact: Evidence) -> list[Atom]:
    return _method(fact, source(fact, verbose=False))


def _method(fact: Evidence, what: str) -> list[Atom]:
    how = with_sign(fact.method.value, ":")
    return [*split(how, "dim"), *split(verbatim(what), linked("dim", web_address(fact)))]


def _in_full(evidence: Sequence[Evidence]) -> list[list[Atom]]:
    """Files and lines, then the commit that they are of; a commit is named once."""
    lines: list[list[Atom]] = []
    for (_, commit, _, _), facts in groupby(evidence, key=_revision):
        for fact in facts:
            place = fact.path if fact.line is None else f"{fact.path}:{fact.line}"
            lines.append(_method(fact, place or _repository(fact)))
        if fact.path and (commit or fact.source):
            lines.append(split(Sentence("of {repository}", repository=_repository(fact)), "dim"))
    return lines


def _revision(fact: Evidence) -> tuple[str, str, str, str]:
    return fact.source, fact.commit, fact.date, fact.origin


def _repository(fact: Evidence) -> str:
    at = f"@{fact.commit}" if fact.commit else ""
    about = ", ".join(filter(None, (fact.date, fact.origin)))
    return f"{fact.source}{at}{f' ({about})' if about else ''}"
