"""``opcheck.project/1`` as JSON and back: each source with its whole report, or why it has none."""

import json
from collections.abc import Sequence
from typing import Any

from opcheck.files import MOST_REPORT_BYTES, open_regular, read_bytes
from opcheck.lang.sentence import Sentence
from opcheck.model.project import SCHEMA, Candidate, Kind, Lacks, ProjectReport, SourceResult
from opcheck.model.report import SCHEMA as REPORT
from opcheck.views.document.parts import Json, as_text
from opcheck.views.document.reading import Node, of_schema, opened
from opcheck.views.document.report import read_report, report_document
from opcheck.views.order import arranged
from opcheck.views.report.sarif import SCHEMA as SARIF

_HINT = Sentence("opcheck scan FOLDER --format json writes one")
_HEAD = 64
"""Bytes in which a document says what it is."""


def project_document(found: ProjectReport) -> Json:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "opcheck_version": found.opcheck_version,
        "folder": found.folder,
        "policy": found.policy,
        "sources": [_source(one) for one in found.sources],
        "lacking": lacking_value(found.lacking),
        "notes": [str(note) for note in found.notes],
    }


def _source(one: SourceResult) -> Json:
    return {
        "name": one.name,
        "source": one.source,
        "error": error_value(one.error, one.hint),
        "report": None if one.report is None else report_document(arranged(one.report)),
    }


def error_value(error: str, hint: str) -> Json | None:
    """Why there is no whole answer."""
    return {"message": str(error), "hint": str(hint)} if error else None


def lacking_value(lacking: Sequence[Candidate]) -> list[Json]:
    """What was found and cannot be checked as it is."""
    return [
        {
            "source": one.source,
            "kind": one.kind.value,
            "line": one.line,
            "lacks": one.lacks.value,
            "names": list(one.names),
        }
        for one in lacking
    ]


def is_document(path: str) -> bool:
    """Whether a file begins as such a document does."""
    try:
        with open_regular(path, MOST_REPORT_BYTES) as stream:
            return SCHEMA.encode() in stream.read(_HEAD)
    except OSError:
        return False


def project_at(path: str) -> ProjectReport:
    """The document of a file.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    return project_from_json(read_bytes(path, MOST_REPORT_BYTES).decode("utf-8", "replace"), path)


def project_from_json(text: str, name: str) -> ProjectReport:
    """The answer that ``text`` holds; ``name`` says in messages which document it was."""
    root = opened(text, name, SCHEMA, _HINT)
    return ProjectReport(
        root.text("opcheck_version"),
        root.text("folder"),
        root.text("policy"),
        tuple(map(_read_source, root.items("sources"))),
        tuple(map(_read_lacking, root.items("lacking"))),
        root.sentences("notes"),
    )


def _read_source(node: Node) -> SourceResult:
    error, report = node.optional("error"), node.optional("report")
    return SourceResult(
        node.text("name"),
        node.text("source"),
        None if report is None else read_report(of_schema(report, REPORT)),
        "" if error is None else error.sentence("message"),
        "" if error is None else error.sentence("hint"),
    )


def _read_lacking(node: Node) -> Candidate:
    return Candidate(
        node.text("source"),
        node.member("kind", Kind),
        Sentence("a class of modules"),
        node.number("line"),
        lacks=node.member("lacks", Lacks),
        names=node.texts("names"),
    )


def merged_logs(logs: Sequence[str]) -> str:
    """Logs of SARIF as one; each run has a category of its own, that of its source."""
    runs: list[Any] = []
    for text in logs:
        runs += json.loads(text)["runs"]
    return as_text({"$schema": SARIF, "version": "2.1.0", "runs": runs})
