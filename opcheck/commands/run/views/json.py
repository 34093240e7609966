"""``opcheck.run/1``: what became of a script on an emulated device as a JSON object."""

from opcheck.model.script import SCHEMA, Frame, ScriptRun
from opcheck.pipeline.script_report import report_of_script
from opcheck.views.document.emulation import emulation_document, site_value
from opcheck.views.document.parts import Json, as_text
from opcheck.views.document.report import report_document
from opcheck.views.formats import PLAIN, Page
from opcheck.views.order import arranged, arranged_emulation


def render(found: ScriptRun, page: Page = PLAIN) -> str:
    """Give the run as ``opcheck.run/1``, its parts arranged by their contracts."""
    return as_text(
        {
            "schema": SCHEMA,
            "script": {
                "name": found.script.name,
                "module": found.script.module,
                "argv": list(found.script.argv),
                "launcher": found.script.launcher,
                "processes": found.script.processes,
            },
            "runs": found.runs,
            "used": found.used,
            "ending": found.ending.value,
            "status": found.status,
            "steps": found.steps,
            "forwards": found.forwards,
            "frames": list(map(_frame, found.frames)),
            "caught": list(map(site_value, found.caught)),
            "writes": [{"path": item.path, "bytes": item.nbytes} for item in found.writes],
            "planned": found.plan is not None,
            "emulation": emulation_document(arranged_emulation(found.emulation)),
            "report": report_document(arranged(report_of_script(found))),
        }
    )


def _frame(frame: Frame) -> Json:
    return {
        "file": frame.file,
        "line": frame.line,
        "function": frame.function,
        "source": frame.source,
    }
