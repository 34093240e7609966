"""Lists of whole models that run, and what they say of one that was scanned."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache as kept
from pathlib import Path
from typing import Any

from opcheck.db.by_hand.overlays import MODELS
from opcheck.db.files import document
from opcheck.db.reading import Citations
from opcheck.db.schema.model_lists import MODELS_FILE
from opcheck.lang.sentence import Sentence
from opcheck.model.model_lists import (
    Likeness,
    ListedModel,
    ModelEvidence,
    ModelIdentity,
    ModelList,
    ModelRow,
    Outcome,
)
from opcheck.model.target import Target
from opcheck.model.verdict import Method

_HINT = Sentence("restore the file from the release, or run the importer again")
_SURENESS = {likeness: rank for rank, likeness in enumerate(Likeness)}


def model_rows(root: Path, cache: Path | None) -> Iterator[ModelRow]:
    """Every row of every list, by the name of the list and in its order.

    Raises:
        DatabaseError: a file is damaged.
    """
    for path in sorted((root / MODELS).glob("*.yaml")):
        said = document.read(path, MODELS_FILE, cache, _HINT).data
        source = ModelList(said["name"], said["vendor"], said["engine"], said["release"])
        cited, method = Citations(said["sources"]), Method(said["method"])
        everywhere = tuple(said.get("chips", ()))
        for row in said["models"]:
            yield _row(source, row, everywhere, cited, method)


def _row(
    source: ModelList, said: Mapping[str, Any], chips: tuple[str, ...], cited: Citations,
    method: Method,
) -> ModelRow:  # fmt: skip
    outcome = said.get("says")
    return ModelRow(
        of=source,
        name=said["name"],
        mode=said.get("mode", "inference"),
        outcome=Outcome(outcome) if outcome else None,
        precisions={Outcome(key): tuple(names) for key, names in said.get("in", {}).items()},
        chips=tuple(said.get("chips", chips)),
        types=tuple(said.get("types", ())),
        classes=tuple(said.get("classes", ())),
        builds=tuple(said.get("builds", ())),
        note=said.get("note", ""),
        evidence=cited.all([said["at"]], method)[0],
    )


def of_target(rows: Iterable[ModelRow], target: Target) -> Iterator[ModelRow]:
    """The rows on a target's chip, or on no chip of its vendor's more than on others."""
    for row in rows:
        if row.of.vendor == target.vendor and (not row.chips or target.chip in row.chips):
            yield row


def named(rows: Iterable[ModelRow], text: str) -> tuple[ModelRow, ...]:
    """The rows of a model by a part of its name, or by a type, class or source of it."""
    wanted = _plain(text)
    return tuple(
        row for row in rows
        if wanted in _plain(row.name)
        or wanted in map(_plain, (*row.types, *row.classes, *row.builds))
    )  # fmt: skip


@kept
def _plain(text: str) -> str:
    """Without what people write or leave out: ``Llama-3.1`` is ``llama3.1``."""
    return text.lower().translate({ord(sign): None for sign in " -_"})


def _surest(one: ListedModel) -> tuple[int, bool, int, int]:
    """What is to stand first: the row that names the model most closely, and says the best."""
    return _SURENESS[one.by], not one.tells, len(one.row.types), one.outcome.rank


def evidence_on(
    rows: Iterable[ModelRow], model: ModelIdentity, target: Target, mode: str, runs: bool | None
) -> ModelEvidence | None:
    """What lists say of a model on a target, beside the verdict ``runs``; None: nothing.

    Of the rows that speak of its precision, those of the surest likeness decide: one that has it
    run, whatever others say; else one by which it does not.
    """
    found = [
        ListedModel(row, said or row.best, by, tells=said is not None)
        for row in of_target(rows, target)
        if row.mode == mode and (by := model.likeness(row))
        for said in [row.outcome_in(model.dtype)]
    ]
    if not found:
        return None
    found.sort(key=_surest)
    telling = [one for one in found if one.tells]
    sure = {one.outcome.runs for one in telling if one.by is telling[0].by}
    said = True if True in sure else (False if False in sure else None)
    opposed = None not in (said, runs) and said is not runs
    return ModelEvidence(tuple(found), said, contradicts=opposed)
