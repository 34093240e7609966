"""A report with any value in any place is shown, or is one error, by every format and command."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from opcheck.app.main import run
from opcheck.errors import ExitCode, UsageError
from opcheck.model.report import Report
from opcheck.views.document.report import from_json
from opcheck.views.formats import Page, report_formats, report_view
from tests.views.plans import PLANS
from tests.views.samples import STANDARD

Where = tuple[str | int, ...]
TEXTS = (
    "", "unknown", "::", "9" * 5000, "\ud800",
    f"x: float32[{'9' * 5000}]", f"x={'9' * 5000}", f"x={'[' * 5000}{']' * 5000}",
    f"x: float32[{','.join(['9'] * 1000)}]",
)  # fmt: skip
REPORTS = {
    "three targets": report_view("json").render(STANDARD["three-targets"]),
    "plan": report_view("json").render(PLANS["swap"]),
}


def places(value: Any, where: Where = ()) -> Iterator[Where]:
    """Every place of a document, of alike items of a list the first."""
    yield where
    if isinstance(value, dict):
        for key, one in value.items():
            yield from places(one, (*where, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*where, 0))


def changed(document: Any, where: Where, value: Any) -> str:
    if not where:
        return json.dumps(value)
    made = part = deepcopy(document)
    for step in where[:-1]:
        part = part[step]
    part[where[-1]] = value
    return json.dumps(made)


def wrong(document: Any, where: Where) -> tuple[Any, ...]:
    """What is wrong in a place, and may look right."""
    value = document
    for step in where:
        value = value[step]
    if isinstance(value, str):
        return "", "unknown", "9" * 5000, "\ud800"
    return (0, 2**62, -1) if isinstance(value, int | float) else (None, [], {})


def shown(report: Report) -> None:
    for name in report_formats():
        text = report_view(name).render(report, Page(verbose=True, explain=True))
        assert isinstance(text, str)


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_every_format_shows_what_the_reader_takes(name: str) -> None:
    document, taken = json.loads(REPORTS[name]), 0
    for where in places(document):
        for value in wrong(document, where):
            try:
                report = from_json(changed(document, where, value))
            except UsageError as error:
                assert error.message
            else:
                shown(report)
                taken += 1
    assert taken > 50


def test_a_mode_that_this_version_does_not_know_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    path.write_text(REPORTS["three targets"].replace('"mode": "inference"', '"mode": "dream"'))
    assert '"mode": "dream"' in path.read_text()
    for name in ("html", "text"):
        assert run(["convert", str(path), "--format", name]) == ExitCode.PASS
        assert "dream" in capsys.readouterr().out


@pytest.mark.parametrize("key", ["target", "op", "inputs"])
def test_a_script_is_made_of_what_is_sound_alone(
    key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(REPORTS["three targets"])
    path = tmp_path / "report.json"
    target = document["targets"][0]
    finding = target["findings"][0]
    part, where = {"target": (target, "target"), "op": (finding, "op")}.get(
        key, (finding["uses"][0]["inputs"], 0)
    )
    for value in TEXTS:
        part[where] = value
        path.write_text(json.dumps(document))
        code = run(["repro", str(path), finding["id"]])
        told = capsys.readouterr().err
        assert (code, told.count("error: ")) == (ExitCode.USAGE, 1), (value[:40], told)
