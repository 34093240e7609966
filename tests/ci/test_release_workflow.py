"""The workflow that publishes a release: its own scripts run, and what it asks of the Makefile."""

import re
from pathlib import Path

import pytest

from opcheck.version import __version__
from tests.ci.pipelines import ROOT, Repository, loaded, repository
from tests.release.__main__ import DIST

WORKFLOW = loaded(ROOT / "ci/github/release.yml")
CHECK, PUBLISH = (WORKFLOW["jobs"][name] for name in ("check", "publish"))
SCRIPTS = [step["run"] for step in CHECK["steps"] if "run" in step]


@pytest.fixture
def scratch(tmp_path: Path) -> Repository:
    made = repository(tmp_path)
    (made.folder / "opcheck").mkdir()
    for name in ("opcheck/version.py", "CHANGELOG.md"):
        made.write(name, (ROOT / name).read_text(encoding="utf-8"))
    made.write("CHANGELOG.md", f"# Changelog\n\n## [{__version__}] - 2026-01-01\n")
    return made


def test_only_the_tag_of_this_version_is_released(scratch: Repository) -> None:
    assert scratch.run(SCRIPTS[0], GITHUB_REF_NAME=f"v{__version__}").returncode == 0
    assert scratch.run(SCRIPTS[0], GITHUB_REF_NAME="v99.0.0").returncode == 1
    scratch.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n")
    assert scratch.run(SCRIPTS[0], GITHUB_REF_NAME=f"v{__version__}").returncode == 1


def test_it_runs_what_the_makefile_has() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert [line.split()[:2] for line in SCRIPTS[1:]] == [["make", "release-check"]]
    assert "release-check" in targets
    (kept,) = (step["with"] for step in CHECK["steps"] if "upload" in step.get("uses", ""))
    assert (ROOT / kept["path"]).resolve() == DIST


def test_only_the_job_that_publishes_may_and_after_the_check_alone() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert "permissions" not in CHECK
    assert PUBLISH["permissions"] == {"id-token": "write"}
    assert PUBLISH["needs"] == "check"
    assert not [step for step in PUBLISH["steps"] if "run" in step], "it runs no code of its own"
    assert WORKFLOW[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 takes "on" for true
    assert "${{" not in "".join(SCRIPTS)
