"""Answers on projects made by hand: with what runs, what does not, and what has no answer."""

from msgspec.structs import replace

from opcheck.commands.gate.project.answer import judged_by
from opcheck.commands.gate.project.values import ProjectGate
from opcheck.errors import ExitCode
from opcheck.lang.sentence import Sentence, verbatim
from opcheck.model.policy import Policy
from opcheck.model.project import Candidate, Kind, Lacks, ProjectReport, SourceResult
from opcheck.model.report import Report
from opcheck.model.trace import run_ended
from opcheck.model.verdict import Verdict
from tests.commands.gate.made import finding, report

LACKING = (
    Candidate(
        "model.py:GPT", Kind.CLASS, Sentence("a class of modules"), 8,
        lacks=Lacks.ARGUMENTS, names=("config",), made_as="GPT(GPTConfig())",
    ),
    Candidate(
        "model.py:Other", Kind.CLASS, Sentence("a class of modules"), 30,
        lacks=Lacks.ARGUMENTS, names=("a", "b"),
    ),
    Candidate(
        "model.py:Pair", Kind.CLASS, Sentence("a class of modules"), 50,
        lacks=Lacks.INPUTS, names=("left", "right"),
    ),
    Candidate(
        "my train.py", Kind.SCRIPT, Sentence("a script that trains"),
        lacks=Lacks.ARGUMENTS, names=("--root", "out"), options={"steps": 2},
    ),
)  # fmt: skip
GOOD, BAD = report(), report(finding(), finding("aten::new"))
PARTIAL = report(gaps=(run_ended("train.py:3", "the script failed"),))


def result(name: str, one: Report | None, error: str = "", hint: str = "") -> SourceResult:
    return SourceResult(name, name, one, verbatim(error), verbatim(hint))


def failing(one: Report) -> Report:
    """The report of a target that does not run it."""
    figures = one.targets[0].summary
    calls = {Verdict.NATIVE: 3, Verdict.UNSUPPORTED: 4}
    summary = replace(figures, runs=False, calls=calls, operators=calls)
    return replace(one, targets=(replace(one.targets[0], summary=summary),))


def many(one: Report, count: int) -> Report:
    """The same report on so many targets, the last of which does not run it."""
    bad = failing(one).targets[0]
    targets = [replace(one.targets[0], target=f"ascend-910b@{n}.0+torch2.12") for n in range(count)]
    return replace(one, targets=(*targets[:-1], replace(bad, target=targets[-1].target)))


PROJECTS = {
    "whole": ProjectReport(
        "0.1.0", "project", "project/opcheck.yaml", (result("a.py:good", GOOD),)
    ),
    "mixed": ProjectReport(
        "0.1.0",
        ".",
        "",
        (
            result("a.py:good", GOOD),
            result("b.py:bad", failing(BAD)),
            result("c.py:gone", None, "c.py: no such file", "check the path"),
            result("train.py", PARTIAL, "the script failed"),
        ),
        LACKING,
        (Sentence("{text_file} holds weights alone", text_file="w.pt"),),
    ),
    "many": ProjectReport(
        "0.1.0", ".", "opcheck.yaml", tuple(result(f"m{n}.py:net", many(BAD, 15)) for n in range(9))
    ),
}
POLICY = Policy(path="opcheck.yaml")
PROJECT_GATES: dict[str, ProjectGate] = {
    name: judged_by(found, POLICY) for name, found in PROJECTS.items()
}
CODES = {"whole": ExitCode.PASS, "mixed": ExitCode.GATE, "many": ExitCode.GATE}
