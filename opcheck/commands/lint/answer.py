"""Sources read and checked against targets; the plain findings replaced where that is asked for."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fix.files import SourceFile, require_writable, unified, write_all
from opcheck.db.selection import names_groups, select
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.lint import sources
from opcheck.lint.base import Ground
from opcheck.lint.reading import JudgedSource, ReadSource, checks, edited, judge, look
from opcheck.model.porting import CudaNames, Lint, LintRequest, LintTarget, Porting, SkippedFile
from opcheck.model.target import Target
from opcheck.pipeline.database import Progress, open_database, silent
from opcheck.version import __version__


def lint(request: LintRequest, progress: Progress = silent) -> Lint:
    """Read the sources at a path, and say how they fare on each target.

    Raises:
        UsageError: the path, a target or what is asked for is not understood.
        SourceError: there is no source to read.
    """
    database = open_database(request.databases)
    targets = select(database, request.targets)
    _require_one(request, database, targets)
    words = {target.vendor: database.porting(target) for target in targets}
    names = database.cuda_names()
    read, skipped = _read(request, words, names, progress)
    grounds = {t: _ground(t, words[t.vendor], names, database) for t in targets}
    judged = {
        target: {looked.file.path: judge(looked, ground) for looked in read}
        for target, ground in grounds.items()
    }
    found = Lint(
        opcheck_version=__version__,
        path=request.path,
        files=len(read),
        targets=tuple(_target(t, words[t.vendor], judged[t].values()) for t in targets),
        skipped=tuple(sorted(skipped)),
        ignored=sum(looked.ignored for looked in read),
    )
    if not request.fix:
        return found
    return _fixed(found, request, read, judged[targets[0]], words[targets[0].vendor])


def _ground(target: Target, words: Porting, names: CudaNames, database: Database) -> Ground:
    compilers, triton = database.compilers(target), database.triton(target)
    return Ground(words, names, compilers, triton, target.chip)


def _require_one(request: LintRequest, database: Database, targets: Sequence[Target]) -> None:
    """Refuse to write for several targets at once."""
    if request.write and not request.fix:
        raise UsageError(Sentence("--write goes with --fix"), Sentence("give both, or neither"))
    if request.fix and (len(targets) != 1 or names_groups(database, request.targets)):
        raise UsageError(
            Sentence("--fix writes for one target"),
            Sentence("name one with -t; opcheck targets lists them"),
        )


def _read(
    request: LintRequest, words: Mapping[str, Porting], names: CudaNames, progress: Progress
) -> tuple[list[ReadSource], list[SkippedFile]]:
    """Every source, with what the checks see in it."""
    given_up = (names.deprecated, *(word.deprecated for word in words.values()))
    watched = frozenset(name for each in given_up for name in each)
    paths = sources.find(Path(request.path))
    own = {path.parent.name for path in paths if path.name == "__init__.py"}
    packages = frozenset(names.packages) - own  # a package does not miss itself
    read: list[ReadSource] = []
    skipped: list[SkippedFile] = []
    for path in paths:
        file = sources.read(path)
        if not isinstance(file, SkippedFile):
            progress(Sentence("reading {text}", text=file.shown))
            looked = look(file, watched, packages)
            if isinstance(looked, ReadSource):
                read.append(looked)
                continue
            file = looked
        skipped.append(file)
    return read, skipped


def _target(
    target: Target, words: Porting, judged: Iterable[tuple[JudgedSource, ...]]
) -> LintTarget:
    findings = tuple(each.finding for found in judged for each in found)
    topics = {check.name: check.topic for check in checks()}
    wanted = {topics[f.code] for f in findings if not f.quiet} - {""}
    return LintTarget(
        target=target,
        findings=findings,
        answers=words.answers,
        transfers=tuple(each for each in words.transfers if each.covers & wanted),
    )


def _fixed(
    found: Lint,
    request: LintRequest,
    read: Sequence[ReadSource],
    judged: Mapping[Path, tuple[JudgedSource, ...]],
    words: Porting,
) -> Lint:
    """The plain findings replaced, as a diff or in the files."""
    changed: dict[SourceFile, str] = {}
    skipped = list(found.skipped)
    for looked in read:
        file = looked.file
        if file.suffix != sources.PYTHON:
            continue
        new = edited(file.text, judged[file.path], words.package)
        if new == file.text:
            continue
        source = SourceFile.read(file.shown, file.path.resolve())
        if isinstance(source, str) or source.text != file.text:
            skipped.append(SkippedFile(file.shown, Sentence("it changed while it was read")))
        else:
            changed[source] = new
    if request.write:
        require_writable(tuple(changed))
        write_all(changed)
    return replace(
        found,
        skipped=tuple(sorted(skipped)),
        changed=tuple(source.shown for source in changed),
        diff="" if request.write else "".join(unified(s, text) for s, text in changed.items()),
        written=request.write,
    )
