"""``opcheck.models/1``: what lists say of whole models."""

from opcheck.commands.models.values import ListSummary, ModelsAnswer
from opcheck.model.model_lists import Outcome
from opcheck.views.document.model_lists import row_value
from opcheck.views.document.parts import Json, as_text
from opcheck.views.formats import PLAIN, Page

MODELS_SCHEMA = "opcheck.models/1"


def render(answer: ModelsAnswer, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.models/1``."""
    return as_text(models_document(answer))


def models_document(answer: ModelsAnswer) -> Json:
    """The lists, and the rows that were asked for."""
    return {
        "schema": MODELS_SCHEMA,
        "name": answer.name,
        "targets": list(answer.targets),
        "lists": list(map(_list, answer.lists)),
        "rows": list(map(row_value, answer.rows)),
    }


def _list(found: ListSummary) -> Json:
    return {
        "name": found.of.name,
        "vendor": found.of.vendor,
        "engine": found.of.engine,
        "release": found.of.release,
        "repository": found.repository,
        "date": found.date,
        "outcomes": {said.value: found.outcomes.get(said, 0) for said in Outcome},
    }
