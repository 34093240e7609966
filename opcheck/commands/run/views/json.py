"""``opcheck.run/1``: what became of a script on an emulated device as a JSON object."""

from opcheck.model.comparison import Comparison, Parting, Recast
from opcheck.model.script import SCHEMA, ChipMemory, Frame, ScriptRun
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
            "chip_memory": _chip_memory(found.basis.memory),
            "frames": list(map(_frame, found.frames)),
            "caught": list(map(site_value, found.caught)),
            "writes": [{"path": item.path, "bytes": item.nbytes} for item in found.writes],
            "planned": found.plan is not None,
            "comparison": _comparison(found.comparison) if found.comparison else None,
            "emulation": emulation_document(arranged_emulation(found.emulation)),
            "report": report_document(arranged(report_of_script(found))),
        }
    )


def _chip_memory(found: ChipMemory | None) -> Json | None:
    return None if found is None else {"least": found.least, "most": found.most}


def _frame(frame: Frame) -> Json:
    return {
        "file": frame.file,
        "line": frame.line,
        "function": frame.function,
        "source": frame.source,
    }


def _comparison(found: Comparison) -> Json:
    return {
        "compared": found.compared,
        "agreeing": found.agreeing,
        "apart": found.apart,
        "alone": found.alone,
        "left_out": found.left_out,
        "seeded": found.seeded,
        "cpu_error": found.cpu_error,
        "partings": [
            {**_parting(one), "within": list(map(_parting, one.within))} for one in found.partings
        ],
        "recast": found.recast
        and {
            **_tensor(found.recast),
            "dtypes": list(found.recast.dtypes),
            "count": found.recast.count,
        },
    }


def _parting(one: Parting) -> Json:
    return {
        **_tensor(one),
        "why": one.why.value,
        "dtypes": list(one.dtypes),
        "shapes": list(map(list, one.shapes)),
        "absolute": one.absolute,
        "relative": one.relative,
        "allowed": {"absolute": one.allowed[0], "relative": one.allowed[1]},
        "drawn_apart": one.drawn_apart,
        "count": one.count,
    }


def _tensor(one: Parting | Recast) -> Json:
    moment = one.moment
    return {
        "kind": moment.kind.value,
        "module": moment.module,
        "call": moment.call,
        "path": one.path,
        "file": one.file,
        "line": one.line,
    }
