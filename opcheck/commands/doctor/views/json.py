"""``opcheck.doctor/1``: what is installed, whether it goes together, and what would."""

from opcheck.commands.doctor.values import SCHEMA, Doctor, DoctorFinding, DoctorTarget, Part, Setup
from opcheck.views.document.parts import Json, as_text, evidence_value
from opcheck.views.formats import PLAIN, Page


def render(found: Doctor, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.doctor/1``."""
    return as_text(doctor_document(found))


def doctor_document(found: Doctor) -> Json:
    """The whole answer as JSON."""
    return {
        "schema": SCHEMA,
        "opcheck_version": found.opcheck_version,
        "passed": found.passed,
        "parts": [_part(part) for part in found.parts],
        "findings": [_finding(finding) for finding in found.findings],
        "targets": [_target(target) for target in found.targets],
        "written": list(found.written),
    }


def _part(one: Part) -> Json:
    return {"kind": one.kind, "name": one.name, "version": one.version, "note": one.note}


def _finding(one: DoctorFinding) -> Json:
    return {
        "code": one.code,
        "severity": one.severity.value,
        "subject": one.subject,
        "text": one.text,
        "mends": list(one.mends),
        "evidence": [evidence_value(fact) for fact in one.evidence],
    }


def _target(one: DoctorTarget) -> Json:
    return {
        "target": one.name,
        "vendor": one.vendor,
        "title": one.title,
        "planned": one.planned,
        "passed": one.passed,
        "findings": [_finding(finding) for finding in one.findings],
        "setup": None if one.setup is None else _setup(one.setup),
    }


def _setup(one: Setup) -> Json:
    return {
        "release": one.release,
        "components": [
            {
                "name": part.name,
                "version": part.version,
                "evidence": [evidence_value(fact) for fact in part.evidence],
            }
            for part in one.components
        ],
        "pythons": list(one.pythons),
        "systems": list(one.systems),
        "image": one.image,
        "by_hand": list(one.by_hand),
        "commands": list(one.commands),
        "settings": list(one.settings),
        "unknown": list(one.unknown),
    }
