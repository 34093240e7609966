"""A plan carried out as a patch: layers of libraries become ones of the user's own subclasses."""

import keyword
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from opcheck.commands.fix.diff import forms_by_rule, no_spelling
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
from opcheck.commands.fix.values import Fix, FixRequest
from opcheck.commands.plan.answer import plan
from opcheck.db.store import Database
from opcheck.errors import SourceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.jobs import HostRequest, LayerClass
from opcheck.model.plan import Proof
from opcheck.pipeline.database import Progress
from opcheck.pipeline.writing import drafted

if TYPE_CHECKING:
    from opcheck.rewrite.library_patch import PatchedAttention, PatchedLayer
    from opcheck.rewrite.source.changing import Form

Classes = Mapping[str, tuple[LayerClass, ...]]
"""Path of layers -> their classes."""


def patch(request: FixRequest, database: Database, progress: Progress, output: Progress) -> Fix:
    """Write a module with subclasses of libraries' layers, once the model ran with them.

    Raises:
        UsageError: the file's name is none that can be imported.
    """
    from opcheck.rewrite.library_patch import library_patch

    _require_module(Path(request.path))
    scan = request.scan
    report = plan(scan, progress, output)
    forms = forms_by_rule(scan.rules)
    chosen = choose_by_place(report, request.allow, lambda way: bool(_calls(forms(way.rule))))
    paths = sorted({way.place.module for way in chosen.ways})
    classes = _classes(request, paths, progress, output) if paths else {}
    reasons = {way: why_left(way, classes, _calls(forms(way.way.rule))) for way in chosen.ways}
    done = [way for way, reason in reasons.items() if not reason]
    left = [rest for _, rest in chosen.left]
    left += [way.left(reason) for way, reason in reasons.items() if reason]
    left = list(dict.fromkeys(left))
    if not done:
        return answer(request, report, left=left, unproven="there is nothing to change")
    matrix = database.matrix(database.resolve(scan.targets[0]))
    ways = _places(done)

    def text(attended: Sequence[PlacedSuggestion]) -> str:
        attention = _attention(attended, classes, lambda way: _calls(forms(way.way.rule)))
        rest = [way for way in done if way not in attended]
        layers = _layers(rest, classes, lambda way: _calls(forms(way.way.rule)))
        return library_patch(layers, str(matrix.target), Path(request.path).stem, attention)

    def proof_of(attended: Sequence[PlacedSuggestion]) -> Proof:
        with drafted(Path(request.path), text(attended), over=request.write) as draft:
            changed = replace(scan, model=replace(scan.model, patches=(str(draft.path),)))
            change, staying = Change(scan, changed, tuple(ways)), chosen.staying(done)
            proof = proved(change, matrix, staying, known(report), progress, output)
            if proof.holds:
                draft.keep()
        return proof

    proof = _first_that_holds(_registered(done, classes), proof_of)
    followed = followed_ways(ways)
    made = answer(request, report, ways=ways, followed=followed, left=left, proof=proof)
    return replace(made, files=(request.path,)) if proof.holds else made


def _first_that_holds(
    attended: Sequence[Sequence[PlacedSuggestion]],
    proof_of: Callable[[Sequence[PlacedSuggestion]], Proof],
) -> Proof:
    """The first proof that holds; the last where none does."""
    for way in attended[:-1]:
        with suppress(SourceError):  # no model has the name of an attention
            if (proof := proof_of(way)).holds:
                return proof
    return proof_of(attended[-1])


def _registered(
    done: Sequence[PlacedSuggestion], classes: Classes
) -> Sequence[Sequence[PlacedSuggestion]]:
    """The calls of attention that a registered function may serve; then none, if these are some.

    Not every layer of transformers looks its attention up by a name, or is in a model of its own:
    they then become ones of subclasses.
    """
    found = [way for way in done if _looked_up(way, classes)]
    return [found, ()] if found else [()]


def _looked_up(way: PlacedSuggestion, classes: Classes) -> bool:
    """Whether a call is one of attention in layers of transformers."""
    from opcheck.rewrite.library_options import ATTENTION

    layers = classes[way.place.module]
    return way.way.replaces == ATTENTION and all(x.package == "transformers" for x in layers)


def _attention(
    ways: Sequence[PlacedSuggestion],
    classes: Classes,
    calls: Callable[[PlacedSuggestion], Mapping[str, "Form"]],
) -> "PatchedAttention | None":
    from opcheck.rewrite.library_patch import PatchedAttention

    if not ways:
        return None
    layer = classes[ways[0].place.module][0]
    paths = dict.fromkeys(way.place.module for way in ways)
    forms = {spelling: form for way in ways for spelling, form in calls(way).items()}
    return PatchedAttention(layer.package, layer.version, tuple(paths), forms)


def _require_module(path: Path) -> None:
    """Refuse a name that no file can be imported by.

    Raises:
        UsageError: it is one.
    """
    if path.suffix != ".py" or not path.stem.isidentifier() or keyword.iskeyword(path.stem):
        raise UsageError(
            Sentence("--patch {text}: no module is called so", text=path),
            Sentence("give the name of a file, as patched_layers.py"),
        )


def _calls(forms: Mapping[str, "Form"]) -> Mapping[str, "Form"]:
    """The spellings that stand for a call: no layer to construct, and nothing written in place."""
    return {s: form for s, form in forms.items() if not (form.is_layer or form.in_place)}


def _classes(
    request: FixRequest, paths: Sequence[str], progress: Progress, output: Progress
) -> Classes:
    """The classes of the layers at these paths, by a load of the model."""
    from opcheck.sandbox.parent.run import on_host

    asked = HostRequest(request.scan.model, layers=tuple(paths))
    return on_host(asked, progress=progress, output=output).classes


def why_left(way: PlacedSuggestion, classes: Classes, calls: Mapping[str, "Form"]) -> str:
    """Why no patch makes a change; "" where one does."""
    if not calls:
        return no_spelling(way.way.rule)
    here = classes.get(way.place.module, ())
    where = way.place.module or Sentence("the model itself")
    if not here:
        return Sentence("{text} is no layer whose class is known; use --shim", text=where)
    if any(layer.users for layer in here):
        return Sentence("{text} is a layer of yours; use --diff", text=where)
    if any("<" in layer.name or not layer.version for layer in here):
        return Sentence(
            "{text} is of a class that no module can name, or of a library without a version; use "
            "--shim",
            text=where,
        )
    return ""


def _layers(
    done: Sequence[PlacedSuggestion],
    classes: Classes,
    calls: Callable[[PlacedSuggestion], Mapping[str, "Form"]],
) -> tuple["PatchedLayer", ...]:
    """One for each class, with all of its paths and what it calls."""
    from opcheck.rewrite.library_patch import PatchedLayer

    paths: dict[LayerClass, dict[str, None]] = defaultdict(dict)
    forms: dict[LayerClass, dict[str, Form]] = defaultdict(dict)
    for way in done:
        for layer in classes[way.place.module]:
            paths[layer][way.place.module] = None
            forms[layer].update(calls(way))
    order = sorted(paths, key=lambda layer: (layer.module, layer.name))
    return tuple(PatchedLayer(tuple(paths[one]), one, forms[one]) for one in order)


def _places(done: Iterable[PlacedSuggestion]) -> Mapping[AppliedSuggestion, tuple[str, ...]]:
    """Each suggestion with the layers in which it was followed."""
    found: dict[AppliedSuggestion, dict[str, None]] = defaultdict(dict)
    for way in done:
        found[way.op, way.way][way.place.module] = None
    return {key: tuple(paths) for key, paths in found.items()}
