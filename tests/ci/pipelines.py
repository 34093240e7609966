"""A scratch repository, and what a CI's runner does with it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from opcheck.model.report import Report
from opcheck.views.formats import report_view

ROOT = Path(__file__).parent.parent.parent
ACTION = ROOT / "action.yml"
_INPUT = re.compile(r"\$\{\{ inputs\.(?P<name>[a-z-]+) \}\}")


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


@dataclass(frozen=True)
class Repository:
    """A git repository with a branch ``main`` at ``origin``, and ``opcheck`` on the path."""

    folder: Path
    environment: Mapping[str, str]

    def run(self, script: str, **more: str) -> subprocess.CompletedProcess[str]:
        """What a step of a shell does, with its environment and no other."""
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.folder, env={**self.environment, **more}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=self.environment, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    def write(self, name: str, content: str | Report) -> None:
        text = report_view("json").render(content) if isinstance(content, Report) else content
        (self.folder / name).write_text(text, encoding="utf-8")

    def commit(self) -> str:
        """Commit everything, on the branch that is also at origin; the commit."""
        self.git("add", "-A")
        self.git("commit", "--quiet", "--allow-empty", "-m", "a change")
        self.git("push", "--quiet", "origin", "HEAD:main")
        return self.git("rev-parse", "HEAD")


def repository(place: Path) -> Repository:
    """A new one under ``place``; its home is there too, so that no settings are somebody's."""
    programs = place / "bin"
    programs.mkdir()
    program(programs / "opcheck", f'exec "{sys.executable}" -m opcheck "$@"')
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(place),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "LANG": "C.UTF-8",
        **{
            f"GIT_{who}_{what}": text
            for who in ("AUTHOR", "COMMITTER")
            for what, text in (("NAME", "somebody"), ("EMAIL", "a@example.org"))
        },
    }
    made = Repository(place / "tree", environment)
    made.folder.mkdir()
    made.git("init", "--quiet", "--initial-branch", "main")
    made.git("init", "--quiet", "--bare", str(place / "origin"))
    made.git("remote", "add", "origin", str(place / "origin"))
    return made


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@dataclass(frozen=True)
class Step:
    """What GitHub's runner has after a step."""

    code: int
    log: str
    errors: str
    outputs: Mapping[str, str]
    summary: str


def github_step(repository: Repository, name: str, base: str = "", **inputs: str) -> Step:
    """Run one step of the action as the runner does: its defaults, its environment, its files."""
    action = loaded(ACTION)
    given = {key: one.get("default", "") for key, one in action["inputs"].items()}
    given |= {key.replace("_", "-"): text for key, text in inputs.items()}
    (step,) = (step for step in action["runs"]["steps"] if step["name"] == name)
    kept = {key: repository.folder.parent / key for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for path in kept.values():
        path.write_text("")
    environment = {key: _resolved(text, given, base) for key, text in step["env"].items()}
    done = repository.run(
        step["run"],
        **environment,
        **{key: str(path) for key, path in kept.items()},
        GITHUB_ACTION_PATH=str(ROOT),
        GITHUB_REPOSITORY="somebody/models",
    )
    lines = kept["GITHUB_OUTPUT"].read_text().splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    summary = kept["GITHUB_STEP_SUMMARY"].read_text()
    return Step(done.returncode, done.stdout, done.stderr, outputs, summary)


def _resolved(text: str, given: Mapping[str, str], base: str) -> str:
    """An expression of the action as the runner evaluates it."""
    if found := _INPUT.fullmatch(text):
        return given[found["name"]]
    if text == "${{ inputs.compare == 'true' && github.event.pull_request.base.sha || '' }}":
        return base if given["compare"] == "true" else ""
    if text == "${{ github.event.pull_request.number }}":
        return given.get("number", "")
    assert text == "${{ steps.gate.outputs.comment }}", text
    return given["body"]


def parsed(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))
