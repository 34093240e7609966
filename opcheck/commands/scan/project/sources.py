"""Which sources a project has: those that its policy lists, else those that are found in it."""

import os
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fleet.manifest.read import entries_of
from opcheck.commands.fleet.manifest.rows import Row, row_of
from opcheck.commands.fleet.values import Entry
from opcheck.commands.scan.project.values import Project
from opcheck.errors import SourceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.policy import Policy
from opcheck.model.project import Candidate, ProjectRequest
from opcheck.settings.policy_file import FILE, find_policy, policies_in, read_policy
from opcheck.source.finding.find import find
from opcheck.source.load import kinds

_NAMES = 5
"""How many names are told in a hint."""


_OF_MODELS = ("config.json", "model_index.json", "adapter_config.json", "modules.json")
"""Files by which a folder is a model: known by their names, for no process is confined yet."""


def is_project(text: str) -> bool:
    """Whether a source is a folder that is no model itself, or that lists sources.

    No file of a model is opened for it.
    """
    if not os.path.isdir(text):
        return False
    if os.path.isfile(Path(text, FILE)):
        return True
    if any(os.path.isfile(Path(text, name)) for name in _OF_MODELS):
        return False
    return not any(kind.claims(text) for kind in kinds())


def policy_of_folder(folder: Path, named: str = "") -> Policy:
    """The policy of a project: the one that is named, else of its folder, else of one above."""
    if named:
        return read_policy(Path(named))
    found = find_policy(folder.resolve())
    if found is None:
        return Policy()
    inside = found.parent == folder.resolve()
    return read_policy(folder / found.name if inside else Path(os.path.relpath(found)))


def project_of(request: ProjectRequest, policy: Policy) -> Project:
    """The sources of a project.

    Raises:
        UsageError: one that is listed cannot be understood, or none has such a name.
        SourceError: there is none.
    """
    folder = Path(request.folder)
    found = _listed(request, policy, folder) if policy.sources else _found(request, folder)
    if not (found.entries or found.lacking):
        raise SourceError(
            Sentence("{text}: there is nothing to check in this folder", text=request.folder),
            Sentence(
                "list sources in {name}, as path/to/file.py:build; opcheck init writes one",
                name=FILE,
            ),
        )
    return _only(found, request.only)


def _listed(request: ProjectRequest, policy: Policy, folder: Path) -> Project:
    rows = [row_of(one.given, one.where, {}) for one in policy.sources]
    beside = Path(policy.path).parent if policy.path else folder
    entries, left_out = entries_of(rows, beside, dict(request.options), trust=request.trust)
    notes = [Sentence("{text} is no model, and was left out", text=path) for path in left_out]
    return Project(request.folder, policy.path, entries, notes=tuple(dict.fromkeys(notes)))


def _found(request: ProjectRequest, folder: Path) -> Project:
    found = find(folder)
    rows = [_row(one) for one in found.ready]
    entries, _ = entries_of(rows, folder, dict(request.options), trust=request.trust)
    named = tuple(map(_named, entries, found.ready))
    return Project(request.folder, "", named, found.lacking, found.notes)


def _named(entry: Entry, one: Candidate) -> Entry:
    """The entry by its name in the project, wherever the project is."""
    return replace(entry, name=one.source)


def _row(one: Candidate) -> Row:
    if one.is_script:
        return Row("", one.source, dict(one.options), one.source, [one.source])
    options = {"input": list(one.inputs)} if one.inputs else {}
    return Row(one.source, one.source, options)


def _only(project: Project, globs: tuple[str, ...]) -> Project:
    """The sources that fit one of some globs; all where there is none."""
    if not globs:
        return project

    def fits(name: str) -> bool:
        return any(fnmatchcase(name, glob) for glob in globs)

    entries = tuple(one for one in project.entries if fits(one.name))
    lacking = tuple(one for one in project.lacking if fits(one.source))
    if not (entries or lacking):
        names = ", ".join([one.name for one in project.entries][:_NAMES])
        raise UsageError(
            Sentence("{folder} has no source {text}", folder=project.folder, text=", ".join(globs)),
            Sentence("there is {list}", list=names) if names else Sentence("leave --only out"),
        )
    return replace(project, entries=entries, lacking=lacking)


def has_policy(folder: Path) -> bool:
    """Whether a folder has a policy of its own."""
    return bool(policies_in(folder))
