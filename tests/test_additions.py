"""What CONTRIBUTING says one has to write for an addition is all that it takes.

Each is really added, in a copy of the package, and used from the command line.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from opcheck.views.formats import report_view
from tests.console import ROOT
from tests.views.samples import STANDARD

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Addition:
    """What is written, and a command line that shows that it is there."""

    files: Mapping[str, str]
    """Path -> content, which is appended where the file is there; ``<name>`` in a path of
    CONTRIBUTING is ``added``."""
    line: Sequence[str]
    shows: Sequence[str]


ADDITIONS: Mapping[str, Addition] = {
    "a command": Addition(
        {
            "opcheck/commands/added/__init__.py": '"""Greet whoever asks.\n\nAt length.\n"""\n',
            "opcheck/commands/added/command.py": (
                "from opcheck.app.output import Output\n\n\n"
                "def added() -> None:\n"
                '    Output(None).write("good day\\n")\n'
            ),
        },
        ["added"],
        ["good day"],
    ),
    "a format of reports": Addition(
        {
            "opcheck/views/report/added.py": (
                "from opcheck.views.formats import PLAIN\n\n\n"
                "def render(report, page=PLAIN):\n"
                '    return f"{report.model.source}: {len(report.targets)}\\n"\n'
            )
        },
        ["convert", "report.json", "--format", "added"],
        ["examples/rope/model.py:build: 1"],
    ),
    "a format of a command's own answer": Addition(
        {
            "opcheck/commands/targets/views/csv.py": (
                "from opcheck.views.formats import PLAIN\n\n\n"
                "def render(rows, page=PLAIN):\n"
                '    return "".join(f"{row.target.name},{row.registered}\\n" for row in rows)\n'
            )
        },
        ["targets", "--format", "csv"],
        ["ascend-910b,"],
    ),
    "a source": Addition(
        {
            "opcheck/source/kinds/added.py": (
                "from opcheck.source.base import Loaded, Source\n\n\n"
                "class Added(Source):\n"
                '    name = "added"\n'
                '    help = "added:SIZE"\n\n'
                "    @classmethod\n"
                "    def claims(cls, text):\n"
                '        return text.startswith("added:")\n\n'
                "    @classmethod\n"
                "    def path(cls, text):\n"
                "        return None\n\n"
                "    def load(self, text, options):\n"
                "        import torch\n\n"
                '        size = int(text.partition(":")[2])\n'
                "        net = torch.nn.Linear(size, 2).eval()\n"
                '        return Loaded(net, (torch.ones(1, size),), {}, self.name, "")\n'
            )
        },
        ["scan", "added:3", "-t", "ascend-910b"],
        ["runs: added:3 on ascend-910b"],
    ),
    "a rule": Addition(
        {
            "opcheck/rewrite/rules/added.py": (
                "import torch\n"
                "from torch import Tensor\n\n"
                "from opcheck.rewrite.base import Rule\n\n\n"
                "def erfcx(self: Tensor) -> Tensor:\n"
                "    return torch.exp(self * self) * torch.erfc(self)\n\n\n"
                "class Added(Rule):\n"
                '    """By its definition."""\n\n'
                '    name = "added-by-definition"\n'
                '    label = "tolerance"\n'
                "    tolerance = 1e4\n"
                '    replaces = ("aten::special_erfcx",)\n'
                '    summary = "Multiply erfc by the exponential"\n'
                "    replace = staticmethod(erfcx)\n\n"
                "    def example(self, op, draw):\n"
                "        return (draw.tensor(edges=False, dtypes=(torch.float64,)),), {}\n"
            )
        },
        ["rules", "added-by-definition", "--check"],
        ["aten::special_erfcx by added-by-definition"],
    ),
    "a fusion": Addition(
        {
            "opcheck/rewrite/fusing/rules/added.py": (
                "import torch\n\n"
                "from opcheck.rewrite.fusing.base import Fusion\n\n\n"
                "def negated(x):\n"
                "    return x.neg().abs()\n\n\n"
                "class Added(Fusion):\n"
                '    """A sign that does not matter."""\n\n'
                '    name = "added-fusion"\n'
                '    summary = "Use abs alone"\n'
                '    kernels = ("aten::abs",)\n'
                "    tolerance = 0.0\n"
                "    variants = (negated,)\n"
                "    replace = staticmethod(lambda x: x.abs())\n\n"
                "    def example(self):\n"
                '        return {"x": torch.ones(2)}\n'
            )
        },
        ["fix", "net.py:signs", "-t", "ascend-910b", "--better"],
        ["aten::abs · added-fusion", "2 calls become 1"],
    ),
    "a kind of condition": Addition(
        {
            "opcheck/model/predicates.py": (
                "\n\nclass Volume(Predicate, frozen=True):\n"
                '    """The number of elements of a tensor argument."""\n\n'
                '    kind = "volume"\n\n'
                "    def measure(self, value, dim=0):\n"
                "        return str(prod(value.shape)) if isinstance(value, TensorMeta) else None\n"
            )
        },
        ["scan", "net.py:net", "-t", "ascend-910b", "--db", "overlay", "--verbose"],
        ["self has 6 elements"],
    ),
    "a check of sources": Addition(
        {
            "opcheck/lint/checks/added.py": (
                "from opcheck.lint.base import Check, Judgement, Sighting\n"
                "from opcheck.model.verdict import Verdict\n\n\n"
                "class Added(Check):\n"
                '    """A call of a function that is called so."""\n\n'
                '    name = "added"\n\n'
                "    def in_python(self, source):\n"
                "        for call in source.calls():\n"
                '            if source.meaning(call.func) == "forbidden.call":\n'
                '                yield Sighting(source.span(call), "forbidden")\n\n'
                "    def judge(self, seen, ground):\n"
                '        return Judgement(Verdict.UNSUPPORTED, "is not to be called")\n'
            )
        },
        ["lint", "train.py", "-t", "ascend-910b"],
        ["is not to be called"],
    ),
}


NET = """
import torch

def net():
    return torch.nn.ReLU().eval(), (torch.ones(2, 3),)


class Signs(torch.nn.Module):
    def forward(self, x):
        return x.neg().abs()


def signs():
    return Signs(), torch.ones(2, 3)
"""
OVERLAY = """
schema: opcheck.overlay/1
vendor: ascend
reason: of our own
method: tested
date: "2026-10-01"
sources:
  lab: {repo: acme/lab, commit: 0a1b2c3, path: report.md, date: "2026-10-01"}
conditions:
  - ops: [aten::relu]
    code: too-many-elements
    verdict: unsupported
    confidence: high
    text: "{argument} has {actual} elements"
    at: ["lab:13"]
    tests: [{subject: volume, argument: self, maximum: 5}]
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, beside the database, and what the commands read."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "opcheck", folder / "opcheck", ignore=ignored)
    (folder / "compat_db").symlink_to(ROOT / "compat_db")
    report = report_view("json").render(STANDARD["mixed"])
    (folder / "report.json").write_text(report, encoding="utf-8")
    (folder / "net.py").write_text(NET)
    (folder / "overlay").mkdir()
    (folder / "overlay" / "ours.yaml").write_text(OVERLAY)
    (folder / "train.py").write_text("import forbidden\n\nforbidden.call()\n")
    return folder


def run(folder: Path, line: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "opcheck", *line],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def written_for(what: str) -> set[str]:
    """The paths that CONTRIBUTING names for an addition, for one that is called ``added``."""
    (row,) = re.findall(rf"^\| {re.escape(what)} \| (.*?) \|", TEXT, re.MULTILINE)
    paths = re.findall(r"`(opcheck/[^`]*)`", row)
    return {path.replace("<name>", "added").replace("<command>", "targets") for path in paths}


@pytest.mark.slow
@pytest.mark.parametrize("what", ADDITIONS)
def test_an_addition_takes_what_is_said(what: str, package: Path) -> None:
    addition = ADDITIONS[what]
    named = written_for(what)
    assert {path.replace("/csv.py", "/added.py") for path in addition.files} == named
    before = run(package, addition.line)
    assert not all(text in before.stdout for text in addition.shows)
    for path, text in addition.files.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        there = (package / path).read_text("utf-8") if (package / path).exists() else ""
        (package / path).write_text(there + text, encoding="utf-8")
    done = run(package, addition.line)
    assert done.returncode == 0, done.stderr
    for text in addition.shows:
        assert text in done.stdout


def test_help_lists_what_was_added(package: Path) -> None:
    for path in ADDITIONS["a command"].files:
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(ADDITIONS["a command"].files[path], encoding="utf-8")
    assert "  added    Greet whoever asks.\n" in run(package, ["--help"]).stdout
    assert "  At length.\n" in run(package, ["added", "--help"]).stdout
