"""``opcheck.project-gate/1``: the whole answer on each source, and which have none."""

from opcheck.commands.gate.project.values import SCHEMA, ProjectGate, SourceGate
from opcheck.commands.gate.views.json import gate_document
from opcheck.views.document.parts import Json, as_text
from opcheck.views.formats import PLAIN, Page
from opcheck.views.project.document import error_value, lacking_value


def render(found: ProjectGate, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.project-gate/1``."""
    return as_text(
        {
            "schema": SCHEMA,
            "opcheck_version": found.opcheck_version,
            "folder": found.report.folder,
            "policy": found.policy,
            "against": found.against,
            "passed": found.passed,
            "exit_code": int(found.exit_code),
            "sources": [_source(one) for one in found.sources],
            "lacking": lacking_value(found.lacking),
            "notes": [str(note) for note in (*found.notes, *found.report.notes)],
        }
    )


def _source(one: SourceGate) -> Json:
    return {
        "name": one.name,
        "passed": one.passed,
        "error": error_value(one.error, one.hint),
        "gate": None if one.result is None else gate_document(one.result),
    }
