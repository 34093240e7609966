"""A project's policy file - where it is, what it says, and the one that a project starts from."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opcheck.db.files import document
from opcheck.db.schema.checks import ShapeError
from opcheck.errors import DatabaseError, UsageError
from opcheck.lang.sentence import NOTHING, Sentence
from opcheck.model.policy import Limits, ListedSource, Policy, TargetRange, Waiver
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Confidence, Verdict
from opcheck.settings.policy_schema import POLICY, day_of

_HINT = Sentence("docs/gate.md tells every key; opcheck init writes a policy with comments")
_DATE = re.compile(r":\s*([0-9]{4}-[0-9]{2}-[0-9]{2})\b")
"""A date without quotes."""
_GIVEN = "a mapping"
"""In place of a path, for a policy from no file; a baseline that it names is looked for here."""
_TABLE = ("tool", "opcheck")
_MOST_PARTS = 64
_LONG_KEY = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]++\s*+\.\s*+){{{_MOST_PARTS}}}")
"""Dotted words, one after another."""


def read_policy(path: Path) -> Policy:
    """Read ``opcheck.yaml`` or any other YAML, or the table of a ``pyproject.toml``.

    Raises:
        UsageError: it cannot be read, or is no policy.
    """
    if path.suffix != ".toml":
        return _policy(path, _yaml(path))
    data = table_of(path)
    if data is None:
        raise UsageError(
            Sentence("{text}: expected the table [tool.opcheck], found none", text=path), _HINT
        )
    _check_table(path, data)
    return _policy(path, data)


def policy_of(data: Mapping[str, Any]) -> Policy:
    """A policy with the keys that a file has, from a mapping at hand.

    Raises:
        UsageError: it is no policy.
    """
    try:
        POLICY.check(dict(data), ())
    except ShapeError as error:
        trail = " > ".join(map(str, error.path)) or Sentence("top of it")
        raise UsageError(
            Sentence("the policy: {said} (at {said_place})", said=error.expected, said_place=trail),
            _HINT,
        ) from error
    return _policy(Path(_GIVEN), data)


def table_of(path: Path) -> Any:
    """The table ``[tool.opcheck]`` of a TOML file; None where it has none.

    Raises:
        UsageError: it cannot be read, or is no TOML.
    """
    try:
        text = document.content(path, _HINT).decode()
        _require_short_keys(path, text)
        root = tomllib.loads(text)
    except DatabaseError as error:
        raise UsageError(error.message, error.hint) from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits too
        raise UsageError(
            Sentence("{text}: expected valid TOML, but {text_why}", text=path, text_why=error),
            _HINT,
        ) from error
    tools = root.get("tool")
    return tools.get("opcheck") if isinstance(tools, dict) else None


def _require_short_keys(path: Path, text: str) -> None:
    """Refuse a dotted key of very many parts, over which the TOML library would sit for hours."""
    found = _LONG_KEY.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise UsageError(
            Sentence(
                "{text}:{count_line}: expected a key of at most {count} parts",
                text=path,
                count_line=line,
                count=_MOST_PARTS,
            ),
            _HINT,
        )


def _check_table(path: Path, data: Any) -> None:
    try:
        POLICY.check(data, _TABLE)
    except ShapeError as error:
        trail = " > ".join(map(str, error.path))
        raise UsageError(
            Sentence(
                "{text_file}: {said} (at {said_place})",
                text_file=path,
                said=error.expected,
                said_place=trail,
            ),
            _HINT,
        ) from error


def _yaml(path: Path) -> Any:
    try:
        return document.read(path, POLICY, hint=_HINT).data
    except DatabaseError as error:
        raise UsageError(_dated(path) or error.message, error.hint) from error


def _dated(path: Path) -> Sentence:
    """Where a file that is no YAML has a day that no month has: YAML itself does not say."""
    try:
        lines = document.content(path).decode("utf-8", "replace").splitlines()
    except DatabaseError:
        return NOTHING
    for number, line in enumerate(lines, 1):
        for word in _DATE.findall(line.partition("#")[0]):
            if day_of(word) is None:
                return Sentence(
                    "{path}:{number}: expected a date, as 2027-03-31, found {word}",
                    path=path,
                    number=number,
                    word=repr(word),
                )
    return NOTHING


def _policy(path: Path, data: Mapping[str, Any]) -> Policy:
    fail_on: Mapping[str, Any] = data.get("fail-on", {})
    default = Policy()
    verdicts = default.fail_verdicts
    if "verdict" in fail_on:
        verdicts = frozenset(map(Verdict, fail_on["verdict"]))
    allow_unknown = data.get("allow-unknown", default.allow_unknown)
    if allow_unknown and Verdict.UNKNOWN in verdicts:
        raise UsageError(
            Sentence(
                "{text}: expected allow-unknown or unknown in fail-on > verdict, found both",
                text=path,
            ),
            _HINT,
        )
    return Policy(
        path=str(path),
        targets=tuple(map(TargetSpec.parse, data.get("targets", ()))),
        fail_verdicts=verdicts,
        fail_reasons=tuple(fail_on.get("reason", ())),
        allow_unknown=allow_unknown,
        allow_advisories=data.get("allow-advisories", default.allow_advisories),
        confidence=Confidence(data.get("confidence", default.confidence)),
        limits=Limits(
            data.get("min-support-rate"), data.get("max-islands"), data.get("max-fallback-bytes")
        ),
        max_age=data.get("max-age"),
        baseline=_baseline(path, data.get("baseline", "")),
        waivers=tuple(map(_waiver, data.get("waivers", ()))),
        sources=_sources(path, data.get("sources", ())),
    )


def _sources(path: Path, given: Sequence[Any]) -> tuple[ListedSource, ...]:
    """The sources that are listed, each with its line where that is known."""
    lines: Sequence[int] = ()
    if given and path.suffix != ".toml" and path.is_file():
        lines = document.lines_of(path, [("sources", at) for at in range(len(given))])
    places = [f"{path}:{line}" for line in lines] or [str(path)] * len(given)
    return tuple(ListedSource(*pair) for pair in zip(given, places, strict=True))


def _baseline(path: Path, named: str) -> str:
    """The baseline beside the policy, wherever the gate is run from; "" where none is named."""
    found = path.parent / named
    if named and not found.resolve().is_relative_to(path.parent.resolve()):
        raise UsageError(
            Sentence(
                "{text_file}: the baseline {text} leads out of the policy's folder",
                text_file=path,
                text=named,
            ),
            Sentence("keep it there, or name it on the command line: --baseline FILE"),
        )
    return str(found) if named else ""


def _waiver(said: Mapping[str, Any]) -> Waiver:
    expires = day_of(said["expires"])
    assert expires is not None, "its shape was checked"
    return Waiver(
        reason=" ".join(said["reason"].split()),
        expires=expires,
        operator=said.get("operator", ""),
        finding=said.get("finding", ""),
        module=said.get("module", "*"),
        target=TargetRange.parse(said.get("target", "*")),
    )


FILE = "opcheck.yaml"
PYPROJECT = "pyproject.toml"
_END = ".git"
"""A folder with this is the whole project: what lies above it is another's."""


def find_policy(folder: Path) -> Path | None:
    """The policy of the nearest folder that has one, from ``folder`` up to its repository's.

    Raises:
        UsageError: a folder has two, or a ``pyproject.toml`` on the way cannot be read.
    """
    for place in (folder, *folder.parents):
        found = policies_in(place)
        if len(found) > 1:
            raise UsageError(
                Sentence(
                    "{text} has two policies: {text_b}, and [tool.opcheck] in {text_c}",
                    text=place,
                    text_b=FILE,
                    text_c=PYPROJECT,
                ),
                Sentence("keep one, or name it with --policy"),
            )
        if found or os.path.exists(place / _END):
            return found[0] if found else None
    return None


def policies_in(folder: Path) -> list[Path]:
    """The policies of a folder."""
    own, project = folder / FILE, folder / PYPROJECT
    found = [own] if os.path.isfile(own) else []
    if os.path.isfile(project) and table_of(project) is not None:
        found.append(project)
    return found


_TEMPLATE = Path(__file__).parent / "opcheck.yaml"
_NO_TARGETS = "targets: []\n"
_NO_SOURCES = "# Without this key,"
"""Begins the example of them, which ends the file."""


def starting_policy(targets: Sequence[TargetSpec] = (), sources: str = "") -> str:
    """The text of a policy with comments, for these targets.

    ``sources`` is the text that lists sources, in the place of an example of them.
    """
    text = _TEMPLATE.read_text("utf-8")
    if sources:
        text = text.partition(_NO_SOURCES)[0] + sources
    if not targets:
        return text
    listed = "".join(f'  - "{target}"\n' for target in targets)
    return text.replace(_NO_TARGETS, f"targets:\n{listed}")
