"""What code scanning shows of a rule: its help, and where there is more."""

import json

import pytest

from opcheck.site import GATE, REASONS, RUN, SITE
from opcheck.views.formats import command_view, report_view
from tests.commands.run.test_views import RUNS
from tests.views.gates import GATES
from tests.views.samples import STANDARD


@pytest.mark.parametrize(
    "log",
    [
        *(report_view("sarif").render(report) for report in STANDARD.values()),
        *(command_view("gate", "sarif").render(found) for found in GATES.values()),
        *(command_view("run", "sarif").render(found) for found in RUNS.values()),
    ],
)
def test_every_rule_has_help_and_a_page_of_the_site(log: str) -> None:
    (run,) = json.loads(log)["runs"]
    driver = run["tool"]["driver"]
    assert driver["informationUri"] == SITE
    for rule in driver["rules"]:
        assert rule["helpUri"] in (REASONS, GATE, RUN)
        assert rule["help"]["text"]
        assert rule["help"]["markdown"].replace("`", "").startswith(rule["help"]["text"][:20])
