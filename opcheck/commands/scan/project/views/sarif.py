"""A project's answer as one log of SARIF 2.1.0 with a run for each source."""

import json
from collections.abc import Sequence
from typing import Any

from opcheck.commands.scan.project.values import ProjectReport
from opcheck.views.document.parts import as_text
from opcheck.views.formats import PLAIN, Page
from opcheck.views.report import sarif


def render(found: ProjectReport, page: Page = PLAIN) -> str:
    """The runs of every report in one log."""
    reports = [one.report for one in found.sources if one.report is not None]
    return merged([sarif.render(report, page) for report in reports])


def merged(logs: Sequence[str]) -> str:
    """Several logs as one; each run has a category of its own, that of its source."""
    runs: list[Any] = []
    for text in logs:
        runs += json.loads(text)["runs"]
    return as_text({"$schema": sarif.SCHEMA, "version": "2.1.0", "runs": runs})
