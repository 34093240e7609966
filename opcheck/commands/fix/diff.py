"""A plan carried out in the user's own sources, as a unified diff or in place."""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from opcheck.commands.fix.files import (
    SourceFile,
    find,
    require_writable,
    roots_of,
    unified,
    write_all,
)
from opcheck.commands.fix.proving import proved
from opcheck.commands.fix.running import Change
from opcheck.commands.fix.suggestions import (
    AppliedSuggestion,
    PlacedSuggestion,
    answer,
    choose_by_place,
    followed_ways,
    known,
)
from opcheck.commands.fix.values import Fix, FixRequest, Left
from opcheck.commands.plan.answer import plan
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.pipeline.database import Progress
from opcheck.source.load import select

if TYPE_CHECKING:
    from opcheck.rewrite.source.changing import Form

    FormsOf = Callable[[str], Mapping[str, Form]]


def diff(request: FixRequest, database: Database, progress: Progress, output: Progress) -> Fix:
    """Replace the calls of suggestions where the user writes them.

    Raises:
        UsageError: the source is no Python file, or one of its files cannot be written.
    """
    scan = request.scan
    if select(scan.model.source).name != "python":
        raise UsageError(
            Sentence(
                "--diff changes source files of yours, and {text} is none", text=scan.model.source
            ),
            Sentence("give path/to/file.py:NAME, or use --shim or --graph"),
        )
    report = plan(scan, progress, output)
    forms = forms_by_rule(scan.rules)
    chosen = choose_by_place(report, request.allow, lambda way: bool(forms(way.rule)))
    changed = _change(chosen.ways, roots_of(scan.model.source), forms, request.helpers)
    left = (*(rest for _, rest in chosen.left), *changed.left)
    if not changed.files:
        return answer(request, report, left=left, unproven="there is nothing to change")
    if request.write:
        require_writable(tuple(changed.files))
    matrix = database.matrix(database.resolve(scan.targets[0]))
    with patched_files(changed.files) as patched:
        change = Change(
            scan, replace(scan, model=replace(scan.model, patched=patched)), tuple(changed.ways)
        )
        staying = chosen.staying(changed.whole)
        proof = proved(change, matrix, staying, known(report), progress, output)
    followed = followed_ways(changed.ways)
    made = answer(request, report, ways=changed.ways, followed=followed, left=left, proof=proof)
    if not proof.holds:
        return made
    if request.write:
        write_all(changed.files)
        return replace(made, files=tuple(file.shown for file in changed.files))
    return replace(made, text="".join(map(unified, changed.files, changed.files.values())))


class _Changed(Struct, frozen=True):
    """What came of the suggestions."""

    files: Mapping[SourceFile, str]
    """Those that change, sorted by name, with their new text."""
    ways: Mapping[AppliedSuggestion, tuple[str, ...]]
    """What was followed -> ``file:line`` of the calls."""
    left: tuple[Left, ...]
    whole: frozenset[PlacedSuggestion]
    """What was followed without exception."""


def forms_by_rule(folders: Sequence[str]) -> "FormsOf":
    """How calls that a rule replaces are written, as a function of its name."""
    from opcheck.rewrite.extra import extra_rules
    from opcheck.rewrite.source.layers import forms_of

    extra = extra_rules(folders)
    return cache(lambda rule: forms_of(rule, extra))


_HELPERS = "opcheck_helpers.py"
_MOST = 40
"""Lines of functions that are put into a user's own file."""


def _change(
    ways: Sequence[PlacedSuggestion], roots: Sequence[Path], forms_of: "FormsOf", helpers: str
) -> _Changed:
    """Replace what can be, file by file."""
    wanted: dict[Path, list[tuple[PlacedSuggestion, Mapping[str, Form]]]] = defaultdict(list)
    left: list[Left] = []
    for way in ways:
        forms = forms_of(way.way.rule)
        path = find(way.place.file, roots) if forms else no_spelling(way.way.rule)
        if isinstance(path, str):
            left.append(way.left(path))
        else:
            wanted[path].append((way, forms))
    files: dict[SourceFile, str] = {}
    done: list[PlacedSuggestion] = []
    not_whole: set[PlacedSuggestion] = set()
    for path, here in sorted(wanted.items(), key=lambda item: item[1][0][0].place.file):
        beside = path.parent / (helpers or _HELPERS)
        room = _helpers(beside, here[0][0].place.file, files)
        so_far = files.get(room, room.text) if isinstance(room, SourceFile) else ""
        found = _swap(path, here, room, so_far, 0 if helpers else _MOST)
        left += [way.left(reason) for way, reason in found.left]
        not_whole |= {way for way, _ in found.left}
        if found.file is not None and found.done:
            files[found.file] = found.text
            done += found.done
            if found.helpers and isinstance(room, SourceFile):
                files[room] = found.helpers
    return _Changed(files, _places(done), tuple(dict.fromkeys(left)), frozenset(done) - not_whole)


def _helpers(path: Path, shown: str, files: Mapping[SourceFile, str]) -> SourceFile | str:
    """The module beside a file of the user's: as it is, as it becomes, or a new one."""
    known = next((file for file in files if file.path == path), None)
    if known is not None:
        return known
    name = str(Path(shown).with_name(path.name))
    if path.exists():
        return SourceFile.read(name, path)
    return SourceFile(name, path, b"", "", "utf-8", is_new=True)


def no_spelling(rule: str) -> Sentence:
    """Why a rule changes no call that is found by how it is written."""
    return Sentence(
        "{op} stands for no call that is known by how users write it; use --shim", op=rule
    )


class _Swapped(Struct, frozen=True):
    """What came of one file."""

    file: SourceFile | None
    text: str = ""
    done: Sequence[PlacedSuggestion] = ()
    left: Sequence[tuple[PlacedSuggestion, str]] = ()
    helpers: str = ""


def _swap(
    path: Path,
    wanted: Sequence[tuple[PlacedSuggestion, Mapping[str, "Form"]]],
    beside: SourceFile | str,
    so_far: str,
    most: int,
) -> _Swapped:
    from opcheck.rewrite.source.call_sites import UnreadableError
    from opcheck.rewrite.source.swapping import Helpers, Swap, swapped

    ways = [way for way, _ in wanted]
    shown = ways[0].place.file
    file = SourceFile.read(shown, path)
    if isinstance(file, str):
        return _Swapped(None, left=[(way, file) for way in ways])
    helpers = None
    if isinstance(beside, SourceFile) and beside.path != path:
        package = "." if (path.parent / "__init__.py").exists() else ""
        helpers = Helpers(f"{package}{beside.path.stem}", so_far, most)
    swaps = [Swap(way.place.line, forms, way.place.module) for way, forms in wanted]
    try:
        found = swapped(file.text, swaps, helpers)
        file.encoded(found.text)
    except UnreadableError as error:
        return _Swapped(
            None,
            left=[
                (
                    way,
                    Sentence("{text} cannot be decomposed: {text_why}", text=shown, text_why=error),
                )
                for way in ways
            ],
        )
    except UnicodeEncodeError:
        reason = Sentence(
            "the replacement has characters that {name}, as {text} is in, has not",
            name=file.encoding,
            text=shown,
        )
        return _Swapped(None, left=[(way, reason) for way in ways])
    left = [
        (ways[index], Sentence("{text}: {said}", text=shown, said=reason))
        for index, reason in sorted(found.left.items())
    ]
    done = [ways[index] for index in sorted(found.done)]
    plain = [ways[index] for index in sorted(found.done - found.constructed)]
    layers = [way for way in plain if any(_is_layer(way, other) for other in plain)]
    left += [(way, _beside_layer(shown, way.place.line)) for way in layers]
    kept = [way for way in done if way not in layers]
    return _Swapped(file, found.text, kept, left, found.helpers)


def _beside_layer(shown: str, line: int) -> Sentence:
    return Sentence(
        "{text}: line {count} calls a layer as well, whose own call is in a library; use --shim",
        text=shown,
        count=line,
    )


def _is_layer(way: PlacedSuggestion, other: PlacedSuggestion) -> bool:
    """Whether a call is one that a layer makes, on a line that has a call of its own."""
    here, there = way.place, other.place
    outer = f"{there.module}." if there.module else ""
    inside = here.module != there.module and here.module.startswith(outer)
    return inside and (way.op, here.line) == (other.op, there.line)


def _places(done: Iterable[PlacedSuggestion]) -> Mapping[AppliedSuggestion, tuple[str, ...]]:
    """Each suggestion with all places where it was followed."""
    places: dict[AppliedSuggestion, dict[str, None]] = defaultdict(dict)
    for found in done:
        places[found.op, found.way][f"{found.place.file}:{found.place.line}"] = None
    return {way: tuple(found) for way, found in places.items()}


@contextmanager
def patched_files(files: Mapping[SourceFile, str]) -> Iterator[Mapping[str, str]]:
    """The new texts in a folder of their own: path -> the file that has it."""
    with tempfile.TemporaryDirectory(prefix="opcheck-") as folder:
        patched = {}
        for number, (file, text) in enumerate(files.items()):
            copy = Path(folder) / f"{number}.py"
            copy.write_bytes(file.encoded(text))
            patched[str(file.path)] = str(copy)
        yield patched
