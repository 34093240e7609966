"""``opcheck.export/1``: how far a model came on its way to a runtime, as a JSON object."""

from opcheck.commands.export.values import ExportAnswer
from opcheck.views.document.parts import Json, as_text, reason_value
from opcheck.views.document.report import taken_value
from opcheck.views.formats import PLAIN, Page

EXPORT_SCHEMA = "opcheck.export/1"


def render(answer: ExportAnswer, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.export/1``."""
    return as_text(export_document(answer))


def export_document(answer: ExportAnswer) -> Json:
    """What became of the model, and what was predicted."""
    run = answer.run
    return {
        "schema": EXPORT_SCHEMA,
        "model": answer.source,
        "target": answer.target,
        "stage": run.stage.value,
        "error": run.error,
        "cause": run.cause and run.cause.value,
        "place": run.place,
        "code": run.code,
        "came_through": answer.came_through,
        "by_cpu_provider": answer.by_cpu_provider,
        "file": answer.output,
        "opset": run.opset,
        "versions": dict(run.versions),
        "operators": dict(run.operators),
        "outputs": [
            {
                "name": each.name,
                "shape": list(each.shape),
                "dtype": each.dtype,
                "largest": each.largest,
            }
            for each in run.differences
        ],
        "random": run.random,
        "sizes": dict(run.sizes),
        "predicted": answer.predicted,
        "agrees": answer.agrees,
        "blockers": [
            {"op": each.op, "verdict": each.verdict.value, "reason": reason_value(each.reason)}
            for each in answer.blockers
        ],
        "not_open": [taken_value(each) for each in answer.sizes],
    }
