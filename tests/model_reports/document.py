"""``python -m tests.model_reports.document`` writes ``docs/model-reports.md``.

With ``--first`` it keeps what a scan says of new reports as their first answer before.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from opcheck.sandbox.parent.preloaded import loaded_once
from tests.model_reports import (
    collective,
    compiled,
    fifth_collective,
    fifth_compiled,
    fifth_quantised,
    fifth_triton,
    fourth_compiled,
    quantised,
    second_collective,
    second_compiled,
    second_quantised,
    second_triton,
    seventh_collective,
    seventh_compiled,
    seventh_quantised,
    sixth_collective,
    sixth_compiled,
    sixth_quantised,
    sixth_triton,
    third_collective,
    third_compiled,
    third_quantised,
    third_triton,
    triton_kernels,
)
from tests.model_reports.report import Answer, Judged, ModelReport, answers, judged

PATH = Path(__file__).parents[2] / "docs" / "model-reports.md"
FIRST = Path(__file__).parent / "first_answers.json"
Subjects = Mapping[str, tuple[ModelReport, ...]]
SAMPLES: Mapping[str, Subjects] = {
    "first": {
        "quantised checkpoints": quantised.REPORTS,
        "compiled models": compiled.REPORTS,
        "collectives": collective.REPORTS,
        "kernels in Triton": triton_kernels.REPORTS,
    },
    "second": {
        "quantised checkpoints": second_quantised.REPORTS,
        "compiled models": second_compiled.REPORTS,
        "collectives": second_collective.REPORTS,
        "kernels in Triton": second_triton.REPORTS,
    },
    "third": {
        "quantised checkpoints": third_quantised.REPORTS,
        "compiled models": third_compiled.REPORTS,
        "collectives": third_collective.REPORTS,
        "kernels in Triton": third_triton.REPORTS,
    },
    "fourth": {"compiled models": fourth_compiled.REPORTS},
    "fifth": {
        "quantised checkpoints": fifth_quantised.REPORTS,
        "compiled models": fifth_compiled.REPORTS,
        "collectives": fifth_collective.REPORTS,
        "kernels in Triton": fifth_triton.REPORTS,
    },
    "sixth": {
        "quantised checkpoints": sixth_quantised.REPORTS,
        "compiled models": sixth_compiled.REPORTS,
        "collectives": sixth_collective.REPORTS,
        "kernels in Triton": sixth_triton.REPORTS,
    },
    "seventh": {
        "quantised checkpoints": seventh_quantised.REPORTS,
        "compiled models": seventh_compiled.REPORTS,
        "collectives": seventh_collective.REPORTS,
    },
}
"""Each was taken and written down when what the one before had shown was mended."""
_NEWEST = ("sixth", "seventh")
"""Taken together they have of each subject as many as say something."""
EVERY = tuple(
    report for subjects in SAMPLES.values() for reports in subjects.values() for report in reports
)
Answers = Mapping[str, Answer]


def first() -> dict[str, dict[str, Answer]]:
    """What the first scan said: name of a report -> target -> answer."""
    if not FIRST.exists():
        return {}
    return msgspec.json.decode(FIRST.read_bytes(), type=dict[str, dict[str, Answer]])


def answers_now(report: ModelReport) -> Answers:
    """What a scan says of a report now."""
    with tempfile.TemporaryDirectory() as folder:
        return answers(report, Path(folder))


def keep_first() -> None:
    """Note the answers to reports that have none."""
    kept = first()
    for report in EVERY:
        if report.name not in kept:
            kept[report.name] = dict(answers_now(report))
            FIRST.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")


def page(now: Mapping[str, Judged]) -> str:
    """The whole page, with how the answers of now are judged."""
    named = {report.name: report for report in EVERY}
    then = {name: judged(named[name], found) for name, found in first().items()}
    return _PAGE.format(
        counts="\n\n".join(
            _COUNTS.format(sample=sample, first=_counts(of, then), now=_counts(of, now))
            for sample, of in SAMPLES.items()
        ),
        newest=_counts(_together(_NEWEST), then),
        every="\n\n".join(
            _section(sample, subject, reports, then, now)
            for sample, of in SAMPLES.items()
            for subject, reports in of.items()
        ),
    )


def _together(samples: Iterable[str]) -> Subjects:
    """Several samples as one."""
    found: dict[str, tuple[ModelReport, ...]] = {}
    for sample in samples:
        for subject, reports in SAMPLES[sample].items():
            found[subject] = found.get(subject, ()) + reports
    return found


def _counts(subjects: Subjects, found: Mapping[str, Judged]) -> str:
    lines = []
    every = tuple(report for reports in subjects.values() for report in reports)
    for subject, reports in [*subjects.items(), ("all", every)]:
        each = Counter(found[report.name] for report in reports)
        counts = [str(each[how]) for how in Judged]
        share = f"{each[Judged.RIGHT] / len(reports):.0%}"
        lines.append([subject, str(len(reports)), *counts, share])
    return _table(["about", "reports", *Judged, "share right"], lines)


def _section(
    sample: str,
    subject: str,
    reports: Iterable[ModelReport],
    then: Mapping[str, Judged],
    now: Mapping[str, Judged],
) -> str:
    rows = [
        [
            f"{report.told} ([{report.thread}]({_link(report.thread)}))",
            ", ".join(f"`{target}` {met}" for target, met in report.met.items()),
            then[report.name],
            now[report.name],
        ]
        for report in reports
    ]
    head = ["report", "users met", "judged first", "now"]
    return f"## {subject[0].upper()}{subject[1:]}, {sample} sample\n\n{_table(head, rows)}"


def _link(thread: str) -> str:
    project, _, number = thread.partition("#")
    return f"https://github.com/{project}/issues/{number}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


_PAGE = """# Reports about whole models, as a blind measure

Written by `python -m tests.model_reports.document`; do not edit. Threads in which users tell what
became of a quantised or compiled model, of what several processes send to each other, or of a
kernel written in Triton, taken in the order in which searches gave them. What users met was written
down as a small model before anything scanned it, and so was the rule that judges an answer
(`tests/model_reports/report.py`).

*right*: the scan says that it does not run, by what users name; or that it runs, where it did.
*partly*: *cannot tell* with the reason, or another reason. *missed*: that it runs. *false alarm*:
that it does not, where users saw it run.

The second sample was taken in November 2026, when most of what the first had shown was mended, and
the third when most of the second was: their first answers tell what a scan says of models that
nobody looked at before. The fourth is of compiled models alone, after the third had shown that a
scan told nothing of them; the fifth is of all four subjects again, and so is the sixth, which was
taken when what compilers of Triton and chips ask of kernels had been read. The seventh, of all
but kernels, brings what was first tried of each subject to the numbers that say something. Four
programs of the fifth said at first what their threads did not, and are counted as they were
answered then.

{counts}

## The sixth and the seventh sample together, when first tried

{newest}

{every}
"""
_COUNTS = """## The {sample} sample, when first tried

{first}

## The {sample} sample, now

{now}"""


def main() -> None:
    """Write the page."""
    with loaded_once():
        if "--first" in sys.argv[1:]:
            keep_first()
        now = {report.name: judged(report, answers_now(report)) for report in EVERY}
    PATH.write_text(page(now), encoding="utf-8")


if __name__ == "__main__":
    main()
