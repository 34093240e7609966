"""What lists say of whole models, as JSON objects and back."""

from opcheck.model.model_lists import (
    Likeness,
    ListedModel,
    ModelEvidence,
    ModelList,
    ModelRow,
    Outcome,
)
from opcheck.views.document.parts import Json
from opcheck.views.document.parts import evidence_value as source_value
from opcheck.views.document.reading import Node, read_evidence


def row_value(row: ModelRow) -> Json:
    """One row of a list as JSON."""
    return {
        "list": row.of.name,
        "vendor": row.of.vendor,
        "engine": row.of.engine,
        "release": row.of.release,
        "name": row.name,
        "mode": row.mode,
        "says": None if row.outcome is None else row.outcome.value,
        "precisions": {said.value: list(names) for said, names in row.precisions.items()},
        "chips": list(row.chips),
        "model_types": list(row.types),
        "classes": list(row.classes),
        "builds": list(row.builds),
        "note": row.note,
        "evidence": source_value(row.evidence),
    }


def evidence_value(found: ModelEvidence) -> Json:
    """What lists say of a scanned model on one target, as JSON."""
    return {
        "runs": found.runs,
        "contradicts": found.contradicts,
        "rows": [
            {
                "outcome": one.outcome.value,
                "by": one.by.value,
                "tells": one.tells,
                "row": row_value(one.row),
            }
            for one in found.listed
        ],
    }


def read_lists(node: Node) -> ModelEvidence:
    """What lists say of a scanned model on one target."""
    runs = node.optional("runs")
    return ModelEvidence(
        listed=tuple(map(_read_listed, node.items("rows"))),
        runs=None if runs is None else runs.as_bool(),
        contradicts=node.truth("contradicts"),
    )


def _read_listed(node: Node) -> ListedModel:
    return ListedModel(
        row=_read_row(node.at("row")),
        outcome=node.member("outcome", Outcome),
        by=node.member("by", Likeness),
        tells=node.truth("tells"),
    )


def _read_row(node: Node) -> ModelRow:
    precisions = node.at("precisions")
    return ModelRow(
        of=ModelList(
            node.text("list"), node.text("vendor"), node.text("engine"), node.text("release")
        ),
        name=node.text("name"),
        mode=node.text("mode"),
        outcome=None if node.optional("says") is None else node.member("says", Outcome),
        precisions={
            said: precisions.texts(said.value) for said in Outcome if precisions.has(said.value)
        },
        chips=node.texts("chips"),
        types=node.texts("model_types"),
        classes=node.texts("classes"),
        builds=node.texts("builds"),
        note=node.text("note"),
        evidence=read_evidence(node.at("evidence")),
    )
