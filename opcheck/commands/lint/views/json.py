"""``opcheck.lint/1``: what sources say that no dispatcher sees."""

from opcheck.model.porting import LINT_SCHEMA, Lint, LintFinding, LintTarget, Transfer
from opcheck.model.verdict import Verdict
from opcheck.views.document.parts import Json, as_text, evidence_value
from opcheck.views.formats import PLAIN, Page


def render(found: Lint, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.lint/1``."""
    return as_text(lint_document(found))


def lint_document(found: Lint) -> Json:
    """The whole answer as JSON."""
    return {
        "schema": LINT_SCHEMA,
        "opcheck_version": found.opcheck_version,
        "path": found.path,
        "files": found.files,
        "skipped": [{"file": one.file, "reason": one.reason} for one in found.skipped],
        "ignored": found.ignored,
        "changed": list(found.changed),
        "written": found.written,
        "diff": found.diff,
        "targets": [_target(target) for target in found.targets],
    }


def _target(one: LintTarget) -> Json:
    counts = {verdict.value: one.counts.get(verdict, 0) for verdict in Verdict}
    return {
        "target": str(one.target),
        "vendor": one.target.vendor,
        "chip": one.target.chip,
        "sdk": one.target.sdk,
        "torch": one.target.torch,
        "device_type": one.target.device_type,
        "answers": one.answers,
        "summary": {**counts, "cautions": one.cautions},
        "transfers": [_transfer(transfer) for transfer in one.transfers],
        "findings": [_finding(finding) for finding in one.findings],
    }


def _transfer(one: Transfer) -> Json:
    return {
        "write": one.write,
        "text": one.text,
        "covers": sorted(one.covers),
        "evidence": [evidence_value(fact) for fact in one.evidence],
    }


def _finding(one: LintFinding) -> Json:
    return {
        "file": one.file,
        "line": one.span.line,
        "column": one.span.column,
        "end_line": one.span.end_line,
        "end_column": one.span.end_column,
        "code": one.code,
        "written": one.written,
        "verdict": one.verdict.value,
        "confidence": one.confidence.value,
        "caution": one.caution,
        "text": one.text,
        "replacement": one.replacement,
        "fixable": one.fixable,
        "evidence": [evidence_value(fact) for fact in one.evidence],
    }
