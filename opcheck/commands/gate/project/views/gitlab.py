"""A project's answer as GitLab's code quality report: what it has for every source."""

import json
from typing import Any

from opcheck.commands.gate.project.values import ProjectGate
from opcheck.commands.gate.views import gitlab
from opcheck.views.document.parts import as_text
from opcheck.views.formats import PLAIN, Page


def render(found: ProjectGate, page: Page = PLAIN) -> str:
    """The issues of all sources in one list, each once."""
    issues: dict[str, Any] = {}
    for one in found.sources:
        for issue in json.loads(gitlab.render(one.result, page)) if one.result is not None else ():
            issues.setdefault(issue["fingerprint"], issue)
    return as_text([*issues.values()])
