"""The order of the rooms: source, trace, database, resolve, report. Nothing here imports torch."""

from opcheck.pipeline.chosen import choose
from opcheck.pipeline.databases import (
    database_check,
    database_diff,
    database_import,
    database_show,
    database_status,
    targets,
)
from opcheck.pipeline.doctored import doctor
from opcheck.pipeline.emulated import emulate
from opcheck.pipeline.fixed import fix
from opcheck.pipeline.gate_files import is_report, policy_from, report_at, report_on
from opcheck.pipeline.gated import gate, gate_report, init_policy
from opcheck.pipeline.linted import lint
from opcheck.pipeline.operators import explain
from opcheck.pipeline.planned import check_rules, plan, rules
from opcheck.pipeline.probed import probe
from opcheck.pipeline.reproduced import repro
from opcheck.pipeline.scan import scan, scan_module, upgrade
from opcheck.pipeline.tuned import tune

__all__ = [
    "check_rules",
    "choose",
    "database_check",
    "database_diff",
    "database_import",
    "database_show",
    "database_status",
    "doctor",
    "emulate",
    "explain",
    "fix",
    "gate",
    "gate_report",
    "init_policy",
    "is_report",
    "lint",
    "plan",
    "policy_from",
    "probe",
    "report_at",
    "report_on",
    "repro",
    "rules",
    "scan",
    "scan_module",
    "targets",
    "tune",
    "upgrade",
]
